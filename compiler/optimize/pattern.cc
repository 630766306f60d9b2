#include "compiler/optimize/pattern.h"

#include <algorithm>
#include <cmath>

namespace aotc {
namespace {

constexpr int kDeepest = 16;  // of a tree of products

void AddFactors(const RewriteSite& site, ValueId value, int depth, Product& product) {
  if (std::optional<double> number = NumberOf(site, value)) {
    product.number *= *number;
    return;
  }
  const Node* node = site.ProducerBefore(value);
  const bool inner = depth == 0 || site.ReadersBefore(value) == 1;
  if (node != nullptr && inner && depth < kDeepest && node->op == "Mul") {
    for (ValueId input : node->inputs) AddFactors(site, input, depth + 1, product);
    return;
  }
  if (node != nullptr && inner && depth < kDeepest && node->op == "Div") {
    if (std::optional<double> divisor = NumberOf(site, node->inputs[1])) {
      product.number /= *divisor;
      return AddFactors(site, node->inputs[0], depth + 1, product);
    }
  }
  product.factors.push_back(value);
}

}  // namespace

const Node* DefinedBy(const RewriteSite& site, ValueId value, std::string_view op) {
  const Node* node = site.ProducerBefore(value);
  return node != nullptr && node->op == op ? node : nullptr;
}

const Node* OnlyReadBy(const RewriteSite& site, ValueId value, std::string_view op) {
  return value.valid() && site.ReadersBefore(value) == 1 ? DefinedBy(site, value, op) : nullptr;
}

std::optional<double> NumberOf(const RewriteSite& site, ValueId value) {
  if (!value.valid() || !site.before().values[value].constant) return std::nullopt;
  const Constant& constant = *site.before().values[value].constant;
  if (!IsFloat(constant.dtype()) || constant.element_count() == 0) return std::nullopt;
  if (!constant.UniformElement()) return std::nullopt;
  return constant.FloatAt(0);
}

bool IsNear(const RewriteSite& site, double a, double b) {
  const double rounding = site.type().dtype == DType::kF64 ? 1e-15 : 1e-6;
  return std::abs(a - b) <= rounding * std::abs(b);
}

bool FitsAttribute(const RewriteSite& site, double number) {
  return site.type().dtype != DType::kF64 || static_cast<float>(number) == number;
}

std::optional<NumberAndRest> SplitNumber(const RewriteSite& site, const Node& binary) {
  for (size_t side : {0, 1}) {
    std::optional<double> number = NumberOf(site, binary.inputs[side]);
    if (number) return NumberAndRest{.number = *number, .rest = binary.inputs[1 - side]};
  }
  return std::nullopt;
}

Product ProductOf(const RewriteSite& site, ValueId value) {
  Product product;
  AddFactors(site, value, 0, product);
  return product;
}

int CountOf(const Product& product, ValueId factor) {
  return static_cast<int>(std::ranges::count(product.factors, factor));
}

}  // namespace aotc
