// Chains of casts.
#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

int ExponentBits(DType type) {
  switch (type) {
    case DType::kF64: return 11;
    case DType::kF32: return 8;
    case DType::kF16: return 5;
    case DType::kBF16: return 8;
    default: return 0;
  }
}

// Bits of the magnitude of an integer; -128 is a power of two, so that 7 bits of a float do for i8.
int MagnitudeBits(DType type) {
  if (type == DType::kBool) return 1;
  return BitWidth(type) - (IsSignedInteger(type) ? 1 : 0);
}

bool IsIntegerOrBool(DType type) { return IsInteger(type) || type == DType::kBool; }

// Every value of `from` is one of `to`.
bool IsLossless(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::kBool) return false;
  if (IsIntegerOrBool(from) && IsInteger(to)) {
    return MagnitudeBits(from) <= MagnitudeBits(to) &&
           (IsSignedInteger(to) || !IsSignedInteger(from));
  }
  if (SignificandBits(to) == 0) return false;
  // The exponents of f16 reach 2^15, beyond all that its significand allows for integers.
  if (IsIntegerOrBool(from)) return MagnitudeBits(from) <= SignificandBits(to);
  return SignificandBits(from) > 0 && SignificandBits(from) <= SignificandBits(to) &&
         ExponentBits(from) <= ExponentBits(to);
}

// A cast that loses nothing can be skipped by the next one, which finds the same numbers. Integers
// that get lost in the end wrap on the direct way, but saturate where they come as floats.
bool CanSkip(DType from, DType middle, DType to) {
  if (!IsLossless(from, middle)) return false;
  const bool other_way = IsIntegerOrBool(from) && IsFloat(middle) && IsInteger(to);
  return !other_way || IsLossless(from, to);
}

// What the node does with values beyond the range stays (`saturate`).
Attributes To(DType type, const Node& node) {
  Attributes attributes = node.attributes;
  attributes.Set("to", static_cast<int64_t>(type));
  return attributes;
}

bool CastOfCast(RewriteSite& site) {
  const Node* inner = site.Producer(0);
  if (site.node().op != "Cast" || inner == nullptr || inner->op != "Cast") return false;
  const ValueId source = inner->inputs[0];
  const DType from = site.TypeOf(source).dtype, to = site.type().dtype;
  if (!CanSkip(from, site.InputType(0).dtype, to)) return false;
  return from == to ? site.ReplaceBy(source)
                    : site.ReplaceBy("Cast", {source}, To(to, site.node()));
}

bool CastLikeIsCast(RewriteSite& site) {
  if (site.node().op != "CastLike") return false;
  return site.ReplaceBy("Cast", {site.node().inputs[0]}, To(site.type().dtype, site.node()));
}

constexpr RewriteRule kRules[] = {CastOfCast, CastLikeIsCast};

}  // namespace

std::span<const RewriteRule> CastRules() { return kRules; }

}  // namespace aotc
