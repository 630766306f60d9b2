#include "compiler/ir/bundle.h"

namespace aotc {

const std::vector<std::string_view>& PartNames(BundleKind kind) {
  static const auto& sequence = *new std::vector<std::string_view>{"elements", "dims", "length"};
  static const auto& optional_sequence =
      *new std::vector<std::string_view>{"elements", "dims", "length", "has"};
  static const auto& strings = *new std::vector<std::string_view>{"starts", "sizes", "pool"};
  if (kind == BundleKind::kStrings) return strings;
  return kind == BundleKind::kOptionalSequence ? optional_sequence : sequence;
}

const Bundle* BundleOf(const std::vector<Bundle>& bundles, bool is_output, size_t index) {
  for (const Bundle& bundle : bundles) {
    const size_t end = bundle.first + PartNames(bundle.kind).size();
    if (bundle.is_output == is_output && index >= bundle.first && index < end) return &bundle;
  }
  return nullptr;
}

}  // namespace aotc
