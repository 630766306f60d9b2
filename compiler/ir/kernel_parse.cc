// Parser of the text form of kernels.
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// `%name[i<m, j<40]` on the left of a stage.
struct ResultText {
  Token token = {};
  TensorId tensor = {};
  std::vector<Axis> axes = {};
};

// `(a, b)` with `count` items where that is above 0.
absl::StatusOr<std::vector<Expr>> ParseTuple(Scanner& scanner, size_t count,
                                             const ExprScope& scope) {
  const Token token = scanner.Peek();
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  std::vector<Expr> items;
  do {
    AOTC_ASSIGN_OR_RETURN(Expr item, ParseExpr(scanner, scope));
    items.push_back(std::move(item));
  } while (scanner.TryConsume(","));
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  if (count == 0 || items.size() == count) return items;
  return scanner.ErrorAt(token, StrCat("expected ", count, " items"));
}

class Parser {
 public:
  explicit Parser(Scanner& scanner) : scanner_(scanner) {}

  absl::StatusOr<Kernel> Parse() {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("kernel"));
    AOTC_ASSIGN_OR_RETURN(kernel_.name, scanner_.ExpectName('@'));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    while (!scanner_.At(")")) {
      AOTC_RETURN_IF_ERROR(ParseParam());
      if (!scanner_.TryConsume(",")) break;
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
    while (!scanner_.TryConsume("}")) AOTC_RETURN_IF_ERROR(ParseItem());
    return std::move(kernel_);
  }

 private:
  absl::Status ParseParam() {
    TensorRole role = TensorRole::kInput;
    if (scanner_.TryConsume("const")) {
      role = TensorRole::kConstant;
    } else if (scanner_.TryConsume("out")) {
      role = TensorRole::kOutput;
    } else {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("in"));
    }
    AOTC_ASSIGN_OR_RETURN(TensorId id, ParseTensor(role));
    kernel_.params.push_back(id);
    return absl::OkStatus();
  }

  // `%x: f32[m, 512](1, 0) strides [1, m]`
  absl::StatusOr<TensorId> ParseTensor(TensorRole role) {
    Token token = scanner_.Peek();
    KernelTensor tensor{.role = role};
    AOTC_ASSIGN_OR_RETURN(tensor.name, scanner_.ExpectName('%'));
    AOTC_RETURN_IF_ERROR(scanner_.Expect(":"));
    AOTC_ASSIGN_OR_RETURN(TensorText type, ExpectTensorText(scanner_, scope_));
    const DType dtype = tensor.dtype = type.dtype;
    tensor.shape = std::move(type.shape);
    tensor.layout = std::move(type.layout);
    if (scanner_.TryConsume("strides")) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
      AOTC_ASSIGN_OR_RETURN(tensor.strides, ExpectDims(scanner_, "]", scope_));
    }
    if (scope_.tensors.contains(tensor.name)) {
      return scanner_.ErrorAt(token, StrCat("%", tensor.name, " is declared twice"));
    }
    std::string name = tensor.name;
    TensorId id = kernel_.tensors.Add(std::move(tensor));
    scope_.tensors[name] = {id, dtype};
    return id;
  }

  absl::Status ParseItem() {
    if (scanner_.At("symbol")) {
      AOTC_ASSIGN_OR_RETURN(Symbol symbol, ParseSymbol(scanner_));
      kernel_.symbols.push_back(std::move(symbol));
      return absl::OkStatus();
    }
    if (scanner_.TryConsume("temp")) return ParseTensor(TensorRole::kTemp).status();
    if (scanner_.TryConsume("source")) {
      AOTC_ASSIGN_OR_RETURN(std::string source, scanner_.ExpectString());
      kernel_.sources.push_back(std::move(source));
      return absl::OkStatus();
    }
    if (scanner_.AtName('%')) return ParseStage();
    return scanner_.Error("expected a symbol, source, temp or stage");
  }

  absl::Status ParseStage() {
    Stage stage;
    std::vector<ResultText> results;
    do {
      AOTC_ASSIGN_OR_RETURN(ResultText result, ParseResult());
      if (result.axes.size() > stage.axes.size()) stage.axes = result.axes;
      results.push_back(std::move(result));
    } while (scanner_.TryConsume(","));
    for (const ResultText& result : results) {
      for (size_t i = 0; i < result.axes.size(); ++i) {
        bool same = result.axes[i].name == stage.axes[i].name &&
                    Same(result.axes[i].extent, stage.axes[i].extent);
        if (!same) return scanner_.ErrorAt(result.token, "the axes are no prefix of the stage's");
      }
      stage.results.push_back({result.tensor, static_cast<int>(result.axes.size())});
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect("="));
    bool is_reduction = scanner_.At("reduce");
    AOTC_RETURN_IF_ERROR(is_reduction ? ParseReduction(stage) : ParsePointwise(stage));
    kernel_.stages.push_back(std::move(stage));
    return absl::OkStatus();
  }

  absl::StatusOr<ResultText> ParseResult() {
    ResultText result{.token = scanner_.Peek()};
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner_.ExpectName('%'));
    auto found = scope_.tensors.find(name);
    if (found == scope_.tensors.end()) {
      return scanner_.ErrorAt(result.token, StrCat("unknown tensor %", name));
    }
    result.tensor = found->second.first;
    AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
    AOTC_ASSIGN_OR_RETURN(result.axes, ParseAxes("]"));
    return result;
  }

  absl::StatusOr<std::vector<Axis>> ParseAxes(std::string_view end) {
    std::vector<Axis> axes;
    while (!scanner_.At(end)) {
      Axis axis;
      AOTC_ASSIGN_OR_RETURN(axis.name, scanner_.ExpectIdentifier());
      AOTC_RETURN_IF_ERROR(scanner_.Expect("<"));
      AOTC_ASSIGN_OR_RETURN(axis.extent, ExpectDim(scanner_, scope_));
      axes.push_back(std::move(axis));
      if (!scanner_.TryConsume(",")) break;
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect(end));
    return axes;
  }

  absl::Status ParsePointwise(Stage& stage) {
    if (stage.results.size() > 1) {
      AOTC_ASSIGN_OR_RETURN(stage.body, ParseTuple(scanner_, stage.results.size(), scope_));
      return absl::OkStatus();
    }
    AOTC_ASSIGN_OR_RETURN(Expr body, ParseExpr(scanner_, scope_));
    stage.body.push_back(std::move(body));
    return absl::OkStatus();
  }

  absl::Status ParseReduction(Stage& stage) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("reduce"));
    std::string name;
    if (!scanner_.At("(")) {
      AOTC_ASSIGN_OR_RETURN(name, scanner_.ExpectIdentifier());
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    AOTC_ASSIGN_OR_RETURN(stage.reduce_axes, ParseAxes(")"));
    if (stage.reduce_axes.empty()) return scanner_.Error("a reduction needs an axis");
    if (!IsStockCombiner(name)) return ParseTupleReduction(name, stage);
    if (stage.results.size() != 1) return scanner_.Error("a stock combiner has one result");
    AOTC_ASSIGN_OR_RETURN(Expr body, ParseExpr(scanner_, scope_));
    bool logic = name == "and" || name == "or";
    if (logic && body.dtype() != DType::kBool) return scanner_.Error("the body is not a bool");
    stage.combiner = StockCombiner(name, body.dtype());
    stage.body.push_back(std::move(body));
    return absl::OkStatus();
  }

  // `(bodies) identity (values) combine (expressions over a0, b0, a1, ...)`
  absl::Status ParseTupleReduction(const std::string& name, Stage& stage) {
    size_t count = stage.results.size();
    stage.combiner.name = name;
    AOTC_ASSIGN_OR_RETURN(stage.body, ParseTuple(scanner_, count, scope_));
    return ParseCombiner(scanner_, count, stage.combiner);
  }

  Scanner& scanner_;
  Kernel kernel_;
  ExprScope scope_;
};

}  // namespace

absl::Status ParseCombiner(Scanner& scanner, size_t count, Combiner& combiner) {
  AOTC_RETURN_IF_ERROR(scanner.Expect("identity"));
  AOTC_ASSIGN_OR_RETURN(combiner.identity, ParseTuple(scanner, count, {}));
  ExprScope scope;
  for (size_t i = 0; i < combiner.identity.size(); ++i) {
    const DType dtype = combiner.identity[i].dtype();
    scope.vars[StrCat("a", i)] = scope.vars[StrCat("b", i)] = dtype;
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("combine"));
  AOTC_ASSIGN_OR_RETURN(combiner.combine, ParseTuple(scanner, combiner.identity.size(), scope));
  return absl::OkStatus();
}

absl::StatusOr<Kernel> ParseKernel(Scanner& scanner) { return Parser(scanner).Parse(); }

absl::StatusOr<Kernel> ParseKernel(std::string_view text) {
  Scanner scanner(text);
  AOTC_ASSIGN_OR_RETURN(Kernel kernel, ParseKernel(scanner));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return kernel;
}

}  // namespace aotc
