// Einsum: any equation over any number of operands.
//
// Two operands give the one form of a contraction; the axes of an ellipsis broadcast.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// An axis's letter, or kEllipsis + its distance from the last axis of the ellipsis.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

absl::Status BadEquation(std::string_view why) {
  return AOTC_REFUSAL(InvalidArgument, StrCat("the equation ", why));
}

struct Equation {
  std::vector<std::string> terms = {};  // "i...j", one per operand
  std::optional<std::string> result = {};
};

Equation SplitEquation(std::string_view text) {
  std::string dense;
  for (char c : text) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) dense += c;
  }
  Equation equation;
  const size_t arrow = dense.find("->");
  if (arrow != std::string::npos) equation.result = dense.substr(arrow + 2);
  std::string terms = dense.substr(0, arrow);
  for (size_t comma = terms.find(','); comma != std::string::npos; comma = terms.find(',')) {
    equation.terms.push_back(terms.substr(0, comma));
    terms.erase(0, comma + 1);
  }
  equation.terms.push_back(terms);
  return equation;
}

// The labels of a term whose ellipsis, if it has one, stands for `ellipsis_rank` axes.
absl::StatusOr<Labels> LabelsOf(const std::string& term, int ellipsis_rank) {
  Labels labels;
  bool ellipsis = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (absl::ascii_isalpha(static_cast<unsigned char>(term[i]))) {
      labels.push_back(static_cast<unsigned char>(term[i]));
    } else if (term.compare(i, 3, "...") == 0 && !ellipsis) {
      for (int k = ellipsis_rank; k-- > 0;) labels.push_back(kEllipsis + k);
      ellipsis = true;
      i += 2;
    } else {
      return BadEquation(StrCat("holds '", term.substr(i, 1), "' where a letter is due"));
    }
  }
  return labels;
}

class Builder {
 public:
  explicit Builder(OpContext& op) : op_(op) {}

  absl::Status Run() {
    const Equation equation = SplitEquation(op_.attributes().String("equation"));
    AOTC_RETURN_IF_ERROR(ReadOperands(equation));
    AOTC_RETURN_IF_ERROR(ChooseResult(equation));
    op_.SetOutput(0, op_.b().Convert(Sums(), operands_[0].dtype()));
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOperands(const Equation& equation) {
    if (equation.terms.size() != op_.InputCount()) {
      return BadEquation(
          StrCat("has ", equation.terms.size(), " terms for ", op_.InputCount(), " operands"));
    }
    for (size_t k = 0; k < equation.terms.size(); ++k) {
      AOTC_ASSIGN_OR_RETURN(Tensor x, op_.Input(k));
      operands_.push_back(x);
      const std::string& term = equation.terms[k];
      const auto letters = std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; });
      const bool ellipsis = term.find("...") != std::string::npos;
      const int hidden = ellipsis ? x.rank() - static_cast<int>(letters) : 0;
      AOTC_ASSIGN_OR_RETURN(Labels labels, LabelsOf(term, hidden));
      if (static_cast<int>(labels.size()) != x.rank()) {
        return BadEquation(StrCat("has the term '", term, "' for an operand of rank ", x.rank()));
      }
      ellipsis_rank_ = std::max(ellipsis_rank_, hidden);
      AOTC_RETURN_IF_ERROR(AddDims(x, labels));
      labels_.push_back(std::move(labels));
    }
    AOTC_RETURN_IF_ERROR(RequireSameType(operands_));
    return RequireNumber(operands_[0]);
  }

  absl::Status AddDims(const Tensor& x, const Labels& labels) {
    for (size_t d = 0; d < labels.size(); ++d) {
      Expr& common = dims_.try_emplace(labels[d], Expr(1)).first->second;
      const Expr& dim = x.shape()[d];
      if (dim.IsInt(1)) continue;
      if (common.IsInt(1)) {
        common = dim;
        continue;
      }
      AOTC_RETURN_IF_ERROR(
          op_.RequireEqual(common, dim, "the equation gives one letter to axes of different dims"));
    }
    return absl::OkStatus();
  }

  // The stated labels; else those of the ellipsis, then in order the letters that occur once.
  absl::Status ChooseResult(const Equation& equation) {
    if (equation.result) {
      AOTC_ASSIGN_OR_RETURN(result_, LabelsOf(*equation.result, ellipsis_rank_));
    } else {
      std::map<Label, int> uses;
      for (const Labels& labels : labels_) {
        for (Label label : labels) ++uses[label];
      }
      for (int k = ellipsis_rank_; k-- > 0;) result_.push_back(kEllipsis + k);
      for (const auto& [label, count] : uses) {
        if (label < kEllipsis && count == 1) result_.push_back(label);
      }
    }
    std::set<Label> seen;
    for (Label label : result_) {
      if (dims_.count(label) == 0) return BadEquation("has a result letter that no term has");
      if (!seen.insert(label).second) return BadEquation("has a result letter twice");
    }
    for (const auto& [label, dim] : dims_) {
      if (seen.count(label) == 0) summed_.push_back(label);
    }
    return absl::OkStatus();
  }

  Shape DimsOf(const Labels& labels) const {
    Shape shape;
    for (Label label : labels) shape.push_back(dims_.at(label));
    return shape;
  }

  // An operand's element at the axes of the result and the summed ones.
  Expr Element(size_t operand, const Indices& i, const Indices& r) const {
    std::map<Label, Expr> at;
    for (size_t d = 0; d < result_.size(); ++d) at[result_[d]] = i[d];
    for (size_t d = 0; d < summed_.size(); ++d) at[summed_[d]] = r[d];
    const Tensor& x = operands_[operand];
    Indices indices;
    for (size_t d = 0; d < labels_[operand].size(); ++d) {
      indices.push_back(x.shape()[d].IsInt(1) ? Expr(0) : at[labels_[operand][d]]);
    }
    return x(indices);
  }

  Tensor Sums() const {
    const Shape shape = DimsOf(result_), reduced = DimsOf(summed_);
    if (operands_.size() == 2) {
      auto element = [this](size_t operand) {
        return
            [this, operand](const Indices& i, const Indices& r) { return Element(operand, i, r); };
      };
      return SumOfProducts(op_.b(), {.accumulator = AccumulatorOf(operands_[0].dtype()),
                                     .shape = shape,
                                     .reduce_shape = reduced,
                                     .left = element(0),
                                     .right = element(1)});
    }
    auto body = [&](const Indices& i, const Indices& r) {
      Expr product = Element(0, i, r);
      for (size_t k = 1; k < operands_.size(); ++k) product = product * Element(k, i, r);
      return product;
    };
    return op_.b().Reduce("sum", ComputeType(operands_[0].dtype()), shape, reduced, body);
  }

  OpContext& op_;
  std::vector<Tensor> operands_;
  std::vector<Labels> labels_;  // of each operand
  int ellipsis_rank_ = 0;
  std::map<Label, Expr> dims_;
  Labels result_, summed_;
};

absl::Status Einsum(OpContext& op) {
  if (op.InputCount() == 0) return AOTC_REFUSAL(InvalidArgument, "needs an operand");
  return Builder(op).Run();
}

constexpr OpDef kOps[] = {
    {.name = "Einsum", .compute = Einsum, .summary = "sums of products, by an equation"},
};

}  // namespace

std::span<const OpDef> EinsumOps() { return kOps; }

}  // namespace aotc
