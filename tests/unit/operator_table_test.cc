// docs/operators.md is generated from the op definitions; AOTC_UPDATE=1 rewrites it.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/import/sequence_ops.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
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
  if (IsHostOp({.op = std::string(op.name)})) return "host";
  if (op.compute == nullptr) return "expand";
  return op.expand == nullptr ? "compute" : "compute, expand";
}

// What is known of an operator beyond its definition: the lines of tests/random/operator_facts.py.
struct Facts {
  std::string opsets, types, node_tests;
};

std::map<std::string, Facts, std::less<>> ReadFacts() {
  std::map<std::string, Facts, std::less<>> facts;
  const std::string page = ReadPage("tests/random/operator_facts.txt");
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, " | ");
    if (words.size() == 4) facts[words[0]] = {words[1], words[2], words[3]};
  }
  return facts;
}

std::string Summary(std::string_view summary) {
  return absl::StrReplaceAll(View(summary), {{"|", "\\|"}});
}

struct Row {
  std::string_view summary, form;
};

// What models may name: operators with a definition, those that are read as others, and If.
std::map<std::string_view, Row> PublicOps() {
  std::map<std::string_view, Row> rows;
  for (const OpDef* op : AllOps()) {
    if (!HasTrait(op->name, kOwn)) rows[op->name] = {op->summary, FormOf(*op)};
  }
  for (const CompositeOpDef& op : CompositeOps()) {
    rows.try_emplace(op.name, Row{op.summary, "import"});
  }
  rows["If"] = {"the results of one of two branches", "branch"};
  return rows;
}

std::string PublicTable() {
  const auto facts = ReadFacts();
  const std::string targets = StrJoin(TargetNames(), " ");
  std::string text =
      "| operator | what it gives | opsets | types | targets | form | ONNX's tests |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto& [name, row] : PublicOps()) {
    const auto found = facts.find(name);
    const Facts of = found == facts.end() ? Facts() : found->second;
    StrAppend(
        &text, "| ",
        StrJoin(std::vector<std::string>{std::string(name), Summary(row.summary), of.opsets,
                                         of.types, targets, std::string(row.form), of.node_tests},
                " | "),
        " |\n");
  }
  return text;
}

std::string OwnTable() {
  std::string text = "| op | form | what it gives |\n| --- | --- | --- |\n";
  for (const OpDef* op : AllOps()) {
    if (!HasTrait(op->name, kOwn)) continue;
    StrAppend(&text, "| ", op->name, " | ", FormOf(*op), " | ", Summary(op->summary), " |\n");
  }
  return text;
}

std::string OperatorTable() {
  return StrCat(
      "# Operators\n\n",
      Wrapped("Generated from the definitions in `compiler/ops` and from "
              "`tests/random/operator_facts.txt`: `AOTC_UPDATE=1 build/tests/unit_tests "
              "--gtest_filter='OperatorTable.*'` rewrites this page. No target lacks an operator. "
              "Opsets are those that changed the operator in its domain, as far as ONNX says; "
              "types are those of the first operand in the generated tests; the last column "
              "counts the tests of ONNX's node suite that use it."),
      "\n\n",
      Wrapped("Form `compute` states the operator as tensor expressions, `expand` in terms of "
              "others; where there are both, the latter is for what only a run knows. `host` is "
              "work of the host program. `branch` is If's: it runs one branch, whose results have "
              "the types of the other's. Loop and Scan become Repeat, which carries values from "
              "one iteration to the next; their sizes may change in each iteration, within a "
              "bound. `import`: operators on sequences and optionals are read as nodes over "
              "tensors, those called Item and Items."),
      "\n\n", PublicTable(), "\n## The compiler's own\n\n",
      "What operators are expanded into; no model may name these.\n\n", OwnTable(),
      DifferentiatedOps());
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
