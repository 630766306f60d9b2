#include "compiler/ir/kernel_bounds.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_set.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/simplifier.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Corners are tried for this many variables; the others stay at their least value.
constexpr size_t kMaxCornerVars = 12;

using ExprSet = absl::flat_hash_set<Expr, ExprHash, ExprSame>;

class Checker {
 public:
  Checker(const Kernel& kernel, const Stage& stage, LoadedIndices loaded)
      : kernel_(kernel), stage_(stage), loaded_(loaded), bounds_(StageBounds(kernel, stage)) {}

  std::string Check(const Expr& e) {
    if (IsFound(e)) return "";
    std::string complaint = CheckAnew(e);
    if (complaint.empty()) inside_.back().insert(e);
    return complaint;
  }

 private:
  // Where fewer guards hold it is found no easier.
  bool IsFound(const Expr& e) const {
    return std::ranges::any_of(inside_, [&](const auto& found) { return found.contains(e); });
  }

  std::string CheckAnew(const Expr& e) {
    if (e.op() == ExprOp::kLoad) return CheckLoad(e);
    if (e.op() == ExprOp::kSelect) {
      std::string complaint = Check(e.arg(0));
      if (complaint.empty()) complaint = CheckUnder(e.arg(0), e.arg(1));
      return complaint.empty() ? CheckUnder(Not(e.arg(0)), e.arg(2)) : complaint;
    }
    if (e.op() == ExprOp::kAnd || e.op() == ExprOp::kOr) {
      std::string complaint = Check(e.arg(0));
      if (!complaint.empty()) return complaint;
      return CheckUnder(e.op() == ExprOp::kAnd ? e.arg(0) : Not(e.arg(0)), e.arg(1));
    }
    return CheckArgs(e);
  }

  std::string CheckArgs(const Expr& e) {
    for (const Expr& arg : e.args()) {
      if (std::string complaint = Check(arg); !complaint.empty()) return complaint;
    }
    return "";
  }

  std::string CheckUnder(const Expr& guard, const Expr& e) {
    if (LoadsOf(e).empty()) return "";
    guards_.push_back(guard);
    inside_.emplace_back();
    Bounds before = bounds_;
    bounds_.AddFact(guard);
    std::string complaint = Check(e);
    bounds_ = before;
    inside_.pop_back();
    guards_.pop_back();
    return complaint;
  }

  std::string CheckLoad(const Expr& load) {
    std::string complaint = CheckArgs(load);
    const Shape& shape = kernel_.tensors[load->tensor].shape;
    for (size_t i = 0; i < shape.size() && complaint.empty(); ++i) {
      if (!IsInside(load.arg(i), shape[i])) complaint = TryCorners(load, i);
    }
    return complaint;
  }

  bool IsInside(const Expr& index, const Expr& dim) const {
    if (!LoadsOf(index).empty()) {
      return loaded_ == LoadedIndices::kAreTrusted || Prove(Lt(0, dim), bounds_).value_or(false);
    }
    return Prove(And(Le(0, index), Lt(index, dim)), bounds_).value_or(false);
  }

  // Walks over the least and greatest values of the first variables, symbols before the axes whose
  // extents they are.
  std::string TryCorners(const Expr& load, size_t axis) const {
    size_t vars = kernel_.symbols.size() + stage_.axes.size() + stage_.reduce_axes.size();
    size_t corners = size_t{1} << std::min(vars, kMaxCornerVars);
    for (size_t corner = 0; corner < corners; ++corner) {
      std::optional<SymbolValues> values = ValuesAt(corner);
      if (values && IsReached(*values) && IsOutside(load, axis, *values)) {
        return Describe(load, *values);
      }
    }
    return "";
  }

  // Nothing where an axis is empty, or where a check refuses the symbols.
  std::optional<SymbolValues> ValuesAt(size_t corner) const {
    SymbolValues values;
    size_t bit = 0;
    auto greatest = [&] {
      bool is_greatest = bit < kMaxCornerVars && (corner >> bit & 1) != 0;
      ++bit;
      return is_greatest;
    };
    for (const Symbol& symbol : kernel_.symbols) {
      values[symbol.var] = greatest() ? symbol.max : symbol.min;
    }
    if (!MayOccur(kernel_.symbols, values)) return std::nullopt;
    for (const std::vector<Axis>* axes : {&stage_.axes, &stage_.reduce_axes}) {
      for (const Axis& axis : *axes) {
        std::optional<int64_t> extent = EvaluateInt(axis.extent, values);
        if (!extent || *extent <= 0) return std::nullopt;
        values[axis.name] = greatest() ? *extent - 1 : 0;
      }
    }
    return values;
  }

  bool IsReached(const SymbolValues& values) const {
    for (const Expr& guard : guards_) {
      if (EvaluateInt(guard, values).value_or(0) == 0) return false;
    }
    return true;
  }

  bool IsOutside(const Expr& load, size_t axis, const SymbolValues& values) const {
    std::optional<int64_t> index = EvaluateInt(load.arg(axis), values);
    std::optional<int64_t> dim = EvaluateInt(kernel_.tensors[load->tensor].shape[axis], values);
    return dim && (*dim <= 0 || (index && (*index < 0 || *index >= *dim)));
  }

  std::string Describe(const Expr& load, const SymbolValues& values) const {
    auto name = [&](TensorId id) { return kernel_.tensors[id].name; };
    std::string place = StrJoin(
        values, ", ", [](const auto& value) { return StrCat(value.first, "=", value.second); });
    return StrCat(PrintExpr(load, name), " leaves its tensor at ", place);
  }

  const Kernel& kernel_;
  const Stage& stage_;
  const LoadedIndices loaded_;
  Bounds bounds_;
  std::vector<Expr> guards_;
  // Under none of the guards, under the first, under the first two ...: what reads nothing outside.
  std::vector<ExprSet> inside_ = {{}};
};

}  // namespace

std::string FindLoadOutOfBounds(const Kernel& kernel, const Stage& stage, const Expr& body,
                                LoadedIndices loaded) {
  return Checker(kernel, stage, loaded).Check(body);
}

}  // namespace aotc
