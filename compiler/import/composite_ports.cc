// The parts of GraphImporter that know of inputs and outputs of the model which are several of the
// graph (ir/bundle.h), and of constants that are.
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/import/sequence_ops.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

ValueType PartType(const CompositeInput& input, size_t part) {
  const Expr room = input.room;
  switch (part) {
    case kElementsPart: {
      Shape dims = {room};
      for (const int64_t most : input.most) dims.push_back(most);
      return TensorType(input.dtype, dims);
    }
    case kDimsPart: {
      const auto rank = static_cast<int64_t>(input.most.size());
      return TensorType(DType::kI64, {room, Expr(input.varies ? rank : 0)});
    }
    case kLengthPart: return TensorType(DType::kI64, {});
    default: return TensorType(DType::kBool, {});
  }
}

}  // namespace

ValueId GraphImporter::AddConstant(std::string_view name, Constant constant) {
  if (constant.dtype() != DType::kString) return graph_.AddConstant(name, std::move(constant));
  const ValueId handle = graph_.AddValue(name, UnknownType());
  composites_.Define(handle, AddStringConstant(graph_, name, constant));
  return handle;
}

Expr GraphImporter::PartSymbol(const std::string& name, int64_t least, int64_t most) {
  if (absl::Status status = symbols_.Bind(name, {least, most, 1}); !status.ok()) {
    diagnostics_.AddStatus(status);
  }
  return symbols_.Symbol(name);
}

// The entries are a dim, which a run states, and so are the bytes of strings among them.
void GraphImporter::TypeMapParts(const std::string& name, const CompositeInput& input,
                                 const Composite& composite) {
  const MapForm form = *MapFormOf(input.kind);
  const Expr entries = PartSymbol(name + ".length", 0, input.room);
  for (size_t part = 0; part < composite.parts.size(); ++part) {
    const bool is_number = part >= form.first_value() && !form.has_string_values;
    graph_.values[composite.parts[part]].type =
        TensorType(is_number ? input.dtype : DType::kI64, {entries});
  }
  if (const std::optional<size_t> pool = PoolPartOf(input.kind)) {
    const Expr bytes = PartSymbol(name + ".bytes", 1, options_.max_string_bytes);
    graph_.values[composite.parts[*pool]].type = TensorType(DType::kU8, {bytes});
  }
}

void GraphImporter::ImportCompositeInput(const std::string& name, const CompositeInput& input,
                                         ValueId handle) {
  std::vector<ValueId>& inputs = graph_.main_region().inputs;
  bundles_.push_back({.name = DisplayName(name), .kind = input.kind, .first = inputs.size()});
  AddParts(handle, input.kind, inputs);
  const Composite& composite = *composites_.Find(handle);
  if (MapFormOf(input.kind)) return TypeMapParts(name, input, composite);
  for (size_t part = 0; part < composite.parts.size(); ++part) {
    graph_.values[composite.parts[part]].type = PartType(input, part);
  }
  graph_.values[composite.length()].elements = {PartSymbol(name + ".length", 0, input.room)};
}

void GraphImporter::ImportStringInput(const std::string& name, const ValueType& type,
                                      ValueId handle) {
  std::vector<ValueId>& inputs = graph_.main_region().inputs;
  bundles_.push_back(
      {.name = DisplayName(name), .kind = BundleKind::kStrings, .first = inputs.size()});
  AddParts(handle, BundleKind::kStrings, inputs);
  const Composite& strings = *composites_.Find(handle);
  const Expr bytes = PartSymbol(name + ".bytes", 1, options_.max_string_bytes);
  for (const ValueId part : {strings.starts(), strings.sizes()}) {
    graph_.values[part].type = type;
    graph_.values[part].type.dtype = DType::kI64;
  }
  graph_.values[strings.pool()].type = TensorType(DType::kU8, {bytes});
}

absl::Status GraphImporter::ImportCompositeOutput(const pb::ValueInfoProto& output,
                                                  const Composite& composite,
                                                  std::set<ValueId>& taken) {
  const std::string name = DisplayName(output.name());
  AOTC_ASSIGN_OR_RETURN(const std::optional<CompositeType> type, CompositeTypeOf(output.type()));
  const BundleKind kind = type ? type->kind : composite.kind;
  CompositeBuilder builder(graph_, graph_.main, name, {.node = name, .op = "Identity"});
  AOTC_ASSIGN_OR_RETURN(const Composite result, builder.As(kind, composite));
  bundles_.push_back({.name = name,
                      .kind = kind,
                      .is_output = true,
                      .first = graph_.main_region().outputs.size()});
  ValueType declared = DeclaredType(output, symbols_);
  if (declared.dtype == DType::kString) declared.dtype = DType::kI64;
  for (size_t p = 0; p < result.parts.size(); ++p) {
    const ValueId part = result.parts[p];
    const ValueId added = AddMainOutput(part, StrCat(name, ".", PartNames(kind)[p]), taken);
    const bool has_dims = kind == BundleKind::kStrings && p != kPoolPart;  // of the whole
    if (has_dims && added == part) graph_.values[added].type = declared;
  }
  return absl::OkStatus();
}

}  // namespace aotc
