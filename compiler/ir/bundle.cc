#include "compiler/ir/bundle.h"

namespace aotc {

std::optional<MapForm> MapFormOf(BundleKind kind) {
  switch (kind) {
    case BundleKind::kMap: return MapForm{};
    case BundleKind::kMapFromStrings: return MapForm{.has_string_keys = true};
    case BundleKind::kMapToStrings: return MapForm{.has_string_values = true};
    case BundleKind::kMaps: return MapForm{.is_sequence = true};
    case BundleKind::kMapsFromStrings: return MapForm{.is_sequence = true, .has_string_keys = true};
    default: return std::nullopt;
  }
}

std::optional<size_t> PoolPartOf(BundleKind kind) {
  if (kind == BundleKind::kStrings) return kPoolPart;
  const std::optional<MapForm> map = MapFormOf(kind);
  if (map && map->has_string_keys) return kPoolPart;
  if (map && map->has_string_values) return map->first_value() + kPoolPart;
  return std::nullopt;
}

const std::vector<std::string_view>& PartNames(BundleKind kind) {
  using Names = std::vector<std::string_view>;
  static const auto& sequence = *new Names{"elements", "dims", "length"};
  static const auto& optional_sequence = *new Names{"elements", "dims", "length", "has"};
  static const auto& strings = *new Names{"starts", "sizes", "pool"};
  static const auto& map = *new Names{"keys", "values"};
  static const auto& from_strings = *new Names{"key_starts", "key_sizes", "key_pool", "values"};
  static const auto& to_strings = *new Names{"keys", "value_starts", "value_sizes", "value_pool"};
  switch (kind) {
    case BundleKind::kSequence:
    case BundleKind::kOptional: return sequence;
    case BundleKind::kOptionalSequence: return optional_sequence;
    case BundleKind::kStrings: return strings;
    case BundleKind::kMap:
    case BundleKind::kMaps: return map;
    case BundleKind::kMapFromStrings:
    case BundleKind::kMapsFromStrings: return from_strings;
    case BundleKind::kMapToStrings: return to_strings;
  }
  return sequence;
}

const Bundle* BundleOf(const std::vector<Bundle>& bundles, bool is_output, size_t index) {
  for (const Bundle& bundle : bundles) {
    const size_t end = bundle.first + PartNames(bundle.kind).size();
    if (bundle.is_output == is_output && index >= bundle.first && index < end) return &bundle;
  }
  return nullptr;
}

}  // namespace aotc
