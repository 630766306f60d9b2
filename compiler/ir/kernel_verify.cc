// The checks that every kernel passes: structure, types, and loads in bounds.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/kernel_bounds.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), defined_(kernel.tensors.size(), false) {}

  absl::Status Run() {
    CheckNames();
    CheckTensors();
    CheckParams();
    for (const Stage& stage : kernel_.stages) {
      // What follows reads through the ids that this checks.
      if (CheckResults(stage)) CheckStage(stage);
    }
    for (TensorId id : kernel_.tensors.ids()) {
      const KernelTensor& tensor = kernel_.tensors[id];
      if (!defined_[id]) Complain(StrCat("%", tensor.name, " is never defined"));
    }
    return Result();
  }

  absl::Status RunOnNames() {
    CheckNames();
    return Result();
  }

 private:
  absl::Status Result() const {
    if (complaints_.empty()) return absl::OkStatus();
    return absl::InternalError(StrCat("kernel @", kernel_.name, ": ", StrJoin(complaints_, "; ")));
  }

  void Complain(std::string text) { complaints_.push_back(std::move(text)); }
  void Require(bool condition, const std::string& text) {
    if (!condition) Complain(text);
  }

  void CheckNames() {
    std::set<std::string> names;
    for (const KernelTensor& tensor : kernel_.tensors) {
      Require(names.insert(tensor.name).second, StrCat("%", tensor.name, " is declared twice"));
    }
  }

  void CheckTensors() {
    std::set<std::string> symbols;
    for (const Symbol& symbol : kernel_.symbols) {
      Require(symbols.insert(symbol.var).second,
              StrCat("symbol ", symbol.var, " is declared twice"));
      Require(symbol.min <= symbol.max, StrCat("symbol ", symbol.var, " has an empty range"));
      Require(!symbol.value.valid(), StrCat("symbol ", symbol.var, " has a value"));
    }
    for (const Symbol& symbol : kernel_.symbols) {
      for (const SizeCheck& check : symbol.checks) {
        CheckFree(check.holds, symbols, StrCat("a check of ", symbol.var));
      }
    }
    for (TensorId id : kernel_.tensors.ids()) {
      const KernelTensor& tensor = kernel_.tensors[id];
      for (const Expr& dim : tensor.shape)
        CheckFree(dim, symbols, StrCat("a dim of %", tensor.name));
      bool reads = tensor.role == TensorRole::kInput || tensor.role == TensorRole::kConstant;
      defined_[id] = reads;
    }
  }

  // Inputs, constants and outputs are parameters, each once; temps are not.
  void CheckParams() {
    std::set<TensorId> params;
    for (TensorId id : kernel_.params) {
      if (!kernel_.tensors.Contains(id)) return Complain("a parameter is no tensor of the kernel");
      Require(params.insert(id).second, StrCat("%", Name(id), " is a parameter twice"));
    }
    for (TensorId id : kernel_.tensors.ids()) {
      bool is_temp = kernel_.tensors[id].role == TensorRole::kTemp;
      Require(params.contains(id) != is_temp,
              StrCat("%", Name(id), is_temp ? " is temp but a parameter" : " is not a parameter"));
    }
  }

  bool CheckResults(const Stage& stage) {
    size_t count = stage.results.size();
    if (count == 0 || stage.body.size() != count) {
      Complain(StrCat("a stage has ", count, " results and ", stage.body.size(), " bodies"));
      return false;
    }
    const Combiner& combiner = stage.combiner;
    bool complete = combiner.identity.size() == count && combiner.combine.size() == count;
    if (stage.IsReduction() && !complete) {
      Complain("a combiner has not as many components as the stage has results");
      return false;
    }
    for (const StageResult& result : stage.results) {
      bool in_range =
          0 <= result.axis_count && static_cast<size_t>(result.axis_count) <= stage.axes.size();
      if (kernel_.tensors.Contains(result.tensor) && in_range) continue;
      Complain("a result is no tensor of the kernel, or has more axes than its stage");
      return false;
    }
    return true;
  }

  void CheckStage(const Stage& stage) {
    std::set<std::string> names = CheckAxes(stage);
    Bounds bounds = StageBounds(kernel_, stage);
    for (size_t i = 0; i < stage.results.size(); ++i) {
      std::string place = StrCat("%", Name(stage.results[i].tensor));
      CheckShape(stage, stage.results[i], bounds);
      CheckFree(stage.body[i], names, StrCat("the body of ", place));
      if (!CheckLoads(stage.body[i], place)) continue;
      std::string outside = FindLoadOutOfBounds(kernel_, stage, stage.body[i]);
      Require(outside.empty(), StrCat("in ", place, ": ", outside));
    }
    if (stage.IsReduction()) CheckCombiner(stage);
    for (size_t i = 0; i < stage.results.size(); ++i) {
      TensorId id = stage.results[i].tensor;
      DType dtype = kernel_.tensors[id].dtype, body = stage.body[i].dtype();
      Require(dtype == body, StrCat("%", Name(id), " is ", DTypeName(dtype), " but its body is ",
                                    DTypeName(body)));
      Require(!defined_[id], StrCat("%", Name(id), " is defined twice, or is no result"));
      defined_[id] = true;
    }
  }

  // Gives all names that a body may use.
  std::set<std::string> CheckAxes(const Stage& stage) {
    std::set<std::string> names, symbols;
    for (const Symbol& symbol : kernel_.symbols) symbols.insert(symbol.var);
    names = symbols;
    for (const std::vector<Axis>* axes : {&stage.axes, &stage.reduce_axes}) {
      for (const Axis& axis : *axes) {
        CheckFree(axis.extent, symbols, StrCat("the extent of ", axis.name));
        Require(names.insert(axis.name).second, StrCat("axis ", axis.name, " is declared twice"));
      }
    }
    return names;
  }

  void CheckShape(const Stage& stage, const StageResult& result, const Bounds& bounds) {
    const KernelTensor& tensor = kernel_.tensors[result.tensor];
    bool same = tensor.shape.size() == static_cast<size_t>(result.axis_count);
    for (size_t i = 0; same && i < tensor.shape.size(); ++i) {
      same = ProveEqual(tensor.shape[i], stage.axes[i].extent, bounds);
    }
    Require(same, StrCat("the axes of %", tensor.name, " are not its shape"));
  }

  void CheckCombiner(const Stage& stage) {
    const Combiner& combiner = stage.combiner;
    std::set<std::string> names;
    for (size_t i = 0; i < combiner.combine.size(); ++i) {
      names.insert(StrCat("a", i));
      names.insert(StrCat("b", i));
    }
    for (size_t i = 0; i < combiner.combine.size(); ++i) {
      CheckFree(combiner.combine[i], names, "a combiner");
      CheckFree(combiner.identity[i], {}, "an identity");
      DType dtype = stage.body[i].dtype();
      bool same = combiner.combine[i].dtype() == dtype && combiner.identity[i].dtype() == dtype;
      Require(same, StrCat("the combiner of %", Name(stage.results[i].tensor), " is not ",
                           DTypeName(dtype)));
    }
  }

  void CheckFree(const Expr& e, const std::set<std::string>& names, const std::string& place) {
    for (const std::string& name : FreeVars(e)) {
      Require(names.contains(name), StrCat("unknown variable ", name, " in ", place));
    }
  }

  // Ranks, dtypes and the order of definition; true where nothing was wrong.
  bool CheckLoads(const Expr& body, const std::string& place) {
    size_t before = complaints_.size();
    for (const Expr& load : LoadsOf(body)) {
      TensorId id = load->tensor;
      if (!kernel_.tensors.Contains(id)) {
        Complain(StrCat("the body of ", place, " loads no tensor of the kernel"));
        continue;
      }
      const KernelTensor& tensor = kernel_.tensors[id];
      Require(defined_[id], StrCat(place, " reads %", tensor.name, " before it is defined"));
      Require(load.dtype() == tensor.dtype,
              StrCat(place, " reads %", tensor.name, " as ", DTypeName(load.dtype())));
      Require(load.args().size() == tensor.shape.size(),
              StrCat(place, " reads %", tensor.name, " with ", load.args().size(), " indices"));
      bool whole = std::all_of(load.args().begin(), load.args().end(),
                               [](const Expr& index) { return index.dtype() == DType::kI64; });
      Require(whole, StrCat(place, " reads %", tensor.name, " at an index that is not i64"));
    }
    return complaints_.size() == before;
  }

  const std::string& Name(TensorId id) const { return kernel_.tensors[id].name; }

  const Kernel& kernel_;
  IdVector<TensorId, char> defined_;
  std::vector<std::string> complaints_;
};

}  // namespace

absl::Status VerifyKernel(const Kernel& kernel) { return Verifier(kernel).Run(); }

absl::Status KernelVerifier::Verify(const Kernel& kernel) {
  std::string text = PrintKernelWithoutNames(kernel);
  if (verified_.contains(text)) return Verifier(kernel).RunOnNames();
  AOTC_RETURN_IF_ERROR(VerifyKernel(kernel));
  verified_.insert(std::move(text));
  return absl::OkStatus();
}

}  // namespace aotc
