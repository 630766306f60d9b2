#include "compiler/import/size_inputs.h"

#include <functional>
#include <numeric>

#include "compiler/import/onnx_types.h"
#include "compiler/ir/shape.h"

namespace aotc {
namespace {

// Row-major; none where the input states no sizes.
std::vector<std::string> ElementNames(const pb::ValueInfoProto& input) {
  const pb::TypeProto::Tensor& tensor = input.type().tensor_type();
  const bool is_typed = tensor.has_shape() && IsKnownDType(tensor.elem_type());
  if (!is_typed || !HoldsShape(static_cast<DType>(tensor.elem_type()))) return {};
  std::vector<int64_t> dims;
  for (const auto& dim : tensor.shape().dim()) {
    const std::optional<int64_t> number = NumberOf(dim);
    if (!number) return {};
    dims.push_back(*number);
  }
  if (!AreFewElements(dims)) return {};
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  std::vector<std::string> names;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    names.push_back(ElementName(input.name(), dims.size(), i));
  }
  return names;
}

}  // namespace

void SizeInputs::Add(const pb::ValueInfoProto& input) {
  for (const std::string& name : ElementNames(input)) inputs_.emplace(name, &input);
}

bool SizeInputs::Use(const std::string& element) {
  const auto found = inputs_.find(element);
  if (found == inputs_.end()) return false;
  used_.insert(found->second);
  return true;
}

std::optional<std::vector<Expr>> SizeInputs::ElementsOf(const pb::ValueInfoProto& input,
                                                        SymbolTable& symbols) const {
  if (!used_.contains(&input)) return std::nullopt;
  std::vector<Expr> elements;
  for (const std::string& name : ElementNames(input)) elements.push_back(symbols.Symbol(name));
  return elements;
}

std::vector<std::string> SizeInputs::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, input] : inputs_) names.push_back(name);
  return names;
}

}  // namespace aotc
