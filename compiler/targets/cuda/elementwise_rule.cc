// Elementwise kernels by packs: a thread moves runs of up to 16 bytes and computes element by
// element in registers.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

constexpr int64_t kThreads = 128;
constexpr int64_t kMostElements = 8;
constexpr int64_t kBytes = 16;
constexpr int64_t kGridBlocks = 8192;  // above twice as many, threads stride over the grid

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// A run of neighbouring elements that a thread loads.
struct PackedLoad {
  TensorId tensor;
  Expr index;      // flat, of any element
  Expr condition;  // under which the elements exist; null: always
  TensorId pack = {};
};

class ElementwiseRule {
 public:
  explicit ElementwiseRule(const Kernel& kernel) : kernel_(kernel) {}

  absl::Status Read() {
    AOTC_ASSIGN_OR_RETURN(nest_, BuildNest(kernel_));
    if (!nest_.is_point || nest_.outer.empty()) return Refuse("no elements of one shape");
    MergeAxes(nest_);
    AOTC_RETURN_IF_ERROR(ChoosePack());
    return FindLoads();
  }

  std::string Reason() const {
    return StrCat("neighbouring elements lie together",
                  UsesGrid() ? ", and threads stride over the grid" : "");
  }

  Schedule ScheduleOf() const {
    return WholeKernel(kernel_, {{WalksOf(nest_.outer), pack_ * kThreads}}, StageMemory::kFragment,
                       "packs", {pack_, kThreads});
  }

  // Packs of less than the chosen size, down to two elements.
  std::vector<std::vector<int64_t>> Variations() const {
    std::vector<std::vector<int64_t>> variations;
    for (int64_t pack = pack_ / 2; pack > 1; pack /= 2) variations.push_back({pack, kThreads});
    return variations;
  }

  absl::Status Set(const std::vector<int64_t>& params) {
    if (params[0] < 2 || pack_ % params[0] != 0) return Refuse("packs begin unevenly");
    pack_ = params[0];
    return absl::OkStatus();
  }

  LoopFunction Loops() {
    LoopFunction function = StartFunction(kernel_, nest_);
    const std::vector<NestAxis> runs = Runs();
    const Expr count = CountOf(runs), blocks = Blocks();
    function.threads = kThreads;
    function.tasks = UsesGrid() ? Simplify(Min(blocks, kGridBlocks), nest_.bounds) : blocks;
    std::vector<Stmt> body = DecodeAxes(runs, Var("point"));
    for (PackedLoad& load : loads_) {
      load.pack = AddPack(function, load.tensor);
      const Stmt move =
          Move("load_pack", Pack(load.tensor, FirstOf(load.index)), Pack(load.pack, 0));
      body.push_back(load.condition.valid() ? If(load.condition, {move}) : move);
    }
    std::vector<Stmt> stores;
    body.push_back(For("e", 0, pack_, Elements(function, stores), LoopKind::kUnrolled));
    for (Stmt& store : stores) body.push_back(std::move(store));
    if (UsesGrid()) {
      function.body = Block({For("point", 0, count, std::move(body), LoopKind::kGrid)});
    } else {
      function.body = Block({Let("point", Var("task") * kThreads + Var("thread")),
                             If(Lt(Var("point"), count), std::move(body))});
    }
    return function;
  }

 private:
  const NestAxis& Last() const { return nest_.outer.back(); }

  // Innermost runs of a pack's length, in place of elements.
  std::vector<NestAxis> Runs() const {
    std::vector<NestAxis> runs = nest_.outer;
    runs.back() = {.name = "run", .extent = Simplify(FloorDiv(Last().extent, pack_), nest_.bounds)};
    return runs;
  }

  Expr Blocks() const { return Simplify(CeilDiv(CountOf(Runs()), kThreads), nest_.bounds); }
  bool UsesGrid() const { return RangeOf(Blocks(), nest_.bounds).max > 2 * kGridBlocks; }

  // Elements that fill one access of the widest type, a divisor of the innermost extent.
  absl::Status ChoosePack() {
    int64_t width = 1;
    for (const FlatStage& stage : nest_.stages) {
      if (!stage.reduce.empty()) return Refuse("a reduction");
      for (const FlatResult& result : stage.results) {
        if (result.index.valid()) width = std::max<int64_t>(width, ByteWidth(result.dtype));
      }
      for (const Expr& body : stage.bodies) {
        for (const Expr& load : LoadsOf(body)) {
          if (UsesVar(load, Last().name)) width = std::max<int64_t>(width, ByteWidth(load.dtype()));
        }
      }
    }
    pack_ = std::min(kMostElements, kBytes / width);
    while (pack_ > 1 && !ProveDivisible(Last().extent, pack_, nest_.bounds)) pack_ /= 2;
    if (pack_ == 1) return Refuse("the innermost extent is odd");
    for (const FlatStage& stage : nest_.stages) {
      for (const FlatResult& result : stage.results) {
        if (result.index.valid() && !IsPack(result.index)) return Refuse("results lie apart");
      }
    }
    return absl::OkStatus();
  }

  // Whether the index advances by one with the innermost axis, from a multiple of the pack on.
  bool IsPack(const Expr& index) const {
    const auto affine = AsAffine(index, {Last().name}, nest_.bounds);
    if (!affine || affine->coefficients.count(Last().name) == 0) return false;
    return affine->coefficients.at(Last().name).IsInt(1) &&
           ProveDivisible(affine->rest, pack_, nest_.bounds);
  }

  absl::Status FindLoads() {
    for (const FlatStage& stage : nest_.stages) {
      for (const Expr& body : stage.bodies) AOTC_RETURN_IF_ERROR(FindLoads(body, {}));
    }
    return loads_.empty() ? Refuse("nothing is read along the innermost axis") : absl::OkStatus();
  }

  absl::Status FindLoads(const Expr& e, const Expr& condition) {
    if (e.op() == ExprOp::kLoad) return AddLoad(e, condition);
    if (e.op() != ExprOp::kSelect) {
      for (const Expr& arg : e.args()) AOTC_RETURN_IF_ERROR(FindLoads(arg, condition));
      return absl::OkStatus();
    }
    const Expr& test = e.arg(0);
    AOTC_RETURN_IF_ERROR(FindLoads(test, condition));
    AOTC_RETURN_IF_ERROR(FindLoads(e.arg(1), condition.valid() ? And(condition, test) : test));
    const Expr other = Unary(ExprOp::kNot, test);
    return FindLoads(e.arg(2), condition.valid() ? And(condition, other) : other);
  }

  // Whether a stage has to run before the value is known; loads come before all stages.
  bool IsComputed(const Expr& e) const {
    for (const FlatStage& stage : nest_.stages) {
      for (const FlatResult& result : stage.results) {
        if (UsesVar(e, result.variable)) return true;
      }
    }
    return false;
  }

  absl::Status AddLoad(const Expr& load, const Expr& condition) {
    if (!UsesVar(load, Last().name)) return absl::OkStatus();
    if (!IsPack(load.arg(0))) return Refuse("elements that are read lie apart or begin unevenly");
    const bool guarded = load->guarded;
    if (guarded && (!condition.valid() || UsesVar(condition, Last().name)))
      return Refuse("a guard changes along the innermost axis");
    const Expr needed = guarded ? condition : Expr();
    if (IsComputed(load.arg(0)) || (guarded && IsComputed(needed)))
      return Refuse("where an element is read is computed for each");
    for (const PackedLoad& known : loads_) {
      if (known.tensor != load->tensor || !Same(known.index, load.arg(0))) continue;
      if (known.condition.valid() == guarded && (!guarded || Same(known.condition, needed)))
        return absl::OkStatus();
      return Refuse("an element is read under several guards");
    }
    loads_.push_back({load->tensor, load.arg(0), needed});
    return absl::OkStatus();
  }

  // A pack in registers, for elements of `like`.
  TensorId AddPack(LoopFunction& function, TensorId like) const {
    LoopBuffer buffer = function.buffers[like];
    buffer.name += "_pack";
    const int64_t same = std::count_if(
        function.buffers.begin(), function.buffers.end(),
        [&](const LoopBuffer& other) { return absl::StartsWith(other.name, buffer.name); });
    if (same > 0) StrAppend(&buffer.name, same + 1);
    buffer.place = BufferPlace::kLocal;
    buffer.elements = pack_;
    buffer.written = true;
    return function.buffers.Add(std::move(buffer));
  }

  Expr FirstOf(const Expr& index) const {
    const Substitution first = {{Last().name, Var("run") * pack_}};
    return Simplify(Substitute(index, first), nest_.bounds);
  }

  // Neighbours from an offset on.
  static TileView Pack(TensorId buffer, const Expr& offset) { return {buffer, offset, {1}}; }

  Stmt Move(std::string_view tile, const TileView& from, const TileView& to) const {
    return Tile({.tile = std::string(tile), .params = {pack_}, .operands = {from, to}});
  }

  // One element of the pack: loads and stores are of registers. `stores` move the results.
  std::vector<Stmt> Elements(LoopFunction& function, std::vector<Stmt>& stores) const {
    Nest nest = nest_;
    const Substitution element = {{Last().name, Var("run") * pack_ + Var("e")}};
    for (FlatStage& stage : nest.stages) {
      for (Expr& body : stage.bodies) {
        body = Substitute(Transform(body, [&](const Expr& e) { return OfPack(e); }), element);
      }
      for (FlatResult& result : stage.results) {
        if (!result.index.valid()) continue;
        const TensorId pack = AddPack(function, result.tensor);
        const TileView to = Pack(result.tensor, FirstOf(result.index));
        stores.push_back(Move("store_pack", Pack(pack, 0), to));
        result.tensor = pack;
        result.index = Var("e");
      }
    }
    return *PointStatements(nest, nullptr);
  }

  Expr OfPack(const Expr& e) const {
    if (e.op() != ExprOp::kLoad) return e;
    for (const PackedLoad& load : loads_) {
      if (load.tensor == e->tensor && Same(load.index, e.arg(0)))
        return Load(load.pack, {Var("e")}, e.dtype());
    }
    return e;
  }

  const Kernel& kernel_;
  Nest nest_;
  int64_t pack_ = 1;
  std::vector<PackedLoad> loads_;
};

}  // namespace

absl::StatusOr<CudaWay> PackedElementwiseOnCuda(const Kernel& kernel,
                                                const CudaOptions& /*options*/) {
  ElementwiseRule rule(kernel);
  AOTC_RETURN_IF_ERROR(rule.Read());
  return WayOf("packed_elementwise", rule.Reason(), rule);
}

}  // namespace aotc
