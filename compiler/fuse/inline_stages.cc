#include "compiler/fuse/inline_stages.h"

#include <algorithm>
#include <vector>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// One result of a pointwise stage.
struct Definition {
  TensorId tensor = {};
  std::vector<Axis> axes = {};
  Expr value = {};

  bool IsReadBy(const Expr& node) const {
    return node.op() == ExprOp::kLoad && node->tensor == tensor;
  }
};

int64_t UsesOf(const Expr& e, const std::string& variable) {
  int64_t uses = 0;
  Visit(e, [&](const Expr& node) { uses += int64_t{node.IsVar() && node->name == variable}; });
  return uses;
}

// Terms of `body` with the definition in place of each load of it, before it is simplified.
int64_t TermsWith(const Expr& body, const Definition& definition) {
  int64_t terms = TermCount(body);
  const int64_t own = TermCount(definition.value);
  Visit(body, [&](const Expr& node) {
    if (!definition.IsReadBy(node)) return;
    terms += own;
    for (size_t i = 0; i < definition.axes.size(); ++i) {
      terms += UsesOf(definition.value, definition.axes[i].name) * TermCount(node.arg(i));
    }
  });
  return terms;
}

Expr InPlaceOfLoads(const Expr& body, const Definition& definition) {
  return Transform(body, [&](const Expr& node) {
    if (node.op() == ExprOp::kCast) return Cast(node.dtype(), node.arg(0));
    if (!definition.IsReadBy(node)) return node;
    Substitution axes;
    for (size_t i = 0; i < definition.axes.size(); ++i) axes[definition.axes[i].name] = node.arg(i);
    return Substitute(definition.value, axes);
  });
}

absl::Status Inline(Kernel& kernel, const Definition& definition) {
  for (Stage& stage : kernel.stages) {
    const Bounds bounds = StageBounds(kernel, stage);
    for (Expr& body : stage.body) {
      const auto is_read = [&](const Expr& load) { return definition.IsReadBy(load); };
      if (std::ranges::none_of(LoadsOf(body), is_read)) continue;
      const int64_t terms = TermsWith(body, definition);
      if (terms > kMostTerms) {
        return absl::FailedPreconditionError(StrCat("an expression would have ", terms, " terms"));
      }
      body = Simplify(InPlaceOfLoads(body, definition), bounds);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InlineStages(Kernel& kernel, size_t count, TensorId kept) {
  for (size_t s = count; s-- > 0;) {
    const Stage stage = kernel.stages[s];
    size_t inlined = 0;
    for (size_t i = 0; i < stage.results.size(); ++i) {
      const TensorId tensor = stage.results[i].tensor;
      if (kernel.tensors[tensor].role != TensorRole::kTemp || tensor == kept) continue;
      AOTC_RETURN_IF_ERROR(
          Inline(kernel, {.tensor = tensor, .axes = stage.axes, .value = stage.body[i]}));
      ++inlined;
    }
    // Stages before it need not be inlined into one that nothing reads any more.
    const bool is_read = inlined < stage.results.size();
    if (!is_read) kernel.stages.erase(kernel.stages.begin() + static_cast<int64_t>(s));
  }
  return absl::OkStatus();
}

}  // namespace aotc
