// The labels that classifiers of ai.onnx.ml give to classes: integers, or strings, which are three
// outputs (strings.h), so that the scores are output 3.
//
//   AOTC_ASSIGN_OR_RETURN(const auto labels, ClassLabels::Of(e.attributes(), "classlabels_ints"));
//   labels.Set(e, {scores});                      // of the class with the greatest score
//   e.SetOutput(labels.scores_output(), scores);
#ifndef AOTC_COMPILER_OPS_CLASS_LABELS_H_
#define AOTC_COMPILER_OPS_CLASS_LABELS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/expansion.h"

namespace aotc {

// The attribute of labels that are strings.
inline constexpr const char kStringLabels[] = "classlabels_strings";

class ClassLabels {
 public:
  ClassLabels() = default;  // of no class
  // Strings where there are any, else the attribute `ints`. Error: neither is there.
  static absl::StatusOr<ClassLabels> Of(const Attributes& attributes, std::string_view ints);
  // 0 and 1, which onnxruntime takes where the labels do not fit one score.
  static ClassLabels OfBits() { return ClassLabels({0, 1}, {}); }

  int64_t count() const;
  bool are_strings() const { return !strings_.empty(); }
  size_t scores_output() const { return are_strings() ? 3 : 1; }

  // The labels of the node: what ScoreLabels makes of scores [N, classes], and of which of them
  // count, bool, where `counts` is valid.
  void Set(Expansion& e, ValueId scores, ValueId counts = {},
           const Expansion::NamedValues& attributes = {}) const;

 private:
  ClassLabels(std::vector<int64_t> ints, std::vector<std::string> strings)
      : ints_(std::move(ints)), strings_(std::move(strings)) {}

  std::vector<int64_t> ints_;
  std::vector<std::string> strings_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_CLASS_LABELS_H_
