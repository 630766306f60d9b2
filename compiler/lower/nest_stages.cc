#include "compiler/lower/nest_stages.h"

#include <string>
#include <utility>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The value over lanes, or itself where there are none.
std::optional<Expr> OverLanes(const Expr& e, const Lanes* lanes, const Bounds& bounds) {
  if (lanes == nullptr) return e;
  return VectorizeExpr(e, *lanes, bounds);
}

// acc = combine(acc, element) for all components at once.
std::optional<std::vector<Stmt>> Accumulate(const FlatStage& stage,
                                            const std::vector<Expr>& accumulators,
                                            const std::vector<Expr>& elements, const Lanes* lanes,
                                            const Bounds& bounds) {
  Substitution operands;
  Lanes inner = lanes == nullptr ? Lanes{} : *lanes;
  std::vector<Stmt> body;
  for (size_t k = 0; k < elements.size(); ++k) {
    operands[StrCat("a", k)] = Var(accumulators[k]->name, accumulators[k].dtype());
    if (elements.size() == 1) {
      operands["b0"] = elements[0];
    } else {
      const std::string name = StrCat(accumulators[k]->name, "_element");
      std::optional<Expr> element = OverLanes(elements[k], lanes, bounds);
      if (!element) return std::nullopt;
      body.push_back(Let(name, *element));
      operands[StrCat("b", k)] = Var(name, elements[k].dtype());
      inner.vectors[name] = VectorVar(name, elements[k].dtype(), inner.count);
    }
  }
  std::vector<Stmt> assigns;
  for (size_t k = 0; k < elements.size(); ++k) {
    const Expr combined = Substitute(stage.combiner.combine[k], operands);
    std::optional<Expr> value = OverLanes(combined, lanes == nullptr ? nullptr : &inner, bounds);
    if (!value) return std::nullopt;
    if (elements.size() == 1) {
      body.push_back(Assign(accumulators[k]->name, *value));
    } else {
      const std::string name = StrCat(accumulators[k]->name, "_next");
      body.push_back(Let(name, *value));
      assigns.push_back(
          Assign(accumulators[k]->name, VectorVar(name, value->dtype(), value->lanes())));
    }
  }
  body.insert(body.end(), assigns.begin(), assigns.end());
  return body;
}

std::vector<Stmt> LoopsOver(const std::vector<Axis>& axes, std::vector<Stmt> body) {
  for (size_t i = axes.size(); i-- > 0;) {
    body = {For(axes[i].name, 0, axes[i].extent, std::move(body))};
  }
  return body;
}

// The stored form of a result's value: padding lanes hold zero.
Expr StoredValue(const Nest& nest, const FlatResult& result, const Expr& value) {
  Expr stored = value;
  if (nest.valid.valid()) stored = Select(nest.valid, value, NumberConst(0, value.dtype()));
  return Cast(result.dtype, stored);
}

class PointWriter {
 public:
  PointWriter(const Nest& nest, const Lanes* lanes) : nest_(nest), outer_lanes_(lanes) {
    if (lanes != nullptr) lanes_ = *lanes;
  }

  std::optional<std::vector<Stmt>> Run() {
    for (const FlatStage& stage : nest_.stages) {
      if (!Write(stage)) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  const Lanes* LanesOrNull() const { return outer_lanes_ == nullptr ? nullptr : &lanes_; }

  bool Write(const FlatStage& stage) {
    if (!stage.over.empty()) return Statistic(stage);
    return stage.reduce.empty() ? Pointwise(stage) : Reduction(stage);
  }

  bool Pointwise(const FlatStage& stage) {
    const Bounds bounds = StageBounds(nest_, stage);
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      const Expr point = InVariable(stage.bodies[k]);
      std::optional<Expr> value = OverLanes(point, LanesOrNull(), bounds);
      if (!value && IsSharedIndex(point, stage.results[k])) {
        out_.push_back(Let(stage.results[k].variable, point));
        continue;
      }
      if (!value) return false;
      out_.push_back(Let(stage.results[k].variable, *value));
      if (!Define(stage.results[k], value->dtype())) return false;
    }
    return true;
  }

  // An i64 that later stages alone read, the same in all lanes: stays a scalar.
  bool IsSharedIndex(const Expr& value, const FlatResult& result) const {
    return value.dtype() == DType::kI64 && !result.index.valid() && !DependsOnLane(value, lanes_);
  }

  bool Reduction(const FlatStage& stage) {
    const Bounds bounds = StageBounds(nest_, stage);
    std::vector<Expr> accumulators;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      const std::string& name = stage.results[k].variable;
      std::optional<Expr> identity = OverLanes(stage.combiner.identity[k], LanesOrNull(), bounds);
      if (!identity) return false;
      out_.push_back(Declare(name, *identity));
      accumulators.push_back(VectorVar(name, identity->dtype(), identity->lanes()));
      lanes_.vectors[name] = accumulators.back();
    }
    auto body = Accumulate(stage, accumulators, stage.bodies, LanesOrNull(), bounds);
    if (!body) return false;
    for (Stmt& loop : LoopsOver(stage.reduce, *std::move(body))) out_.push_back(std::move(loop));
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      if (!Define(stage.results[k], accumulators[k].dtype())) return false;
    }
    return true;
  }

  // Takes the point (or lanes of points) into the accumulators; what only pads counts as nothing.
  bool Statistic(const FlatStage& stage) {
    if (outer_lanes_ != nullptr && !CombinesLanes(stage)) return false;
    Expr exists = nest_.valid;
    if (outer_lanes_ != nullptr && lanes_.active.valid()) {
      const Expr test = Lt(Var(lanes_.var), lanes_.first + lanes_.active);
      exists = exists.valid() ? And(exists, test) : test;
    }
    std::vector<Expr> accumulators, elements;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      const Expr& body = stage.bodies[k];
      const Expr& identity = stage.combiner.identity[k];
      elements.push_back(exists.valid() ? Select(exists, body, identity) : body);
      const std::string& name = stage.results[k].variable;
      accumulators.push_back(VectorVar(name, identity.dtype(), lanes_.count));
      lanes_.vectors[name] = accumulators.back();
    }
    auto body = Accumulate(stage, accumulators, elements, LanesOrNull(), nest_.bounds);
    if (!body) return false;
    for (Stmt& stmt : *body) out_.push_back(std::move(stmt));
    return true;
  }

  // Makes the variable known to later stages and stores it where the result is an output.
  bool Define(const FlatResult& result, DType dtype) {
    lanes_.vectors[result.variable] = VectorVar(result.variable, dtype, lanes_.count);
    if (!result.index.valid()) return true;
    const Expr value = StoredValue(nest_, result, Var(result.variable, dtype));
    if (outer_lanes_ == nullptr) {
      out_.push_back(Store(result.tensor, result.index, value));
      return true;
    }
    std::optional<Expr> vector = VectorizeExpr(value, lanes_, nest_.bounds);
    std::optional<Affine> index = AsAffine(result.index, {lanes_.var}, nest_.bounds);
    if (!vector || !index || !index->coefficients[lanes_.var].valid() ||
        !index->coefficients[lanes_.var].IsInt(1)) {
      return false;
    }
    const Expr first = Simplify(index->rest + lanes_.first, nest_.bounds);
    out_.push_back(Store(result.tensor, first, *vector, lanes_.active));
    return true;
  }

  const Nest& nest_;
  const Lanes* outer_lanes_;
  Lanes lanes_;
  std::vector<Stmt> out_;
};

}  // namespace

Expr InVariable(const Expr& value) {
  const bool rounds = value.op() == ExprOp::kCast && ComputeType(value.dtype()) != value.dtype();
  const Expr& exact = rounds ? value.arg(0) : value;
  return Cast(ComputeType(exact.dtype()), exact);
}

Expr WithBitsOfStored(const Expr& e, const std::function<bool(TensorId)>& becomes_variable) {
  return Transform(e, [&](const Expr& node) {
    if (node.op() != ExprOp::kBitCast) return node;
    const Expr& x = node.arg(0);
    if (x.op() != ExprOp::kLoad || !becomes_variable(x->tensor)) return node;
    return WithArgs(node, {Cast(x.dtype(), Cast(ComputeType(x.dtype()), x))});
  });
}

std::optional<std::vector<Stmt>> PointStatements(const Nest& nest, const Lanes* lanes) {
  if (lanes == nullptr && PaddingReadsBeyond(nest)) {
    return PointWriter(GuardPadding(nest), lanes).Run();
  }
  return PointWriter(nest, lanes).Run();
}

Nest StagesBehind(Nest nest, const Substitution& at, const Bounds& bounds) {
  nest.bounds = bounds;
  const FlatResult first = nest.stages[0].results[0];
  const DType dtype = nest.stages[0].bodies[0].dtype();
  nest.stages.erase(nest.stages.begin());
  if (first.index.valid()) {
    FlatStage copy{.bodies = {Var(first.variable, dtype)}, .results = {first}};
    copy.results[0].variable += "_stored";
    nest.stages.insert(nest.stages.begin(), std::move(copy));
  }
  const auto place = [&](Expr& e) {
    if (e.valid()) e = Simplify(Substitute(e, at), bounds);
  };
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) place(body);
    for (FlatResult& result : stage.results) place(result.index);
  }
  place(nest.valid);
  place(nest.padded);
  return nest;
}

}  // namespace aotc
