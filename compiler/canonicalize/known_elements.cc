#include "compiler/canonicalize/known_elements.h"

#include <algorithm>
#include <utility>

#include "compiler/eval/evaluate.h"

namespace aotc {
namespace {

bool IsSmall(const ValueType& type) {
  std::optional<std::vector<int64_t>> dims = StaticDims(type.dims);
  if (!dims || type.kind != ValueKind::kTensor || type.dtype == DType::kString) return false;
  return AreFewElements(*dims);
}

std::vector<Expr> ElementsOf(const Constant& constant) {
  std::vector<Expr> elements;
  for (int64_t i = 0; i < constant.element_count(); ++i) {
    if (IsFloat(constant.dtype())) {
      elements.push_back(FloatConst(constant.FloatAt(i), constant.dtype()));
    } else if (constant.dtype() == DType::kBool) {
      elements.push_back(Bool(constant.IntAt(i) != 0));
    } else {
      elements.push_back(Expr(constant.IntAt(i)));
    }
  }
  return elements;
}

// Whether every element is one that is worth knowing: a size that no one could read is not.
bool AreShort(const std::vector<Expr>& elements) {
  return std::ranges::all_of(elements,
                             [](const Expr& element) { return TermCount(element) <= kMostTerms; });
}

}  // namespace

std::optional<std::vector<Expr>> KnownElements::Find(const Graph& graph, ValueId id) const {
  const Value& value = graph.values[id];
  if (!IsSmall(value.type)) return std::nullopt;
  if (value.constant) return ElementsOf(*value.constant);
  if (value.elements) return value.elements;
  auto step = steps_.find(id);
  return step == steps_.end() ? std::nullopt : std::optional(step->second);
}

bool KnownElements::Infer(Graph& graph, const NodeKernel& kernel) {
  for (ValueId output : kernel.outputs) {
    if (!IsSmall(graph.values[output].type)) return false;
  }
  std::vector<std::vector<Expr>> inputs;
  for (ValueId input : kernel.inputs) {
    std::optional<std::vector<Expr>> elements = Find(graph, input);
    if (!elements) return false;
    inputs.push_back(*std::move(elements));
  }
  auto outputs = EvaluateSymbolically(kernel.kernel, inputs, BoundsOf(graph.symbols));
  if (!outputs.ok() || !std::ranges::all_of(*outputs, AreShort)) return false;
  bool complete = true;
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    Value& value = graph.values[kernel.outputs[i]];
    if (HoldsShape(value.type.dtype)) {
      value.elements = std::move((*outputs)[i]);
    } else {
      steps_[kernel.outputs[i]] = std::move((*outputs)[i]);
      complete = false;
    }
  }
  return complete;
}

std::optional<Constant> NumbersOf(const Value& value) {
  std::optional<std::vector<int64_t>> dims = StaticDims(value.type.dims);
  if (!dims || !value.elements) return std::nullopt;
  std::vector<uint8_t> bytes(static_cast<size_t>(
      StorageBytes(value.type.dtype, static_cast<int64_t>(value.elements->size()))));
  int64_t index = 0;
  for (const Expr& element : *value.elements) {
    std::optional<int64_t> number = element.AsInt();
    if (!number) return std::nullopt;
    StoreIntElement(value.type.dtype, bytes.data(), index++, *number);
  }
  return Constant::Dense(value.type.dtype, *dims, std::move(bytes));
}

}  // namespace aotc
