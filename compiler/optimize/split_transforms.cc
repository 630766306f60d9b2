#include "compiler/optimize/split_transforms.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/optimize/fourier_passes.h"
#include "compiler/optimize/rewrite.h"

namespace aotc {
namespace {

// Longer ones would have tables of gigabytes.
constexpr int64_t kMostLength = int64_t{1} << 26;

// The one element of an input, or `fallback` where it is absent; nothing where it is not known.
std::optional<int64_t> KnownScalar(const RewriteSite& site, size_t index, const Expr& fallback) {
  if (!site.HasInput(index)) return fallback.AsInt();
  const Constant* constant = site.ConstantInput(index);
  if (constant == nullptr || constant->element_count() != 1) return std::nullopt;
  return constant->IntAt(0);
}

bool IsTaken(const std::optional<int64_t>& length) {
  return length && *length >= 1 && *length <= kMostLength;
}

// Small floats are computed with as f32.
ValueId InType(RewriteSite& site, ValueId x, DType type) {
  const ValueType& from = site.TypeOf(x);
  if (from.dtype == type) return x;
  Attributes to;
  to.Set("to", static_cast<int64_t>(type));
  return site.Emit("Cast", {x}, std::move(to), TensorType(type, from.dims));
}

DType ComputedType(DType type) { return type == DType::kF64 ? type : DType::kF32; }

class DftSite {
 public:
  explicit DftSite(RewriteSite& site) : site_(site), passes_(site) {}

  bool Read();
  ValueId Emit();

 private:
  ValueId Operand();
  // A bin stands for its mirror image too, but for the first and, of even lengths, the last, whose
  // imaginary parts count for nothing.
  ValueId WithMirrors(ValueId x);

  RewriteSite& site_;
  FourierPasses passes_;
  size_t axis_ = 0;
  bool to_real_ = false;
  int64_t given_bins_ = 0;  // that count
  FourierMatrix transform_ = {};
};

bool DftSite::Read() {
  const Shape& dims = site_.InputType(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const std::optional<int64_t> axis = KnownScalar(site_, 2, -2);
  if (!axis) return false;
  axis_ = static_cast<size_t>(*axis < 0 ? *axis + rank : *axis);
  const bool inverse = site_.node().attributes.Int("inverse") != 0;
  const bool onesided = site_.node().attributes.Int("onesided") != 0;
  to_real_ = inverse && onesided;
  const Expr& dim = dims[axis_];
  const std::optional<int64_t> length =
      KnownScalar(site_, 1, to_real_ ? Simplify((dim - 1) * 2, site_.bounds()) : dim);
  if (!IsTaken(length)) return false;
  const int64_t half = *length / 2 + 1;
  given_bins_ = to_real_ ? half : *length;
  transform_ = {.length = *length,
                .sign = inverse ? 1 : -1,
                .scale = inverse ? 1 / static_cast<double>(*length) : 1,
                .parts = *dims.back().AsInt(),
                .bins = onesided && !inverse ? half : *length,
                .real_results = to_real_};
  return true;
}

// [..., parts, length]
ValueId DftSite::Operand() {
  ValueId x = site_.node().inputs[0];
  const size_t last = passes_.DimsOf(x).size() - 1;
  std::vector<int64_t> perm;
  for (size_t d = 0; d < last; ++d) {
    if (d != axis_) perm.push_back(static_cast<int64_t>(d));
  }
  perm.push_back(static_cast<int64_t>(last));
  perm.push_back(static_cast<int64_t>(axis_));
  x = InType(site_, x, ComputedType(site_.TypeOf(x).dtype));
  x = passes_.Resize(passes_.Transpose(x, perm), last, given_bins_);
  return to_real_ ? passes_.Resize(WithMirrors(x), last, transform_.length) : x;
}

ValueId DftSite::WithMirrors(ValueId x) {
  const DType type = site_.TypeOf(x).dtype;
  const auto count = static_cast<size_t>(given_bins_);
  std::vector<uint8_t> counts(2 * count, 1);
  std::vector<double> weights(count, 2);
  for (const size_t alone : {size_t{0}, count - 1}) {
    if (alone > 0 && transform_.length % 2 != 0) continue;
    counts[count + alone] = 0;
    weights[alone] = 1;
  }
  std::vector<uint8_t> bytes(count * static_cast<size_t>(ByteWidth(type)));
  for (size_t i = 0; i < count; ++i) {
    StoreElement(type, bytes.data(), static_cast<int64_t>(i), weights[i]);
  }
  const ValueId by = site_.EmitConstant("_mirrors", Constant::Dense(type, {given_bins_}, bytes));
  const ValueId all = passes_.Emit("Mul", {x, by}, passes_.DimsOf(x));
  const ValueId where =
      site_.EmitConstant("_count", Constant::Dense(DType::kBool, {2, given_bins_}, counts));
  const ValueId zero = site_.EmitConstant("_zero", Constant::Splat(type, {}, 0));
  return site_.Emit("Where", {where, all, zero}, {}, site_.TypeOf(all));
}

ValueId DftSite::Emit() {
  ValueId y = passes_.Transform(Operand(), transform_);
  const size_t last = passes_.DimsOf(y).size() - 1;
  std::vector<int64_t> perm;
  for (size_t d = 0; d + 1 < last; ++d) perm.push_back(static_cast<int64_t>(d));
  perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(axis_), static_cast<int64_t>(last - 1));
  perm.push_back(static_cast<int64_t>(last));
  return InType(site_, passes_.Transpose(y, perm), site_.type().dtype);
}

bool SplitDft(RewriteSite& site) {
  if (site.node().op != "DFT") return false;
  DftSite dft(site);
  return dft.Read() && site.ReplaceBy(dft.Emit());
}

bool SplitStft(RewriteSite& site) {
  if (site.node().op != "STFT") return false;
  const Shape& signal = site.InputType(0).dims;
  const Expr& whole = site.HasInput(2) ? site.InputType(2).dims[0] : signal[1];
  const std::optional<int64_t> length = KnownScalar(site, 3, whole);
  if (!IsTaken(length)) return false;
  const bool onesided = site.node().attributes.Int("onesided", 1) != 0;
  const Expr parts = signal.size() == 2 ? Expr(1) : signal[2];
  const ValueType frames = TensorType(ComputedType(site.type().dtype),
                                      {site.type().dims[0], site.type().dims[1], parts, *length});
  const ValueId x = site.Emit("StftFrames", site.node().inputs, {}, frames);
  const ValueId y = FourierPasses(site).Transform(
      x,
      {.length = *length, .parts = *parts.AsInt(), .bins = onesided ? *length / 2 + 1 : *length});
  return site.ReplaceBy(InType(site, y, site.type().dtype));
}

constexpr RewriteRule kRules[] = {SplitDft, SplitStft};

}  // namespace

absl::StatusOr<Graph> SplitTransforms(const Graph& graph, PassContext&) {
  return RewriteUntilDone(graph, kRules);
}

}  // namespace aotc
