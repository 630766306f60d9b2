// Outputs of the graph that grow in the memory of inputs: what is new lies behind the input, where
// the kernel that makes it writes it.
//
//   GrownOutputs grown(graph, region, aliases, places);
//   *grown.Place(concat, decisions)    // true: no kernel, its operands are boxes in one root
//   grown.IsWritten(k_2)               // no view of what another kernel makes
#ifndef AOTC_COMPILER_FUSE_GROWN_OUTPUTS_H_
#define AOTC_COMPILER_FUSE_GROWN_OUTPUTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/fuse/places.h"

namespace aotc {

class GrownOutputs {
 public:
  // The aliases are those of the main region: any other has none.
  GrownOutputs(const Graph& graph, const Region& region, const std::vector<Alias>& aliases,
               Places& places);

  // Lets the operands of a Concat lie where its result, a grown output, does. False: it is none, or
  // nothing but what is new. Error: they cannot lie there.
  absl::StatusOr<bool> Place(const FusedKernel& fused, std::vector<std::string>& decisions);

  // Whether a kernel has to write the value where it belongs.
  bool IsWritten(ValueId value) const { return written_.contains(value); }
  std::vector<ValueId> Inputs() const;

 private:
  const Graph& graph_;
  Places& places_;
  std::map<ValueId, Alias> aliases_;  // by the output
  std::set<ValueId> written_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_GROWN_OUTPUTS_H_
