// The makers of single output files. Each gives unformatted text; EmitOutput lays it out.
#ifndef AOTC_COMPILER_EMIT_PARTS_H_
#define AOTC_COMPILER_EMIT_PARTS_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/emit/interface.h"
#include "compiler/emit/output.h"
#include "compiler/ir/bundle.h"

namespace aotc {

// What the text of the host program has used so far, noted where it is written.
struct HostUses {
  bool inputs = false, outputs = false, dims = false;  // "in", "out", "dims"
  bool arena = false, pools = false, weights = false;
  bool functions = false;  // such as aotc_min, of scalar_math.h
};

// What all makers see.
struct EmitContext {
  const Program& program;
  const EmitOptions& options;
  const ModelInterface& interface;
  const std::vector<Bundle>& bundles;
  uint64_t weights_hash = 0;
  HostUses& uses;

  bool HasThreads() const { return program.max_workers > 1; }
  bool HasWeights() const { return !program.weights.empty(); }
  bool LinksWeights() const { return HasWeights() && options.weights != WeightsForm::kFile; }
  bool LoadsWeights() const { return HasWeights() && options.weights == WeightsForm::kFile; }
};

// NAME.h
std::string EmitHeader(const EmitContext& context);

// The blob: header and data.
std::string WeightsBlob(const Program& program, uint64_t hash);
uint64_t WeightsHash(const std::vector<uint8_t>& data);
// NAME_weights.S
std::string EmitWeightsAssembly(const EmitContext& context);
// NAME_weights.cpp
std::string EmitWeightsArray(const EmitContext& context, const std::string& blob);

// CMakeLists.txt; `sources` are the paths of what is compiled, `headers` of what users include with
// the public header.
std::string EmitBuildFile(const EmitContext& context, const std::vector<std::string>& sources,
                          const std::vector<std::string>& headers);
// metadata.json, which lists itself beside `files`, and of each the hash; its own is that of its
// text with an empty one.
std::string EmitMetadata(const EmitContext& context, const OutputFiles& files);
// example/main.cpp
std::string EmitExample(const EmitContext& context);

// NAME.py, and whether it can be: of inputs and outputs that are tensors of types that numpy has.
std::string EmitPython(const EmitContext& context);
bool HasNumpyTypes(const EmitContext& context);

// The headers of runtime-lite and templates that `texts` include, those they include in turn, and
// so on: contents by path in the output folder ("aotc/model.h"). Error: one that does not exist.
absl::StatusOr<OutputFiles> CollectHeaders(const OutputFiles& texts);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_PARTS_H_
