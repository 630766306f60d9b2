// From logical indices to flat offsets: what layouts and strides mean for loads and stores.
//
//   Access access(kernel);
//   access.Offset(tensor, {n, c, h, w}, bounds);   // n*50176 + floor_div(c, 16)*... + mod(c, 16)
//   access.Flatten(body, bounds);                  // every load of `body` with one flat index
#ifndef AOTC_COMPILER_IR_ACCESS_H_
#define AOTC_COMPILER_IR_ACCESS_H_

#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

class Access {
 public:
  explicit Access(const Kernel& kernel) : kernel_(kernel) {}

  // Offset in elements of a logical element of `tensor`, simplified. Indices may reach into the
  // halo.
  Expr Offset(TensorId tensor, const std::vector<Expr>& indices, const Bounds& bounds) const;
  // Whether the element is proved to lie in storage.
  bool InStorage(TensorId tensor, const std::vector<Expr>& indices, const Bounds& bounds) const;
  // `e` with every load flat; those of temps keep their indices, with flat loads in them. A load
  // that is not proved to lie in storage is marked as guarded. A select that only guards against
  // indices which lie in a halo of the right fill is dropped: the halo answers.
  Expr Flatten(const Expr& e, const Bounds& bounds) const;

 private:
  Expr DropHaloGuard(const Expr& select, const Bounds& bounds) const;
  const Kernel& kernel_;
};

// The strides of a tensor's storage axes, in elements.
std::vector<Expr> StorageStrides(const KernelTensor& tensor);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_ACCESS_H_
