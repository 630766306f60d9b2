#include "compiler/canonicalize/declared_type.h"

#include <utility>

#include "compiler/ir/graph_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool Contradicts(const ValueType& declared, const ValueType& inferred) {
  if (declared.dtype != DType::kUndefined && declared.dtype != inferred.dtype) return true;
  if (!declared.ranked) return false;
  if (declared.dims.size() != inferred.dims.size()) return true;
  for (size_t i = 0; i < declared.dims.size(); ++i) {
    std::optional<int64_t> a = declared.dims[i].AsInt(), b = inferred.dims[i].AsInt();
    if (a && b && *a != *b) return true;
  }
  return false;
}

}  // namespace

void ReplaceDeclaredType(Value& value, ValueType inferred, Diagnostics& diagnostics) {
  if (value.type.kind == ValueKind::kTensor && Contradicts(value.type, inferred)) {
    diagnostics.Warning({}, StrCat("'", value.name, "' is declared as ", PrintType(value.type),
                                   " but is ", PrintType(inferred)));
  }
  value.type = std::move(inferred);
}

}  // namespace aotc
