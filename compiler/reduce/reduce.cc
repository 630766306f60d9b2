#include "compiler/reduce/reduce.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/import/editable_model.h"
#include "compiler/reduce/facts.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"

namespace aotc {
namespace {

class Reducer {
 public:
  Reducer(EditableModel model, std::string folder, const Check& check, const ReduceOptions& options)
      : model_(std::move(model)),
        path_(std::move(folder) + "/candidate.onnx"),
        check_(check),
        options_(options) {
    result_.nodes_before = model_.NodeCount();
  }

  absl::StatusOr<Reduction> Run() {
    AOTC_ASSIGN_OR_RETURN(failure_, CheckModel(model_));
    if (failure_.first.empty()) {
      return AOTC_REFUSAL(
          InvalidArgument,
          "the model does not fail; hint: give the flags with which it does, or another --check");
    }
    AOTC_RETURN_IF_ERROR(ReduceNodes());
    AOTC_RETURN_IF_ERROR(ReduceSubgraphs());
    AOTC_RETURN_IF_ERROR(ReduceParts());
    AOTC_RETURN_IF_ERROR(ReduceSizes());
    AOTC_RETURN_IF_ERROR(ReduceValues());
    AOTC_RETURN_IF_ERROR(ReduceNodes());  // what was left may need less now
    result_.model = model_.Bytes();
    result_.failure = failure_.example;
    result_.nodes = model_.NodeCount();
    result_.complete = !AtEnd();
    return std::move(result_);
  }

 private:
  bool AtEnd() const { return result_.checks >= options_.most_checks; }

  absl::StatusOr<Failure> CheckModel(const EditableModel& candidate) {
    ++result_.checks;
    AOTC_RETURN_IF_ERROR(WriteFileIfChanged(path_, candidate.Bytes()).status());
    return check_(path_);
  }

  // Takes the candidate in place of the model where it fails alike.
  absl::StatusOr<bool> Try(EditableModel candidate) {
    if (AtEnd()) return false;
    AOTC_ASSIGN_OR_RETURN(const Failure failure, CheckModel(candidate));
    if (!failure.IsSameAs(failure_)) return false;
    failure_.example = failure.example;
    model_ = std::move(candidate);
    return true;
  }

  // ddmin: leaves out ever smaller runs of nodes, until no single one can go.
  absl::Status ReduceNodes() {
    AOTC_RETURN_IF_ERROR(WriteFileIfChanged(path_, model_.Bytes()).status());
    const EditableModel whole = model_;
    const ValueFacts facts = FactsOf(path_, options_.import);
    std::vector<int> kept(static_cast<size_t>(whole.NodeCount()));
    std::iota(kept.begin(), kept.end(), 0);
    AOTC_RETURN_IF_ERROR(Try(whole.KeepNodes(kept, facts)).status());  // without what is unused
    size_t run = std::max<size_t>(1, kept.size() / 2);
    while (kept.size() > 1 && !AtEnd()) {
      bool progress = false;
      for (size_t start = kept.size(); start > 0 && kept.size() > 1;) {  // what reads goes first
        start -= std::min(run, start);
        const size_t end = std::min(start + run, kept.size());
        if (end - start == kept.size()) continue;
        std::vector<int> fewer(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(start));
        fewer.insert(fewer.end(), kept.begin() + static_cast<ptrdiff_t>(end), kept.end());
        AOTC_ASSIGN_OR_RETURN(const bool fails, Try(whole.KeepNodes(fewer, facts)));
        if (!fails) continue;
        kept = std::move(fewer);
        progress = true;
        Tell(StrCat(kept.size(), " of ", result_.nodes_before, " nodes"));
      }
      if (!progress && run == 1) break;
      if (!progress) run = run / 2;
      run = std::min(run, std::max<size_t>(1, kept.size() / 2));
    }
    return absl::OkStatus();
  }

  // Each branch that can stand for its If, and each subgraph that need not compute, with fewer
  // nodes around it thereafter.
  absl::Status ReduceSubgraphs() {
    Tell("subgraphs");
    for (int edit = 0; edit < model_.SubgraphEditCount() && !AtEnd();) {
      AOTC_ASSIGN_OR_RETURN(const bool fails, Try(model_.WithSubgraphEdit(edit)));
      if (fails) AOTC_RETURN_IF_ERROR(ReduceNodes());
      edit = fails ? 0 : edit + 1;
    }
    return absl::OkStatus();
  }

  // Attributes and outputs, from the last to the first: the indices of the others stay.
  absl::Status ReduceParts() {
    Tell("parts");
    for (int part = model_.PartCount() - 1; part >= 0; --part) {
      if (part >= model_.PartCount()) continue;
      AOTC_RETURN_IF_ERROR(Try(model_.WithoutPart(part)).status());
    }
    return absl::OkStatus();
  }

  // Each size made as small as it can be, the largest first.
  absl::Status ReduceSizes() {
    Tell("sizes");
    const std::set<int64_t> sizes = model_.Sizes();
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      for (int64_t smaller : SmallerThan(*size)) {
        AOTC_ASSIGN_OR_RETURN(const bool fails, Try(model_.WithSize(*size, smaller)));
        if (fails) break;
      }
    }
    return absl::OkStatus();
  }

  // 1, 2, 3, then halves from below.
  static std::vector<int64_t> SmallerThan(int64_t size) {
    std::vector<int64_t> smaller = {1, 2, 3, size / 8, size / 4, size / 2, size - 1};
    std::ranges::sort(smaller);
    smaller.erase(std::unique(smaller.begin(), smaller.end()), smaller.end());
    std::erase_if(smaller, [size](int64_t other) { return other < 1 || other >= size; });
    return smaller;
  }

  absl::Status ReduceValues() {
    Tell("values");
    for (int i = 0; i < model_.InitializerCount(); ++i) {
      std::optional<EditableModel> splat = model_.WithSplat(i);
      if (splat) AOTC_RETURN_IF_ERROR(Try(*std::move(splat)).status());
    }
    return absl::OkStatus();
  }

  void Tell(const std::string& step) const {
    if (options_.step) options_.step(step);
  }

  EditableModel model_;
  const std::string path_;
  const Check& check_;
  const ReduceOptions& options_;
  Failure failure_;
  Reduction result_;
};

}  // namespace

absl::StatusOr<Reduction> Reduce(const std::string& path, const Check& check,
                                 const ReduceOptions& options) {
  absl::StatusOr<EditableModel> model = EditableModel::Read(path);
  if (!model.ok()) return About(path, model.status());
  AOTC_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("aotc_reduce"));
  return Reducer(*std::move(model), folder.path(), check, options).Run();
}

}  // namespace aotc
