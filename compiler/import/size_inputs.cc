#include "compiler/import/size_inputs.h"

#include "compiler/import/onnx_types.h"
#include "compiler/ir/shape.h"

namespace aotc {
namespace {

// Row-major; none where the input states no sizes.
std::vector<std::string> ElementNames(const pb::ValueInfoProto& input) {
  constexpr int64_t kMost = 64;  // as of shape operands (canonicalize/known_elements.h)
  const pb::TypeProto::Tensor& tensor = input.type().tensor_type();
  const bool is_integer =
      tensor.elem_type() == pb::TensorProto::INT64 || tensor.elem_type() == pb::TensorProto::INT32;
  if (!is_integer || !tensor.has_shape()) return {};
  int64_t count = 1;
  for (const auto& dim : tensor.shape().dim()) {
    const std::optional<int64_t> number = NumberOf(dim);
    if (!number || *number > kMost) return {};
    count *= *number;
    if (count > kMost) return {};
  }
  const auto rank = static_cast<size_t>(tensor.shape().dim_size());
  std::vector<std::string> names;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    names.push_back(ElementName(input.name(), rank, i));
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
