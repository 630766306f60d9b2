// What types state of themselves, whatever the flags say.
#include <optional>
#include <string>
#include <vector>

#include "compiler/import/onnx_types.h"
#include "compiler/support/refusal.h"
#include "compiler/support/shell.h"
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

std::string DimsHint(const pb::TensorShapeProto& shape) {
  const auto text = [](const Dimension& dim) {
    if (const std::optional<int64_t> number = NumberOf(dim)) return StrCat(*number);
    return DimText(dim).empty() ? std::string("?") : DisplayName(DimText(dim));
  };
  return StrCat("its dims are [", StrJoin(shape.dim(), ", ", text), "]");
}

void ReportUnbound(const SymbolTable& symbols, const std::string& command,
                   Diagnostics& diagnostics) {
  std::vector<std::string> names, flags;
  for (const std::string& name : symbols.Unbound()) {
    names.push_back(StrCat("'", DisplayName(name), "'"));
    flags.push_back(StrCat("--dim ", ShellWord(StrCat(DisplayName(name), "=1..8"))));
  }
  if (names.empty()) return;
  const bool several = names.size() > 1;
  diagnostics.Error({},
                    AOTC_REFUSAL(InvalidArgument, StrCat(several ? "dims " : "dim ",
                                                         StrJoin(names, ", "), " of the inputs ",
                                                         several ? "have" : "has", " no maximum")),
                    StrCat("give ranges that fit, or pin them (=1): ", command,
                           command.empty() ? "" : " ", StrJoin(flags, " ")));
}

ValueType DeclaredType(const pb::ValueInfoProto& info, const SymbolTable& symbols) {
  if (!info.has_type() || !info.type().has_tensor_type()) return UnknownType();
  return DeclaredTensor(info.type().tensor_type(), symbols);
}

}  // namespace aotc
