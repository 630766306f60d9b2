#include "compiler/ops/class_labels.h"

#include <numeric>

#include "compiler/ops/compact.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<ClassLabels> ClassLabels::Of(const Attributes& attributes, std::string_view ints) {
  ClassLabels labels({}, attributes.Strings(kStringLabels));
  if (labels.are_strings()) return labels;
  labels.ints_ = attributes.Ints(ints);
  if (!labels.ints_.empty()) return labels;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("needs the attribute '", ints, "' or '", kStringLabels, "'"));
}

int64_t ClassLabels::count() const {
  return static_cast<int64_t>(are_strings() ? strings_.size() : ints_.size());
}

void ClassLabels::Set(Expansion& e, ValueId scores, ValueId counts,
                      const Expansion::NamedValues& attributes) const {
  std::vector<int64_t> labels = ints_;
  if (are_strings()) {  // their numbers
    labels.resize(strings_.size());
    std::iota(labels.begin(), labels.end(), 0);
  }
  std::vector<ValueId> inputs = {scores, e.Ints("labels", labels)};
  if (counts.valid()) inputs.push_back(counts);
  const ValueId found = e.Emit("ScoreLabels", inputs, attributes);
  if (!are_strings()) {
    e.SetOutput(0, found);
    return;
  }
  const StringValues texts = AddStrings(e, "label_texts", strings_, {count()});
  SetStringOutput(
      e, 0, {EmitPicked(e, texts.starts, found), EmitPicked(e, texts.sizes, found), texts.pool});
}

}  // namespace aotc
