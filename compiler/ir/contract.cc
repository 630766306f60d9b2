#include "compiler/ir/contract.h"

#include <string_view>

#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct AlgorithmName {
  Algorithm algorithm;
  std::string_view name;
};
constexpr AlgorithmName kAlgorithms[] = {{Algorithm::kProduct, "product"},
                                         {Algorithm::kDirect, "direct"},
                                         {Algorithm::kDepthwise, "depthwise"},
                                         {Algorithm::kWinograd, "winograd"}};

std::string PrintForm(const ValueForm& form) {
  switch (form.kind) {
    case ValueForm::Kind::kRows: return form.block > 0 ? StrCat("rows(", form.block, ")") : "rows";
    case ValueForm::Kind::kBlocks: return StrCat(form.block);
    case ValueForm::Kind::kInnermost: return "innermost";
  }
  return "";
}

// A number in parentheses, where there is one.
absl::StatusOr<int64_t> ParseParameter(Scanner& scanner) {
  if (!scanner.TryConsume("(")) return 0;
  AOTC_ASSIGN_OR_RETURN(const int64_t value, scanner.ExpectInteger());
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  return value;
}

absl::StatusOr<ValueForm> ParseForm(Scanner& scanner) {
  if (scanner.TryConsume("innermost")) return kInnermost;
  if (scanner.TryConsume("rows")) {
    AOTC_ASSIGN_OR_RETURN(const int64_t group, ParseParameter(scanner));
    return ValueForm{ValueForm::Kind::kRows, group};
  }
  AOTC_ASSIGN_OR_RETURN(const int64_t block, scanner.ExpectInteger());
  if (block <= 0) return scanner.Error(StrCat("a block has ", block, " channels"));
  return BlocksOf(block);
}

absl::StatusOr<Algorithm> ParseAlgorithm(Scanner& scanner) {
  for (const AlgorithmName& row : kAlgorithms) {
    if (scanner.TryConsume(row.name)) return row.algorithm;
  }
  return scanner.Error(
      StrCat("no contract begins so; there are ",
             StrJoin(kAlgorithms, ", ", [](const auto& row) { return row.name; })));
}

}  // namespace

Layout LayoutOf(const ValueForm& form, size_t rank) {
  switch (form.kind) {
    case ValueForm::Kind::kRows: return {};
    case ValueForm::Kind::kBlocks:
      return BlockedLayout(static_cast<int>(rank), static_cast<int>(kChannelAxis), form.block);
    case ValueForm::Kind::kInnermost: break;
  }
  std::vector<int> order;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (axis != kChannelAxis) order.push_back(static_cast<int>(axis));
  }
  order.push_back(static_cast<int>(kChannelAxis));
  return PermutedLayout(order);
}

std::string PrintContract(const Contract& contract) {
  std::string text;
  for (const AlgorithmName& row : kAlgorithms) {
    if (row.algorithm == contract.algorithm) text = row.name;
  }
  if (contract.m > 0) StrAppend(&text, "(", contract.m, ")");
  return StrCat(text, ", ", PrintForm(contract.operand), " -> ", PrintForm(contract.result));
}

absl::StatusOr<Contract> ParseContract(Scanner& scanner) {
  Contract contract;
  AOTC_ASSIGN_OR_RETURN(contract.algorithm, ParseAlgorithm(scanner));
  AOTC_ASSIGN_OR_RETURN(contract.m, ParseParameter(scanner));
  AOTC_RETURN_IF_ERROR(scanner.Expect(","));
  AOTC_ASSIGN_OR_RETURN(contract.operand, ParseForm(scanner));
  AOTC_RETURN_IF_ERROR(scanner.Expect("->"));
  AOTC_ASSIGN_OR_RETURN(contract.result, ParseForm(scanner));
  return contract;
}

}  // namespace aotc
