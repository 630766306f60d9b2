// One kernel with the stages of two: tensors of the same value become one.
//
//   Joiner joiner(producer, /*kept=*/{});
//   joiner.Add(producer);
//   joiner.Add(consumer);
//   FusedKernel both = joiner.Finish("producer_consumer");
#ifndef AOTC_COMPILER_FUSE_JOINER_H_
#define AOTC_COMPILER_FUSE_JOINER_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/fuse/fuse.h"

namespace aotc {

// Builds one kernel from two; params of equal value are joined.
class Joiner {
 public:
  // Results of `producer` but for those of `kept` become temps.
  Joiner(const FusedKernel& producer, const std::set<ValueId>& kept);

  // Adds tensors and stages.
  void Add(const FusedKernel& part);

  Kernel& kernel() { return kernel_; }
  TensorId TensorOf(ValueId value) const { return by_value_.at(value); }

  // The kernel, without what no output needs: inputs first, then outputs.
  FusedKernel Finish(std::string name);

 private:
  TensorId AddTensor(KernelTensor tensor, ValueId value);
  void AddSymbol(const Symbol& symbol);

  std::set<ValueId> internal_;
  Kernel kernel_;
  std::set<std::string> names_;
  std::map<ValueId, TensorId> by_value_;
  std::vector<std::pair<ValueId, TensorId>> order_;
};

// Drops tensors and stages that no output needs; renumbers.
Kernel Compact(const Kernel& kernel, std::vector<ValueId>& args);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_JOINER_H_
