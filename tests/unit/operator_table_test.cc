// docs/operators.md is generated from the op definitions; AOTC_UPDATE=1 rewrites it.
#include "absl/strings/str_replace.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"
#include "tests/unit/generated_page.h"

namespace aotc {
namespace {

std::string OperatorTable() {
  std::string text =
      "# Operators\n\n"
      "Generated from the definitions in `compiler/ops`: `AOTC_UPDATE=1 build/tests/unit_tests\n"
      "--gtest_filter='OperatorTable.*'` rewrites this page. Element types are f32, f64, f16, "
      "bf16,\n"
      "integers and bool, as far as ONNX allows them for the operator.\n\n"
      "Form `compute` states the operator as tensor expressions, `expand` in terms of others.\n"
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
    StrAppend(&text, "| ", op->name, " | ", op->compute != nullptr ? "compute" : "expand", " | ",
              absl::StrReplaceAll(View(op->summary), {{"|", "\\|"}}), " |\n");
  }
  return text;
}

TEST(OperatorTable, EveryOpHasOneFormAndASummary) {
  for (const OpDef* op : AllOps()) {
    EXPECT_NE(op->compute == nullptr, op->expand == nullptr) << op->name;
    EXPECT_FALSE(op->summary.empty()) << op->name;
  }
}

TEST(OperatorTable, IsCurrent) { ExpectPageIsCurrent("docs/operators.md", OperatorTable()); }

}  // namespace
}  // namespace aotc
