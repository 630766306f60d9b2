#include "compiler/ir/kernel_text.h"

#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/literals.h"
#include "compiler/support/sha256.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kLineWidth = 100;

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {
    names_ = [this](TensorId id) { return NameOf(id); };
  }

  std::string Print() const {
    std::string text = StrCat(Header(), " {\n");
    for (const std::string& source : kernel_.sources) {
      StrAppend(&text, "  source ", QuotedText(source), "\n");
    }
    for (const Symbol& symbol : kernel_.symbols) StrAppend(&text, "  ", PrintSymbol(symbol), "\n");
    for (const KernelTensor& tensor : kernel_.tensors) {
      if (tensor.role == TensorRole::kTemp) StrAppend(&text, "  temp ", PrintTensor(tensor), "\n");
    }
    for (const Stage& stage : kernel_.stages) StrAppend(&text, "  ", PrintStage(stage), "\n");
    return StrCat(text, "}\n");
  }

  std::string PrintStage(const Stage& stage) const {
    std::string text = StrJoin(stage.results, ", ", [&](const StageResult& result) {
      auto count = static_cast<size_t>(result.axis_count);
      std::vector<Axis> axes(stage.axes.begin(),
                             stage.axes.begin() + static_cast<ptrdiff_t>(count));
      return StrCat("%", NameOf(result.tensor), "[", PrintAxes(axes), "]");
    });
    text += " = ";
    if (!stage.IsReduction()) {
      bool single = stage.body.size() == 1;
      return StrCat(text, single ? Text(stage.body[0]) : PrintList(stage.body));
    }
    const Combiner& combiner = stage.combiner;
    StrAppend(&text, "reduce ", combiner.name, "(", PrintAxes(stage.reduce_axes), ") ");
    if (IsStockCombiner(combiner.name)) return StrCat(text, Text(stage.body[0]));
    return StrCat(text, PrintList(stage.body), " ", PrintCombiner(combiner));
  }

 private:
  std::string NameOf(TensorId id) const {
    return kernel_.tensors.Contains(id) ? kernel_.tensors[id].name : StrCat("?", id.index());
  }

  std::string Text(const Expr& e) const { return PrintExpr(e, names_); }

  std::string PrintExprs(const std::vector<Expr>& exprs) const {
    return PrintExprList(exprs, names_);
  }

  std::string PrintList(const std::vector<Expr>& exprs) const {
    return StrCat("(", PrintExprs(exprs), ")");
  }

  std::string PrintAxes(const std::vector<Axis>& axes) const {
    return StrJoin(axes, ", ",
                   [&](const Axis& axis) { return StrCat(axis.name, "<", Text(axis.extent)); });
  }

  std::string PrintTensor(const KernelTensor& tensor) const {
    std::string text = StrCat("%", tensor.name, ": ",
                              PrintTensorText({tensor.dtype, tensor.shape, tensor.layout}));
    if (!tensor.strides.empty()) StrAppend(&text, " strides [", PrintExprs(tensor.strides), "]");
    return text;
  }

  static std::string_view RoleName(TensorRole role) {
    switch (role) {
      case TensorRole::kInput: return "in";
      case TensorRole::kConstant: return "const";
      case TensorRole::kOutput: return "out";
      case TensorRole::kTemp: return "temp";
    }
    return "?";
  }

  // On one line where that fits, else a parameter a line.
  std::string Header() const {
    auto param = [&](TensorId id) {
      const KernelTensor& tensor = kernel_.tensors[id];
      return StrCat(RoleName(tensor.role), " ", PrintTensor(tensor));
    };
    std::string start = StrCat("kernel @", kernel_.name, "(");
    std::string line = StrCat(start, StrJoin(kernel_.params, ", ", param), ")");
    if (line.size() + 2 <= kLineWidth) return line;
    return StrCat(start, "\n    ", StrJoin(kernel_.params, ",\n    ", param), ")");
  }

  const Kernel& kernel_;
  TensorNames names_;
};

}  // namespace

std::string PrintKernel(const Kernel& kernel) { return Printer(kernel).Print(); }

std::string PrintKernelWithoutNames(Kernel kernel) {
  kernel.name = "kernel";
  kernel.sources.clear();
  for (TensorId id : kernel.tensors.ids()) kernel.tensors[id].name = StrCat("t", id.index());
  return PrintKernel(kernel);
}

std::string KernelHash(const Kernel& kernel) {
  constexpr size_t kDigits = 16;
  return Sha256Hex(PrintKernelWithoutNames(kernel)).substr(0, kDigits);
}

std::string PrintCombiner(const Combiner& combiner) {
  return StrCat("identity (", PrintExprList(combiner.identity), ") combine (",
                PrintExprList(combiner.combine), ")");
}

std::string PrintStages(const Kernel& kernel) {
  Printer printer(kernel);
  return StrJoin(kernel.stages, "\n",
                 [&](const Stage& stage) { return printer.PrintStage(stage); });
}

}  // namespace aotc
