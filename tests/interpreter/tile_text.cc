#include "tests/interpreter/tile_text.h"

#include <algorithm>
#include <utility>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/interpreter/lane_ops.h"

namespace aotc {
namespace {

// The load under conversions that keep the value.
const Expr& UnderWidening(const Expr& e) {
  const bool widens = e.op() == ExprOp::kCast && IsFloat(e.arg(0).dtype()) == IsFloat(e.dtype()) &&
                      ByteWidth(e.arg(0).dtype()) < ByteWidth(e.dtype());
  return widens ? UnderWidening(e.arg(0)) : e;
}

// How far apart neighbours along each of `axes` lie in a row-major tensor that they index.
std::vector<int64_t> StridesAlong(const std::vector<size_t>& axes,
                                  const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 0);
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    strides[axes[i]] += stride;
    stride *= extents[axes[i]];
  }
  return strides;
}

// Calls visit(offset of a, offset of b) for each position along axes first .. end - 1.
template <class Visit>
void ForPositions(const std::vector<int64_t>& extents, size_t first, size_t end,
                  const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t at_a,
                  int64_t at_b, const Visit& visit) {
  if (first == end) return visit(at_a, at_b);
  for (int64_t i = 0; i < extents[first]; ++i) {
    ForPositions(extents, first + 1, end, a, b, at_a + i * a[first], at_b + i * b[first], visit);
  }
}

int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

}  // namespace

TileText::TileText(Kernel kernel) : kernel_(std::move(kernel)) {
  if (kernel_.stages.size() == 1) product_ = ProductOf(kernel_.stages[0]);
}

std::optional<TileText::Product> TileText::ProductOf(const Stage& stage) const {
  const bool is_sum = stage.results.size() == 1 && stage.combiner.name == "sum" &&
                      !stage.axes.empty() && stage.body[0].op() == ExprOp::kMul;
  if (!is_sum) return std::nullopt;
  Product product;
  for (size_t side = 0; side < 2; ++side) {
    const Expr& load = UnderWidening(stage.body[0].arg(side));
    if (load.op() != ExprOp::kLoad) return std::nullopt;
    const auto param = std::ranges::find(kernel_.params, load->tensor);
    product.inputs[side] = static_cast<size_t>(param - kernel_.params.begin());
    for (const Expr& index : load.args()) {
      std::vector<Axis> axes = stage.axes;
      axes.insert(axes.end(), stage.reduce_axes.begin(), stage.reduce_axes.end());
      const auto axis = std::ranges::find_if(
          axes, [&](const Axis& a) { return index.IsVar() && index->name == a.name; });
      if (axis == axes.end()) return std::nullopt;
      product.axes[side].push_back(static_cast<size_t>(axis - axes.begin()));
    }
  }
  return product;
}

absl::Status TileText::CheckSymbols(const SymbolValues& symbols) const {
  for (const Symbol& symbol : kernel_.symbols) {
    const auto found = symbols.find(symbol.var);
    if (found == symbols.end()) {
      return absl::InternalError(StrCat(kernel_.name, " is not told ", symbol.var));
    }
    if (symbol.min <= found->second && found->second <= symbol.max) continue;
    return absl::InternalError(StrCat(kernel_.name, " is called with ", symbol.var, " = ",
                                      found->second, ", not ", symbol.min, "..", symbol.max));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> TileText::DimsOf(size_t operand,
                                                      const SymbolValues& symbols) const {
  std::vector<int64_t> dims;
  for (const Expr& extent : this->operand(operand).shape) {
    const std::optional<int64_t> dim = EvaluateInt(extent, symbols);
    if (!dim) return absl::InternalError(StrCat(kernel_.name, " has an unknown extent"));
    dims.push_back(*dim);
  }
  return dims;
}

absl::StatusOr<std::vector<Lane>> TileText::Compute(const std::vector<std::vector<Lane>>& inputs,
                                                    const SymbolValues& symbols) const {
  return product_ ? Multiply(inputs, symbols) : Evaluate(inputs, symbols);
}

std::vector<Lane> TileText::Multiply(const std::vector<std::vector<Lane>>& inputs,
                                     const SymbolValues& symbols) const {
  return IsFloat(kernel_.stages[0].body[0].dtype()) ? MultiplyAs(&Lane::f, inputs, symbols)
                                                    : MultiplyAs(&Lane::i, inputs, symbols);
}

// A row of the result at a time, along its last axis.
template <class T>
std::vector<Lane> TileText::MultiplyAs(T Lane::* member,
                                       const std::vector<std::vector<Lane>>& inputs,
                                       const SymbolValues& symbols) const {
  const Stage& stage = kernel_.stages[0];
  std::vector<int64_t> extents;
  for (const Axis& axis : stage.axes) extents.push_back(*EvaluateInt(axis.extent, symbols));
  const size_t column = extents.size() - 1;
  for (const Axis& axis : stage.reduce_axes) {
    extents.push_back(*EvaluateInt(axis.extent, symbols));
  }
  const std::vector<Lane>& a = inputs[product_->inputs[0]];
  const std::vector<Lane>& b = inputs[product_->inputs[1]];
  const std::vector<int64_t> a_strides = StridesAlong(product_->axes[0], extents);
  const std::vector<int64_t> b_strides = StridesAlong(product_->axes[1], extents);
  const int64_t columns = extents[column], a_step = a_strides[column], b_step = b_strides[column];
  const DType dtype = operand(this->inputs()).dtype;
  std::vector<Lane> result;
  std::vector<T> sums(static_cast<size_t>(columns));
  const auto add = [&](int64_t at_a, int64_t at_b) {
    for (int64_t n = 0; n < columns; ++n) {
      const T product = a[static_cast<size_t>(at_a + n * a_step)].*member *
                        b[static_cast<size_t>(at_b + n * b_step)].*member;
      sums[static_cast<size_t>(n)] += product;
    }
  };
  const auto row = [&](int64_t at_a, int64_t at_b) {
    std::fill(sums.begin(), sums.end(), T{0});
    ForPositions(extents, column + 1, extents.size(), a_strides, b_strides, at_a, at_b, add);
    for (const T sum : sums) {
      Lane lane;
      lane.*member = sum;
      result.push_back(CastLane(IsFloat(dtype) ? DType::kF64 : DType::kI64, dtype, lane));
    }
  };
  ForPositions(extents, 0, column, a_strides, b_strides, 0, 0, row);
  return result;
}

absl::StatusOr<std::vector<Lane>> TileText::Evaluate(const std::vector<std::vector<Lane>>& inputs,
                                                     const SymbolValues& symbols) const {
  std::vector<Constant> constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, DimsOf(i, symbols));
    const DType dtype = operand(i).dtype;
    std::vector<uint8_t> bytes(inputs[i].size() * static_cast<size_t>(ByteWidth(dtype)));
    const Memory memory{.dtype = dtype, .data = bytes.data()};
    for (size_t e = 0; e < inputs[i].size(); ++e) {
      StoreLane(memory, static_cast<int64_t>(e), inputs[i][e]);
    }
    constants.push_back(Constant::Dense(dtype, std::move(dims), std::move(bytes)));
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> results,
                        EvaluateKernel(kernel_, constants, symbols));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, DimsOf(this->inputs(), symbols));
  std::vector<Lane> values;
  for (int64_t e = 0; e < CountOf(dims); ++e) {
    const bool is_float = IsFloat(results[0].dtype());
    values.push_back(is_float ? Lane{.f = results[0].FloatAt(e)} : Lane{.i = results[0].IntAt(e)});
  }
  return values;
}

}  // namespace aotc
