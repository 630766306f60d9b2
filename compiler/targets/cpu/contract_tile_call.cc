#include "compiler/targets/cpu/contract_tile_call.h"

#include <optional>
#include <utility>

#include "compiler/emit/c_expr.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Parameters of the epilogue: the accumulator's row and vector of columns in the tile.
constexpr std::string_view kTileRow = "tile_row", kTileVector = "tile_vector";

class TileCallBuilder {
 public:
  TileCallBuilder(const ScheduledContraction& scheduled, const TileSite& site)
      : kernel_(scheduled.kernel),
        c_(scheduled.contraction),
        schedule_(scheduled.schedule),
        isa_(scheduled.isa),
        site_(site) {
    site_.bounds.Add(kTileRow, 0, site.rows - 1);
    site_.bounds.Add(kTileVector, 0, schedule_.vectors - 1);
  }

  absl::StatusOr<Stmt> Build() {
    TileCall call = c_.is_depthwise ? Depthwise() : Matrix();
    AOTC_ASSIGN_OR_RETURN(TileObject epilogue, Epilogue());
    call.args.push_back(std::move(epilogue));
    return Tile(std::move(call));
  }

 private:
  int64_t TileColumns() const { return schedule_.vectors * isa_.lanes; }

  TileCall Matrix() const {
    TileCall call{.function = "aotc_contract_tile", .header = "cpu/contract_tile.h"};
    if (c_.is_integer) call = {"aotc_contract_tile_int8", "cpu/contract_tile_int8.h"};
    call.template_args = {site_.rows, schedule_.vectors};
    constexpr int64_t kFewAccumulators = 8;
    const bool is_small = site_.rows * schedule_.vectors < kFewAccumulators;
    if (is_small && schedule_.split > 1) call.template_args.push_back(schedule_.split);
    call.args.push_back(Rows());
    const Expr weights = Var("panel") * c_.panel_stride + c_.weight_offset +
                         Var("group") * (TileColumns() * c_.column_stride);
    call.args.push_back(TileRecord{c_.is_integer ? "aotc_panel<int8_t>" : "aotc_panel<float>",
                                   {{TilePointer{c_.weights, Simplify(weights, site_.bounds)}}}});
    call.args.push_back(NestRecord());
    return call;
  }

  TileCall Depthwise() const {
    TileCall call{.function = "aotc_depthwise_tile", .header = "cpu/depthwise_tile.h"};
    if (c_.is_integer) call = {"aotc_depthwise_tile_int8", "cpu/depthwise_tile_int8.h"};
    call.template_args = {site_.rows, schedule_.vectors};
    for (const ContractLevel& level : c_.levels)
      call.template_args.push_back(level.extent.AsInt().value_or(0));
    call.template_args.push_back(*c_.row_stride.AsInt());
    const Expr lanes = Var("group") * TileColumns();
    const Expr input = Simplify(InputOffset() + lanes, site_.bounds);
    const std::string element = CElementType(kernel_.tensors[c_.input].dtype);
    const ContractLevel &h = c_.levels[0], &w = c_.levels[1];
    call.args.push_back(TileRecord{
        StrCat("aotc_window<", element, ">"),
        {{TilePointer{c_.input, input}, h.extent, w.extent, h.input_stride, w.input_stride}}});
    const Expr weights = c_.weight_offset + lanes * c_.column_stride;
    call.args.push_back(TileRecord{c_.is_integer ? "aotc_taps<int8_t>" : "aotc_taps<float>",
                                   {{TilePointer{c_.weights, Simplify(weights, site_.bounds)},
                                     h.weight_stride, w.weight_stride}}});
    return call;
  }

  Expr InputOffset() const { return c_.input_offset + site_.first_row * c_.row_stride; }

  TileRecord Rows() const {
    const std::string element = CElementType(kernel_.tensors[c_.input].dtype);
    const TilePointer start = {c_.input, Simplify(InputOffset(), site_.bounds)};
    if (std::optional<int64_t> stride = c_.row_stride.AsInt()) {
      if (c_.is_integer) return {StrCat("aotc_rows_u8<", *stride, ">"), {{start}}};
      return {StrCat("aotc_rows<", element, ", ", *stride, ">"), {{start}}};
    }
    if (c_.is_integer) return {"aotc_rows_u8_strided", {{start, c_.row_stride}}};
    return {StrCat("aotc_rows_strided<", element, ">"), {{start, c_.row_stride}}};
  }

  TileRecord NestRecord() const {
    TileRecord nest{"aotc_nest", {{}, {}, {}}};
    constexpr size_t kLevels = 4;
    for (size_t i = c_.levels.size(); i < kLevels; ++i) {
      nest.groups[0].push_back(Expr(1));
      nest.groups[1].push_back(Expr(0));
      nest.groups[2].push_back(Expr(0));
    }
    for (const ContractLevel& level : c_.levels) {
      nest.groups[0].push_back(level.extent);
      nest.groups[1].push_back(level.input_stride);
      nest.groups[2].push_back(level.weight_stride);
    }
    return nest;
  }

  // The stages after the contraction, for one accumulator vector.
  absl::StatusOr<TileObject> Epilogue() const {
    const FlatResult& accumulator = c_.nest.stages[0].results[0];
    const DType dtype = c_.is_integer ? DType::kI32 : DType::kF32;
    const Expr column =
        Var("panel") * c_.panel + Var("group") * TileColumns() + Var(kTileVector) * isa_.lanes;
    const Nest nest = EpilogueNest(column + Var("lane"));
    Lanes lanes{.var = "lane", .first = 0, .count = isa_.lanes};
    lanes.vectors[accumulator.variable] =
        Expr::Make({.op = ExprOp::kVar, .dtype = dtype, .lanes = isa_.lanes, .name = "acc"});
    LaneRange range{.first = column};
    const int64_t written = RoundUp(c_.columns, c_.panel);
    if (written != c_.stored_columns) range.stored = c_.stored_columns;
    std::optional<std::vector<Stmt>> body = PaddedStatements(nest, lanes, range);
    if (!body) return absl::FailedPreconditionError("the epilogue has no vector form");
    TileFunctor method{.params = {{std::string(kTileRow), DType::kI64},
                                  {std::string(kTileVector), DType::kI64},
                                  {"acc", dtype, isa_.lanes}}};
    method.body = WithAccumulators(nest, *std::move(body));
    return TileObject{.name = "epilogue",
                      .base = c_.is_integer ? "aotc_epilogue_int8" : "aotc_epilogue",
                      .methods = {std::move(method)}};
  }

  // Fetches the row's accumulators before `body` and keeps them behind it.
  std::vector<Stmt> WithAccumulators(const Nest& nest, std::vector<Stmt> body) const {
    if (site_.accumulators.empty()) return body;
    const Expr row = Simplify(site_.task_row + Var(kTileRow), site_.bounds);
    std::vector<Stmt> all, stores;
    size_t next = 0;
    for (const FlatStage& stage : nest.stages) {
      for (size_t k = 0; k < stage.results.size() && !stage.over.empty(); ++k) {
        const TensorId memory = site_.accumulators[next++];
        const std::string& name = stage.results[k].variable;
        const Expr value = LoadAccumulators(memory, row, isa_.lanes);
        all.push_back(Declare(name, value));
        const Expr variable = Expr::Make(
            {.op = ExprOp::kVar, .dtype = value.dtype(), .lanes = isa_.lanes, .name = name});
        stores.push_back(Store(memory, value.arg(0), variable));
      }
    }
    for (Stmt& stmt : body) all.push_back(std::move(stmt));
    for (Stmt& stmt : stores) all.push_back(std::move(stmt));
    return all;
  }

  Nest EpilogueNest(const Expr& column) const {
    Nest nest = c_.nest;
    nest.bounds = site_.bounds;
    Substitution at = ColumnsAt(c_, column);
    if (!c_.row_axis.empty()) at[c_.row_axis] = site_.first_row + Var(kTileRow);
    auto place = [&](Expr& e) {
      if (e.valid()) e = Simplify(Substitute(e, at), site_.bounds);
    };
    // The accumulator itself is stored where the contraction's result is an output.
    const FlatResult result = nest.stages[0].results[0];
    nest.stages.erase(nest.stages.begin());
    if (result.index.valid()) {
      const DType dtype = c_.is_integer ? DType::kI32 : DType::kF32;
      FlatStage copy{.bodies = {Var(result.variable, dtype)}, .results = {result}};
      copy.results[0].variable += "_stored";
      nest.stages.insert(nest.stages.begin(), copy);
    }
    for (FlatStage& stage : nest.stages) {
      for (Expr& body : stage.bodies) place(body);
      for (FlatResult& stored : stage.results) place(stored.index);
    }
    place(nest.valid);
    place(nest.padded);
    return nest;
  }

  const Kernel& kernel_;
  const TiledContraction& c_;
  const ContractSchedule& schedule_;
  const Isa& isa_;
  TileSite site_;
};

}  // namespace

Substitution ColumnsAt(const TiledContraction& c, const Expr& column) {
  if (c.column_axes.size() == 1) return {{c.column_axes[0], column}};
  return {{c.column_axes[0], FloorDiv(column, c.column_block)},
          {c.column_axes[1], Mod(column, c.column_block)}};
}

Expr LoadAccumulators(TensorId accumulators, const Expr& task_row, int lanes) {
  return Expr::Make({.op = ExprOp::kLoad,
                     .dtype = DType::kF32,
                     .lanes = lanes,
                     .tensor = accumulators,
                     .args = {task_row * lanes, Expr(1)}});
}

absl::StatusOr<Stmt> ContractTileCall(const ScheduledContraction& scheduled, const TileSite& site) {
  return TileCallBuilder(scheduled, site).Build();
}

}  // namespace aotc
