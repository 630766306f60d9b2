// docs/operators.md is generated from the op definitions; AOTC_UPDATE=1 rewrites it.
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"
#include "tests/unit/generated_page.h"

namespace aotc {
namespace {

// The text in lines of 100 columns.
std::string Wrapped(std::string text) {
  constexpr size_t kColumns = 100;
  for (size_t line = 0; line + kColumns < text.size();) {
    const size_t space = text.rfind(' ', line + kColumns);
    text[space] = '\n';
    line = space + 1;
  }
  return text;
}

// Through which ops Gradient goes.
std::string DifferentiatedOps() {
  std::vector<std::string_view> with_rule, flat;
  for (const OpDef* op : AllOps()) {
    if (op->gradient != nullptr) with_rule.push_back(op->name);
    if (HasTrait(op->name, kNoDerivative) || HasTrait(op->name, kReadsShapeOnly)) {
      flat.push_back(op->name);
    }
  }
  return StrCat(
      "\n## Derivatives\n\n",
      Wrapped(StrCat("Gradient goes through ", StrJoin(with_rule, ", "),
                     ", and operators that these define. Derivatives through ", StrJoin(flat, ", "),
                     ", and through integers are 0. Through other ",
                     "operators, those with branches and bodies among them, Gradient is refused.")),
      "\n");
}

std::string_view FormOf(const OpDef& op) {
  if (op.compute == nullptr) return "expand";
  return op.expand == nullptr ? "compute" : "compute, expand";
}

std::string OperatorTable() {
  std::string text =
      "# Operators\n\n"
      "Generated from the definitions in `compiler/ops`: `AOTC_UPDATE=1 build/tests/unit_tests\n"
      "--gtest_filter='OperatorTable.*'` rewrites this page. Element types are f32, f64, f16, "
      "bf16,\n"
      "integers and bool, as far as ONNX allows them for the operator.\n\n"
      "Form `compute` states the operator as tensor expressions, `expand` in terms of others; "
      "where\n"
      "there are both, the latter is for what only a run knows.\n"
      "If needs neither: it runs one branch, whose results have the types of the other's. Loop "
      "and\n"
      "Scan become Repeat, which carries values from one iteration to the next. Their sizes must\n"
      "not depend on data: carried values keep their types, and values are stacked only where the\n"
      "number of iterations is known at compile time, over the dims.\n"
      "The operators on sequences and optionals (SequenceConstruct, SequenceEmpty, SequenceAt,\n"
      "SequenceInsert, SequenceErase, SequenceLength, SequenceMap, SplitToSequence, "
      "ConcatFromSequence,\n"
      "Optional, OptionalGetElement, OptionalHasElement) are read as nodes over tensors: those "
      "called\n"
      "Item and Items.\n\n"
      "| operator | form | what it gives |\n| --- | --- | --- |\n";
  for (const OpDef* op : AllOps()) {
    StrAppend(&text, "| ", op->name, " | ", FormOf(*op), " | ",
              absl::StrReplaceAll(View(op->summary), {{"|", "\\|"}}), " |\n");
  }
  return text + DifferentiatedOps();
}

TEST(OperatorTable, EveryOpHasAFormAndASummary) {
  for (const OpDef* op : AllOps()) {
    EXPECT_TRUE(op->compute != nullptr || op->expand != nullptr) << op->name;
    EXPECT_FALSE(op->summary.empty()) << op->name;
  }
}

TEST(OperatorTable, IsCurrent) { ExpectPageIsCurrent("docs/operators.md", OperatorTable()); }

}  // namespace
}  // namespace aotc
