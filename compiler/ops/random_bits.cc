#include "compiler/ops/random_bits.h"

#include <cmath>
#include <utility>
#include <vector>

namespace aotc {
namespace {

// Of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr uint64_t kStep = 0x9e3779b97f4a7c15, kFirst = 0xbf58476d1ce4e5b9,
                   kSecond = 0x94d049bb133111eb;
constexpr int kWidth = 64;

// Its rounds, each over the result of the one before: (z ^ (z >> shift)) * factor.
struct MixStep {
  uint64_t shift, factor;
};
constexpr MixStep kSteps[] = {{30, kFirst}, {27, kSecond}, {31, 1}};

uint64_t Mixed(uint64_t z) {
  for (const MixStep& step : kSteps) z = (z ^ (z >> step.shift)) * step.factor;
  return z;
}

Expr Word(uint64_t value) { return IntConst(static_cast<int64_t>(value), DType::kU64); }

Expr XorShifted(const Expr& z, uint64_t count) {
  return Binary(ExprOp::kBitXor, z, Binary(ExprOp::kShiftRight, z, Word(count)));
}

Expr Mixed(const Expr& z, const MixStep& step) {
  const Expr shifted = XorShifted(z, step.shift);
  return step.factor == 1 ? shifted : shifted * Word(step.factor);
}

Expr Mixed(Expr z) {
  for (const MixStep& step : kSteps) z = Mixed(z, step);
  return z;
}

// In stages, as each step reads the one before it twice.
Tensor MixedInStages(TensorBuilder& b, const Shape& shape, const TensorBuilder::Body& first) {
  Tensor z = b.Compute(DType::kU64, shape, first);
  for (const MixStep& step : kSteps) {
    const Tensor before = z;
    z = b.Compute(DType::kU64, shape, [&](const Indices& i) { return Mixed(before(i), step); });
  }
  return z;
}

int MantissaBits(DType type) { return type == DType::kF64 ? 53 : 24; }

Expr HighBits(const Expr& bits, DType type, int count) {
  const Expr shift = Word(static_cast<uint64_t>(kWidth - count));
  // Below 2^53, where a signed integer becomes a float at less cost.
  return Cast(type, Cast(DType::kI64, Binary(ExprOp::kShiftRight, bits, shift)));
}

}  // namespace

RandomStream::RandomStream(int64_t number, Expr key)
    : start_(Mixed(static_cast<uint64_t>(number) + kStep)), key_(std::move(key)) {}

RandomStream RandomStream::Other(uint64_t which) const {
  RandomStream other = *this;
  other.start_ = Mixed(start_ ^ (which * kStep));
  return other;
}

Expr RandomStream::First(const Expr& position) const {
  const Expr start = key_.valid() ? Binary(ExprOp::kBitXor, Word(start_), key_) : Word(start_);
  return Cast(DType::kU64, position) * Word(kStep) + start;
}

Expr RandomStream::BitsAt(const Expr& position) const { return Mixed(First(position)); }

Tensor RandomStream::Bits(TensorBuilder& b, const Shape& shape) const {
  return MixedInStages(
      b, shape, [&](const Indices& i) { return First(LinearIndex(i, RowMajorStrides(shape))); });
}

Expr UniformOf(const Expr& bits, DType type) {
  const int count = MantissaBits(type);
  return HighBits(bits, type, count) * FloatConst(std::ldexp(1.0, -count), type);
}

Expr InnerUniformOf(const Expr& bits, DType type) {
  const int count = MantissaBits(type) - 1;
  return (HighBits(bits, type, count) + FloatConst(0.5, type)) *
         FloatConst(std::ldexp(1.0, -count), type);
}

Tensor MixedKey(TensorBuilder& b, const Expr& key, const Expr& number) {
  const Tensor within = MixedInStages(b, {}, [&](const Indices&) {
    return Cast(DType::kU64, number) * Word(kStep) + Word(kFirst);
  });
  if (!key.valid()) return within;
  return MixedInStages(b, {}, [&](const Indices&) {
    return Binary(ExprOp::kBitXor, key * Word(kStep), within({}));
  });
}

void DrawByNumber(Graph& graph, RegionId region, ValueId number) {
  const std::vector<NodeId> nodes = std::exchange(graph.regions[region].nodes, {});
  for (const NodeId id : nodes) {
    const auto within = graph.nodes[id].regions;  // a copy, as nodes are added
    for (const auto& [name, nested] : within) DrawByNumber(graph, nested, number);
    if (graph.nodes[id].attributes.Has(kStreamAttribute)) {
      const ValueId key = graph.AddValue("random_key", TensorType(DType::kU64, {}));
      Node& node = graph.nodes[id];
      const bool has_key = node.attributes.Has(kKeyedAttribute);
      const ValueId outer = has_key ? node.inputs.back() : ValueId();
      if (has_key) node.inputs.pop_back();
      node.inputs.push_back(key);
      node.attributes.Set(kKeyedAttribute, int64_t{1});
      graph.AddNode(region, {.op = "RandomKey",
                             .inputs = {outer, number},
                             .outputs = {key},
                             .locations = graph.nodes[id].locations});
    }
    graph.regions[region].nodes.push_back(id);
  }
}

}  // namespace aotc
