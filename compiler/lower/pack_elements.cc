#include "compiler/lower/pack_elements.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int kByteBits = 8;

// The bits of an element in the low ones of a byte, and back.
Expr CodeOf(const Expr& element) {
  return Cast(DType::kU8, BitCast(UnsignedOfWidth(element.dtype()), element));
}
Expr ElementOfCode(DType dtype, const Expr& code) {
  return BitCast(dtype, Cast(UnsignedOfWidth(dtype), code));
}

bool IsComputed(const Kernel& kernel, TensorId id) {
  return IsDefined(kernel, id) && IsSubByte(kernel.tensors[id].dtype);
}

absl::Status NotWritten(const Kernel& kernel, const KernelTensor& tensor, std::string_view why) {
  return AOTC_REFUSAL(Unimplemented,
                      StrCat("node ", StrJoin(kernel.sources, " + "), ": '", tensor.name,
                             "' has elements of type ", DTypeName(tensor.dtype), ", ", why,
                             "; hint: cast to a type of 8 bits in front of it"));
}

// The bodies of pointwise stages with what they read of earlier ones substituted. Nothing where
// there are reductions, or where the last gets too long.
std::optional<Expr> BodyWithoutTemps(const Kernel& kernel) {
  std::map<TensorId, std::pair<const Stage*, Expr>> known;
  for (const Stage& stage : kernel.stages) {
    if (stage.IsReduction() || stage.results.size() != 1) return std::nullopt;
    const Expr body = Transform(stage.body[0], [&](const Expr& node) {
      if (node.op() != ExprOp::kLoad) return node;
      const auto definition = known.find(node->tensor);
      if (definition == known.end()) return node;
      Substitution axes;
      for (size_t i = 0; i < node.args().size(); ++i) {
        axes[definition->second.first->axes[i].name] = node.arg(i);
      }
      return Substitute(definition->second.second, axes);
    });
    if (TermCount(body) > kMostTerms) return std::nullopt;
    known[stage.results[0].tensor] = {&stage, body};
  }
  return known.at(kernel.stages.back().results[0].tensor).second;
}

// How the elements of a tensor lie in bytes: the axes of the bytes, and element k of one of them.
class Bytes {
 public:
  Bytes(const Kernel& kernel, const Stage& stage, DType packed)
      : width_(BitWidth(packed)), bounds_(BoundsOf(kernel.symbols)), axes_(stage.axes) {
    const Expr count = Expr(kByteBits / width_);
    if (!axes_.empty() && ProveEqual(Mod(axes_.back().extent, count), 0, bounds_)) {
      axes_.back().extent = Simplify(FloorDiv(axes_.back().extent, count), bounds_);
      return;
    }
    // Bytes hold elements of several rows.
    for (const Axis& axis : axes_) extents_.push_back(axis.extent);
    axes_ = {{.name = NameOfBytes(kernel, stage),
              .extent = Simplify(CeilDiv(ElementCount(extents_), count), bounds_)}};
    is_flat_ = true;
  }

  const std::vector<Axis>& axes() const { return axes_; }
  // The element, of u8, in place; 0 behind the last one.
  Expr Shifted(const Stage& stage, const Expr& code, int k) const {
    const Expr position = Var(axes_.back().name) * (kByteBits / width_) + k;
    Substitution indices;
    // Always within their axes, even where the position is behind the last element.
    const Indices unraveled = is_flat_ ? Unraveled(position, extents_) : Indices();
    for (size_t i = 0; i < unraveled.size(); ++i) indices[stage.axes[i].name] = unraveled[i];
    if (!is_flat_) indices[stage.axes.back().name] = position;
    Expr element = Binary(ExprOp::kShiftLeft, Substitute(code, indices),
                          IntConst(int64_t{k} * width_, DType::kU8));
    if (!is_flat_) return element;
    return Select(Lt(position, ElementCount(extents_)), element, IntConst(0, DType::kU8));
  }

 private:
  // A variable that is no symbol.
  static std::string NameOfBytes(const Kernel& kernel, const Stage& stage) {
    if (!stage.axes.empty()) return stage.axes.back().name;
    std::string name = "byte";
    while (std::ranges::count(kernel.symbols, name, &Symbol::var) > 0) name += "_";
    return name;
  }

  const int width_;
  const Bounds bounds_;
  std::vector<Axis> axes_;
  Shape extents_;
  bool is_flat_ = false;
};

// The stage, of codes, as one of bytes.
Stage InBytes(const Kernel& kernel, const Stage& stage, DType packed) {
  const Bytes bytes(kernel, stage, packed);
  Expr all;
  for (int k = 0; k * BitWidth(packed) < kByteBits; ++k) {
    const Expr element = bytes.Shifted(stage, stage.body[0], k);
    all = all.valid() ? Binary(ExprOp::kBitOr, all, element) : element;
  }
  Stage result{.axes = bytes.axes()};
  result.results = {
      {.tensor = stage.results[0].tensor, .axis_count = static_cast<int>(result.axes.size())}};
  result.body = {Simplify(all, StageBounds(kernel, result))};
  return result;
}

// A kernel of the same parameters, in the same order, and no stage.
Kernel WithParamsOf(const Kernel& kernel) {
  Kernel result{.name = kernel.name, .symbols = kernel.symbols, .sources = kernel.sources};
  for (TensorId id : kernel.params) {
    result.params.push_back(result.tensors.Add(kernel.tensors[id]));
  }
  return result;
}

// The parameter of `to` in the place of that of `from`.
TensorId ParamLike(const Kernel& from, TensorId id, const Kernel& to) {
  return to.params[static_cast<size_t>(std::ranges::find(from.params, id) - from.params.begin())];
}

Expr WithLoadsOf(const Kernel& from, const Expr& body, const Kernel& to) {
  return Transform(body, [&](const Expr& node) {
    if (node.op() != ExprOp::kLoad) return node;
    ExprNode load = *node;
    load.tensor = ParamLike(from, node->tensor, to);
    return Expr::Make(std::move(load));
  });
}

void WriteBytes(Kernel& kernel, const Stage& stage, DType packed) {
  kernel.stages = {InBytes(kernel, stage, packed)};
  KernelTensor& tensor = kernel.tensors[stage.results[0].tensor];
  tensor.shape.clear();
  for (const Axis& axis : kernel.stages[0].axes) tensor.shape.push_back(axis.extent);
  tensor.layout = {};
}

}  // namespace

bool IsPackedResult(const Kernel& kernel, TensorId tensor) {
  return kernel.tensors[tensor].role == TensorRole::kOutput && IsComputed(kernel, tensor);
}

bool ComputesPacked(const Kernel& kernel) {
  for (TensorId id : kernel.tensors.ids()) {
    if (IsComputed(kernel, id)) return true;
  }
  return false;
}

absl::StatusOr<Kernel> WithBytePerElement(const Kernel& kernel) {
  Kernel result = kernel;
  for (Stage& stage : result.stages) {
    for (size_t i = 0; i < stage.body.size(); ++i) {
      stage.body[i] = Transform(stage.body[i], [&](const Expr& node) {
        if (node.op() != ExprOp::kLoad || !IsComputed(kernel, node->tensor)) return node;
        const Expr code = Load(node->tensor, node.args(), DType::kU8);
        return ElementOfCode(node.dtype(), code);
      });
      const TensorId id = stage.results[i].tensor;
      if (!IsComputed(kernel, id)) continue;
      const KernelTensor& tensor = kernel.tensors[id];
      if (stage.IsReduction()) return NotWritten(kernel, tensor, "which reductions do not give");
      if (!tensor.layout.IsPlain() || !tensor.strides.empty()) {
        return NotWritten(kernel, tensor, "which are row-major only");
      }
      stage.body[i] = CodeOf(Cast(tensor.dtype, stage.body[i]));
    }
  }
  for (TensorId id : kernel.tensors.ids()) {
    if (IsComputed(kernel, id)) result.tensors[id].dtype = DType::kU8;
  }
  return result;
}

std::optional<Kernel> PackedInOneStage(const Kernel& kernel, DType packed) {
  const auto is_output = [&](TensorId id) {
    return kernel.tensors[id].role == TensorRole::kOutput;
  };
  if (std::ranges::count_if(kernel.params, is_output) != 1) return std::nullopt;
  if (!is_output(kernel.stages.back().results[0].tensor)) return std::nullopt;
  const std::optional<Expr> body = BodyWithoutTemps(kernel);
  if (!body || TermCount(*body) * (kByteBits / BitWidth(packed)) > kMostTerms) return std::nullopt;
  Stage stage = kernel.stages.back();
  Kernel result = WithParamsOf(kernel);
  stage.body = {WithLoadsOf(kernel, *body, result)};
  stage.results[0].tensor = ParamLike(kernel, stage.results[0].tensor, result);
  WriteBytes(result, stage, packed);
  return result;
}

Kernel PackingKernel(const Kernel& kernel, TensorId tensor) {
  const KernelTensor& result = kernel.tensors[tensor];
  Kernel packing{.name = StrCat(kernel.name, "_pack_", result.name),
                 .symbols = kernel.symbols,
                 .sources = kernel.sources};
  const TensorId from = packing.tensors.Add({.name = StrCat(result.name, "_codes"),
                                             .dtype = DType::kU8,
                                             .shape = result.shape,
                                             .role = TensorRole::kInput});
  const TensorId to = packing.tensors.Add({.name = result.name,
                                           .dtype = DType::kU8,
                                           .shape = result.shape,
                                           .role = TensorRole::kOutput});
  packing.params = {from, to};
  Stage stage{.results = {{.tensor = to, .axis_count = static_cast<int>(result.shape.size())}}};
  std::vector<Expr> indices;
  for (size_t i = 0; i < result.shape.size(); ++i) {
    stage.axes.push_back({.name = StrCat("i", i), .extent = result.shape[i]});
    indices.push_back(Var(stage.axes.back().name));
  }
  stage.body = {Load(from, indices, DType::kU8)};
  WriteBytes(packing, stage, result.dtype);
  return packing;
}

}  // namespace aotc
