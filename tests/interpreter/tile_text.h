// What the Kernel text of a tile function computes, on operands that were read whole.
//
//   const TileText text(KernelOfTile(row));
//   const SymbolValues symbols = {{"rows", 14}, {"vectors", 2}, {"lanes", 16}, {"s0", 512}};
//   std::vector<Lane> y = *text.Compute({a, b}, symbols);     // row-major, as %y has extents
#ifndef AOTC_TESTS_INTERPRETER_TILE_TEXT_H_
#define AOTC_TESTS_INTERPRETER_TILE_TEXT_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel.h"
#include "tests/interpreter/frame.h"

namespace aotc {

class TileText {
 public:
  explicit TileText(Kernel kernel);

  const Kernel& kernel() const { return kernel_; }
  const KernelTensor& operand(size_t i) const { return kernel_.tensors[kernel_.params[i]]; }
  // The last operand is the one result.
  size_t inputs() const { return kernel_.params.size() - 1; }

  // Error: a symbol is not in the range that the text gives it.
  absl::StatusOr<std::vector<int64_t>> DimsOf(size_t operand, const SymbolValues& symbols) const;
  absl::Status CheckSymbols(const SymbolValues& symbols) const;

  // `inputs` row-major, of the text's types.
  absl::StatusOr<std::vector<Lane>> Compute(const std::vector<std::vector<Lane>>& inputs,
                                            const SymbolValues& symbols) const;

 private:
  // A sum of products of two inputs whose indices are axes: what most texts say, and what a walk
  // over an expression for each element would take too long for.
  struct Product {
    size_t inputs[2] = {};
    std::vector<size_t> axes[2] = {};  // numbers of the axes (the result's, then those summed over)
  };
  std::optional<Product> ProductOf(const Stage& stage) const;
  std::vector<Lane> Multiply(const std::vector<std::vector<Lane>>& inputs,
                             const SymbolValues& symbols) const;
  template <class T>
  std::vector<Lane> MultiplyAs(T Lane::* member, const std::vector<std::vector<Lane>>& inputs,
                               const SymbolValues& symbols) const;
  absl::StatusOr<std::vector<Lane>> Evaluate(const std::vector<std::vector<Lane>>& inputs,
                                             const SymbolValues& symbols) const;

  Kernel kernel_;
  std::optional<Product> product_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_TILE_TEXT_H_
