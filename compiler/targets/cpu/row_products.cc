#include "compiler/targets/cpu/row_products.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/row_temps.h"
#include "compiler/schedule/anchor.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/product_rows.h"

namespace aotc {
namespace {

constexpr int64_t kMostBlockBytes = 128 * 1024;  // temps of a block, within most L2 caches

// Element (row, n, k) of an operand is data[offset + row * row_step + n * column + k * term].
struct Operand {
  TensorId tensor = {};
  Expr offset = {}, row_step = 0, column = 0, term = 0;
};

// y[row][n] = sum over k < terms of a[row][k] * b[k][n]
struct Product {
  Operand a, b, y;
  Expr columns = {}, terms = {};
  bool is_dots = false;     // b is dense along k, else along n
  bool is_integer = false;  // of bytes, in i32; else of f32
};

// The nest of blocks of `rows` rows: variables task_row, row_count, and row within the block.
class RowBlocks {
 public:
  RowBlocks(Nest nest, int64_t rows) : nest_(std::move(nest)), row_(nest_.outer.back()) {
    nest_.outer.back() = {.name = "row_chunk", .extent = CeilDiv(row_.extent, rows)};
    nest_.bounds.Add("row_chunk", 0, nest_.outer.back().extent - 1);
    nest_.bounds.Add("task_row", 0, row_.extent - 1);
    nest_.bounds.Add("row_count", 1, rows);
    nest_.bounds.Add("row", 0, rows - 1);
    for (FlatStage& stage : nest_.stages) {
      for (Expr& body : stage.bodies) body = Transform(body, [&](const Expr& e) { return Own(e); });
      for (FlatResult& result : stage.results) {
        if (IsTemp(result.tensor)) result.index = OfRow(result.tensor, result.index);
      }
    }
    for (LoopBuffer& buffer : nest_.buffers) {
      if (buffer.place == BufferPlace::kScratch) buffer.elements *= rows;
    }
    for (FlatStage& stage : nest_.stages) {
      if (IsDot(stage)) KeepInMemory(stage.results[0], rows);
    }
    first_ = Let("task_row", Var("row_chunk") * rows);
    count_ = Let("row_count", Simplify(Min(row_.extent - Var("task_row"), rows), nest_.bounds));
  }

  const Nest& nest() const { return nest_; }

  std::optional<Product> ProductOf(const FlatStage& stage) const {
    if (!IsPlainSum(stage)) return std::nullopt;
    const Expr left = OperandLoad(stage.bodies[0].arg(0)),
               right = OperandLoad(stage.bodies[0].arg(1));
    if (std::optional<Product> product = InOrder(stage, left, right)) return product;
    return InOrder(stage, right, left);
  }

  std::vector<Stmt> Head() const {
    std::vector<Stmt> head = DecodeAxes(nest_.outer, Var("task"));
    head.push_back(first_);
    head.push_back(count_);
    return head;
  }

  // Stages that are no products, row after row.
  Stmt Rows(std::vector<FlatStage> stages, int lanes) const {
    Nest part = nest_;
    part.stages = std::move(stages);
    std::vector<Stmt> body = RowStatements(part, lanes);
    bool is_read = false;
    VisitExprs(Block(body), [&](const Expr& e) { is_read = is_read || UsesVar(e, row_.name); });
    if (is_read) body.insert(body.begin(), Let(row_.name, Var("task_row") + Var("row")));
    return For("row", 0, Var("row_count"), std::move(body));
  }

 private:
  bool IsTemp(TensorId tensor) const {
    const LoopBuffer& buffer = nest_.buffers[tensor];
    return buffer.place == BufferPlace::kScratch && buffer.elements > 0;
  }
  Expr OfRow(TensorId tensor, const Expr& index) const {
    return Simplify(Var("row") * nest_.buffers[tensor].elements + index, nest_.bounds);
  }
  Expr Own(const Expr& e) const {
    if (e.op() != ExprOp::kLoad || !IsTemp(e->tensor)) return e;
    return WithArgs(e, {OfRow(e->tensor, e.arg(0))});
  }

  // A number of each row, the product with a vector: a matrix of one column.
  bool IsDot(const FlatStage& stage) const {
    if (!stage.inner.empty() || !IsPlainSum(stage)) return false;
    return std::ranges::count_if(LoadsOf(stage.bodies[0]), [&](const Expr& load) {
             return nest_.buffers[load->tensor].place != BufferPlace::kScratch &&
                    !UsesVar(load.arg(0), row_.name);
           }) == 1;
  }

  // The result as an element of memory for each row, in place of a variable.
  void KeepInMemory(FlatResult& result, int64_t rows) {
    if (result.index.valid()) return;
    LoopBuffer& buffer = nest_.buffers[result.tensor];
    buffer.place = BufferPlace::kScratch;
    buffer.elements = rows;
    result.index = Var("row");
    const Expr element = Load(result.tensor, {result.index}, result.dtype);
    for (FlatStage& stage : nest_.stages) {
      for (Expr& body : stage.bodies) body = Substitute(body, {{result.variable, element}});
    }
  }

  // sum of a load times a load: in f32, or in i32 of bytes.
  bool IsPlainSum(const FlatStage& stage) const {
    if (stage.bodies.size() != 1 || stage.reduce.size() != 1) return false;
    const Expr& body = stage.bodies[0];
    if (stage.results[0].dtype != body.dtype() || stage.combiner.name != "sum") return false;
    return body.op() == ExprOp::kMul && IsFactor(body.arg(0)) && IsFactor(body.arg(1));
  }
  bool IsFactor(const Expr& e) const {
    const bool is_integer = e.dtype() == DType::kI32 && e.op() == ExprOp::kCast;
    const Expr& load = is_integer ? e.arg(0) : e;
    if (load.op() != ExprOp::kLoad || load->guarded) return false;
    const DType stored = nest_.buffers[load->tensor].dtype;
    if (is_integer) return stored == DType::kU8 || stored == DType::kI8;
    return e.dtype() == DType::kF32 && stored == DType::kF32;
  }

  std::optional<Operand> Place(const FlatStage& stage, TensorId tensor, const Expr& index) const {
    const Bounds bounds = StageBounds(nest_, stage);
    const std::string n = stage.inner.empty() ? "" : stage.inner.back().name;
    const std::string& k = stage.reduce[0].name;
    const Expr of_row = Substitute(index, {{row_.name, Var("task_row") + Var("row")}});
    std::optional<Affine> affine = AsAffine(of_row, {"row", n, k}, bounds);
    if (!affine) return std::nullopt;
    auto step = [&](const std::string& name) {
      const auto found = affine->coefficients.find(name);
      return found == affine->coefficients.end() ? Expr(0) : Simplify(found->second, bounds);
    };
    return Operand{tensor, Simplify(affine->rest, bounds), step("row"), step(n), step(k)};
  }

  std::optional<Product> InOrder(const FlatStage& stage, const Expr& a, const Expr& b) const {
    const FlatResult& result = stage.results[0];
    std::optional<Operand> left = Place(stage, a->tensor, a.arg(0));
    std::optional<Operand> right = Place(stage, b->tensor, b.arg(0));
    if (!left || !right || !result.index.valid()) return std::nullopt;
    std::optional<Operand> y = Place(stage, result.tensor, result.index);
    if (!y) return std::nullopt;
    if (stage.inner.empty()) y->column = 1;
    if (!left->column.IsInt(0) || !right->row_step.IsInt(0) || !y->column.IsInt(1))
      return std::nullopt;
    const bool is_dots = !right->column.IsInt(1);
    if (is_dots && !(right->term.IsInt(1) && left->term.IsInt(1))) return std::nullopt;
    const Expr columns = stage.inner.empty() ? Expr(1) : stage.inner.back().extent;
    const Product product{
        *left, *right, *y, columns, stage.reduce[0].extent, is_dots, result.dtype == DType::kI32};
    const bool is_matrix = is_dots || !columns.IsInt(1);
    return is_matrix && !product.terms.IsInt(1) ? std::optional(product) : std::nullopt;
  }

  Nest nest_;
  NestAxis row_;
  Stmt first_, count_;
};

std::string_view TileOf(const Product& product) {
  return ProductRowOf(product.is_dots, product.is_integer);
}

Stmt Call(const Product& product, const SchedulePart& part) {
  TileCall call{.tile = part.by,
                .params = part.params,
                .extents = {Var("row_count"), product.columns, product.terms}};
  const Operand &a = product.a, &b = product.b, &y = product.y;
  call.operands = {TileView{a.tensor, a.offset, {a.row_step, a.term}},
                   TileView{b.tensor, b.offset, {product.is_dots ? b.column : b.term, 1}},
                   TileView{y.tensor, y.offset, {y.row_step, 1}}};
  return Tile(std::move(call));
}

// Loops over what is inner beside the columns.
Stmt Around(const FlatStage& stage, Stmt call) {
  if (stage.inner.empty()) return call;
  for (size_t i = stage.inner.size() - 1; i-- > 0;) {
    call = For(stage.inner[i].name, 0, stage.inner[i].extent, {std::move(call)});
  }
  return call;
}

bool Reads(const FlatStage& stage, const std::string& variable) {
  return std::ranges::any_of(stage.bodies,
                             [&](const Expr& body) { return UsesVar(body, variable); });
}

// Scalars of a row live in its iteration: nothing behind the next product may read them.
bool ReadsBeyondGroup(const std::vector<FlatStage>& group, const std::vector<FlatStage>& stages,
                      size_t end) {
  for (const FlatStage& writer : group) {
    for (const FlatResult& result : writer.results) {
      for (size_t s = end; s < stages.size() && !result.index.valid(); ++s) {
        if (Reads(stages[s], result.variable)) return true;
      }
    }
  }
  return false;
}

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Rows of a block, and columns (or vectors of them) that a tile takes at a time.
struct RowTiling {
  int64_t rows = 8, width = 2;
};

// Products by themselves, what lies between them together. Error: there is none, or a number of a
// row is needed on both sides of one.
absl::StatusOr<std::vector<SchedulePart>> PartsOf(const Kernel& kernel, const RowBlocks& blocks,
                                                  const RowTiling& tiling, int lanes) {
  const Nest& nest = blocks.nest();
  std::vector<SchedulePart> parts;
  std::vector<FlatStage> between;
  bool has_product = false, is_open = false;
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    const FlatStage* stage = StageAt(nest, s);
    std::optional<Product> product;
    if (stage != nullptr) product = blocks.ProductOf(*stage);
    if (product) {
      const auto position = static_cast<size_t>(stage - nest.stages.data());
      if (ReadsBeyondGroup(between, nest.stages, position)) {
        return Refuse("a number of a row is needed on both sides of a product");
      }
      between.clear();
      parts.push_back({.memory = StageMemory::kScratch,
                       .by = std::string(TileOf(*product)),
                       .params = {tiling.rows, tiling.width}});
    } else {
      if (stage != nullptr) between.push_back(*stage);
      if (!is_open) parts.push_back({.memory = StageMemory::kScratch, .by = "loops"});
      parts.back().params = {lanes};
    }
    is_open = !product;
    has_product = has_product || product;
    for (const StageResult& result : kernel.stages[s].results) {
      parts.back().results.push_back(kernel.tensors[result.tensor].name);
    }
  }
  if (!has_product) return Refuse("no product of all rows with one matrix");
  return parts;
}

// The stages whose results these are, the next of the kernel from stage `next` on.
std::vector<FlatStage> TakeStages(const Kernel& kernel, const Nest& nest, const SchedulePart& part,
                                  size_t& next) {
  std::vector<FlatStage> stages;
  for (size_t results = 0; results < part.results.size(); ++next) {
    results += kernel.stages[next].results.size();
    if (const FlatStage* stage = StageAt(nest, next)) stages.push_back(*stage);
  }
  return stages;
}

absl::StatusOr<std::vector<Stmt>> BlockStatements(const Kernel& kernel, const RowBlocks& blocks,
                                                  const Schedule& schedule) {
  std::vector<Stmt> body = blocks.Head();
  size_t next = 0;
  for (const SchedulePart& part : schedule.parts) {
    std::vector<FlatStage> stages = TakeStages(kernel, blocks.nest(), part, next);
    if (stages.empty()) continue;  // its readers compute it
    if (part.by == "loops") {
      body.push_back(blocks.Rows(std::move(stages), static_cast<int>(part.params[0])));
      continue;
    }
    const std::optional<Product> product = blocks.ProductOf(stages[0]);
    if (stages.size() != 1 || !product || TileOf(*product) != part.by) {
      return Refuse(StrCat("%", part.results[0], " is no work for ", part.by));
    }
    body.push_back(Around(stages[0], Call(*product, part)));
  }
  return body;
}

int64_t RowsOfBlock(const Nest& nest, const Isa& isa) {
  int64_t rows = isa.registers == 32 ? 8 : 6;
  while (rows > 1 && rows * TempBytes(nest) > kMostBlockBytes) rows /= 2;
  return rows;
}

// The nest with outer axis `axis` innermost: rows do not depend on each other.
Nest WithRowsAlong(Nest nest, size_t axis) {
  const auto at = nest.outer.begin() + static_cast<long>(axis);
  std::rotate(at, at + 1, nest.outer.end());
  return nest;
}

std::vector<Cut> CutsOf(const Nest& nest, int64_t rows) {
  std::vector<Cut> cuts;
  for (const NestAxis& axis : nest.outer) cuts.push_back({axis.walks, 1});
  cuts.back().block = rows;
  return cuts;
}

// Blocks of rows along the outer axis.
absl::StatusOr<Schedule> AlongAxis(const Kernel& kernel, const Nest& nest, size_t axis,
                                   const RowTiling& tiling, const Isa& isa) {
  const Nest turned = WithRowsAlong(nest, axis);
  if (turned.outer.back().extent.IsInt(1)) return Refuse("just one row");
  AOTC_ASSIGN_OR_RETURN(std::vector<SchedulePart> parts,
                        PartsOf(kernel, RowBlocks(turned, tiling.rows), tiling, isa.lanes));
  return Schedule{.result = kernel.tensors[MainOutput(kernel)].name,
                  .tasks = CutsOf(turned, tiling.rows),
                  .parts = std::move(parts)};
}

// The rows of a task, which its products have. Error: a task has several of no axis.
absl::StatusOr<RowBlocks> BlocksOf(const Nest& nest, const Schedule& schedule) {
  for (size_t axis = 0; axis < nest.outer.size(); ++axis) {
    const Cut* cut = FindCut(schedule, nest.outer[axis].walks);
    if (cut == nullptr || cut->block == 1) continue;
    for (const SchedulePart& part : schedule.parts) {
      if (part.by != "loops" && part.params[0] != cut->block) {
        return Refuse(StrCat("a task has ", cut->block, " rows, ", part.by, " ", part.params[0]));
      }
    }
    return RowBlocks(WithRowsAlong(nest, axis), cut->block);
  }
  return Refuse("no axis of which a task has several rows");
}

}  // namespace

absl::StatusOr<Nest> RowProductNest(const Kernel& kernel) {
  AOTC_ASSIGN_OR_RETURN(Nest nest, BuildRowNest(kernel));
  TidyNest(nest);
  return nest;
}

absl::StatusOr<Schedule> ChooseRowProducts(const Kernel& kernel, const Nest& nest, const Isa& isa) {
  const int64_t rows = RowsOfBlock(nest, isa);
  if (rows == 1) return Refuse("the temps of a few rows leave the cache");
  absl::StatusOr<Schedule> schedule = Refuse("no rows");
  for (size_t axis = nest.outer.size(); axis-- > 0;) {
    schedule = AlongAxis(kernel, nest, axis, {.rows = rows}, isa);
    if (schedule.ok()) break;
  }
  return schedule;
}

std::vector<Schedule> RowProductCandidates(const Kernel& kernel, const Nest& nest, const Isa& isa) {
  std::vector<Schedule> schedules;
  const int64_t most = RowsOfBlock(nest, isa);
  for (size_t axis = nest.outer.size(); axis-- > 0;) {
    for (const int64_t rows :
         {most, CeilOf(2 * most, 3), CeilOf(most, 2), CeilOf(most, 3), CeilOf(most, 4)}) {
      for (const int64_t width : {2, 1, 3, 4}) {
        if (rows == 1 || (rows + 1) * width >= isa.registers) continue;
        absl::StatusOr<Schedule> schedule = AlongAxis(kernel, nest, axis, {rows, width}, isa);
        if (schedule.ok()) schedules.push_back(*std::move(schedule));
      }
    }
  }
  return schedules;
}

absl::StatusOr<LoopFunction> ApplyRowProducts(const Kernel& kernel, const Nest& nest,
                                              const Schedule& schedule) {
  AOTC_ASSIGN_OR_RETURN(const RowBlocks blocks, BlocksOf(nest, schedule));
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> body, BlockStatements(kernel, blocks, schedule));
  LoopFunction loops = StartFunction(kernel, blocks.nest());
  loops.tasks = CountOf(blocks.nest().outer);
  loops.body = Block(std::move(body));
  return loops;
}

}  // namespace aotc
