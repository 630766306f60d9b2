// The parts of GraphImporter that know of strings: constants, inputs and outputs of the model.
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/support/strings.h"

namespace aotc {

ValueId GraphImporter::AddConstant(std::string_view name, Constant constant) {
  if (constant.dtype() != DType::kString) return graph_.AddConstant(name, std::move(constant));
  const ValueId handle = graph_.AddValue(name, UnknownType());
  strings_.Define(handle, AddStringConstant(graph_, name, constant));
  return handle;
}

void GraphImporter::ImportStringInput(ValueId handle, const std::string& name,
                                      const ValueType& type) {
  const StringParts parts = AddStringValues(graph_, DisplayName(name));
  const std::string bytes = StrCat(name, ":bytes");
  if (absl::Status status = symbols_.Bind(bytes, {1, options_.max_string_bytes, 1}); !status.ok()) {
    diagnostics_.AddStatus(status);
  }
  graph_.values[parts.starts].type = TensorType(DType::kI64, type.dims);
  graph_.values[parts.sizes].type = TensorType(DType::kI64, type.dims);
  graph_.values[parts.pool].type = TensorType(DType::kU8, {symbols_.Symbol(bytes)});
  std::vector<ValueId>& inputs = graph_.main_region().inputs;
  bundles_.push_back(
      {.name = DisplayName(name), .kind = BundleKind::kStrings, .first = inputs.size()});
  for (ValueId part : parts.all()) inputs.push_back(part);
  strings_.Define(handle, parts);
}

void GraphImporter::ImportStringOutput(ValueId handle, const pb::ValueInfoProto& output,
                                       std::set<ValueId>& taken) {
  const StringParts& parts = *strings_.Find(handle);
  const std::string name = DisplayName(output.name());
  bundles_.push_back({.name = name,
                      .kind = BundleKind::kStrings,
                      .is_output = true,
                      .first = graph_.main_region().outputs.size()});
  ValueType declared = DeclaredType(output, symbols_);
  if (declared.dtype == DType::kString) declared.dtype = DType::kI64;
  for (const auto& [part, suffix] : {std::pair(parts.starts, "starts"), {parts.sizes, "sizes"}}) {
    const ValueId added = AddMainOutput(part, StrCat(name, ".", suffix), taken);
    if (added == part) graph_.values[added].type = declared;
  }
  AddMainOutput(parts.pool, name + ".pool", taken);
}

}  // namespace aotc
