// What types state of themselves, whatever the flags say.
#include <optional>

#include "compiler/import/onnx_types.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Dimension = pb::TensorShapeProto::Dimension;

ValueType DeclaredTensor(const pb::TypeProto::Tensor& tensor, const SymbolTable& symbols) {
  ValueType type = UnknownType();
  if (!IsKnownDType(tensor.elem_type())) return type;
  type.dtype = static_cast<DType>(tensor.elem_type());
  if (!tensor.has_shape()) return type;
  for (const Dimension& dim : tensor.shape().dim()) {
    std::optional<Expr> value;
    if (std::optional<int64_t> number = NumberOf(dim)) value = Expr(*number);
    if (!DimText(dim).empty()) value = symbols.ExistingDim(DimText(dim));
    if (!value) return {.dtype = type.dtype, .ranked = false};
    type.dims.push_back(*value);
  }
  type.ranked = true;
  return type;
}

}  // namespace

std::optional<int64_t> NumberOf(const pb::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return dim.dim_value();
  return std::nullopt;
}

std::string DimText(const Dimension& dim) {
  const std::string& text = dim.dim_param();
  return text == "-1" || text == "?" ? "" : text;
}

void ReportUnbound(const SymbolTable& symbols, Diagnostics& diagnostics) {
  for (const std::string& name : symbols.Unbound()) {
    std::string shown = DisplayName(name);
    diagnostics.Error(
        {}, AOTC_REFUSAL(InvalidArgument, StrCat("dim '", shown, "' of the inputs has no maximum")),
        StrCat("give its range, such as --dim ", shown, "=1..8, or pin it: --dim ", shown, "=1"));
  }
}

ValueType DeclaredType(const pb::ValueInfoProto& info, const SymbolTable& symbols) {
  if (!info.has_type() || !info.type().has_tensor_type()) return UnknownType();
  return DeclaredTensor(info.type().tensor_type(), symbols);
}

}  // namespace aotc
