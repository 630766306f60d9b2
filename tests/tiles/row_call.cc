#include "tests/tiles/row_call.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/tiles/row_state.h"

namespace aotc {
namespace {

bool IsObject(const TileRow& row, const std::string& operand) {
  const size_t at = row.call.find("@" + operand);
  if (at == std::string_view::npos) return false;
  const char behind = row.call[at + 1 + operand.size()];
  return std::isalnum(static_cast<unsigned char>(behind)) == 0 && behind != '_';
}

struct BoxAxis {
  std::string begin;  // the extent
  int64_t size = 1;
};

// Of "m_begin:block_m, n_begin:32".
std::vector<BoxAxis> BoxOf(const TileRow& row, const std::vector<int64_t>& params) {
  std::vector<BoxAxis> box;
  for (std::string_view rest = row.box; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 2));
    const size_t colon = pair.find(':');
    const std::string_view size = pair.substr(colon + 1);
    const auto param = std::ranges::find(row.params, size, &TileParam::name);
    const bool is_param = param != row.params.end();
    box.push_back({std::string(pair.substr(0, colon)),
                   is_param ? params[static_cast<size_t>(param - row.params.begin())]
                            : std::stoll(std::string(size))});
  }
  return box;
}

class CallBuilder {
 public:
  CallBuilder(RowCase& of, const std::string& name) : of_(of) {
    of_.loops.name = name;
    of_.text.name = name;
  }

  void Build() {
    TileCall call{.tile = std::string(of_.row->name), .params = of_.params, .lanes = of_.lanes};
    symbols_of_text_ = {{"lanes", Expr(of_.lanes)}};
    for (size_t i = 0; i < of_.params.size(); ++i) {
      symbols_of_text_[std::string(of_.row->params[i].name)] = of_.params[i];
    }
    for (const std::string_view extent : of_.row->extents) {
      const std::string extent_name(extent);
      call.extents.push_back(BeginsBox(*of_.row, extent) ? Var(extent_name) : Value(extent_name));
      symbols_of_text_[extent_name] = call.extents.back();
    }
    for (size_t i = 0; i <= of_.result(); ++i) {
      AddBuffer(of_.operand(i).name, of_.types[i], i == of_.result());
    }
    if (of_.has_initial) AddBuffer("start", of_.types.back(), false);
    for (size_t i = 0; i <= of_.result() && !CombinesState(*of_.row); ++i) {
      if (!IsObject(*of_.row, of_.operand(i).name)) {
        call.operands.push_back(View(i));
      } else if (i == of_.result()) {
        call.operands.push_back(Epilogue());
      } else {
        call.operands.push_back(RunAxis(of_, i) ? Runs(i) : Accessor(i));
      }
    }
    std::vector<Stmt> body = CombinesState(*of_.row) ? State(call) : TaskBox();
    body.push_back(Tile(std::move(call)));
    if (CombinesState(*of_.row)) body.push_back(StoreState());
    of_.loops.body = Block(std::move(body));
    of_.loops.threads = ThreadsOf(of_);
    for (const std::string& name : symbols_) {
      of_.loops.symbols.push_back({.name = name, .var = name, .min = 0, .max = 1 << 20});
    }
  }

 private:
  // A number, or the symbol that a run gives its value.
  Expr Value(const std::string& name) {
    const auto found = of_.constants.find(name);
    if (found != of_.constants.end()) return found->second;
    symbols_.insert(name);
    return Var(name);
  }

  TensorId AddBuffer(const std::string& name, DType dtype, bool written) {
    const TensorId id = of_.loops.buffers.Add({.name = name, .dtype = dtype, .written = written});
    of_.loops.params.push_back(id);
    return id;
  }

  // Each thread begins with its own element, and stores what it has in the end.
  std::vector<Stmt> State(TileCall& call) {
    call.operands = {of_.combiner};
    const KernelTensor& from = of_.operand(0);
    const Expr element = Expr::Make({.op = ExprOp::kLoad,
                                     .dtype = from.dtype,
                                     .tensor = of_.loops.params[0],
                                     .args = {Value(from.name + "_at") + Var("thread")}});
    std::vector<Stmt> body = {Let("mine", element)};
    for (const Expr& lift : of_.lifts) {
      call.state.push_back(StrCat("state", call.state.size()));
      body.push_back(Declare(call.state.back(), lift));
    }
    return body;
  }

  Stmt StoreState() {
    const KernelTensor& to = of_.operand(of_.result());
    const std::string last = StrCat("state", of_.lifts.size() - 1);
    return Store(of_.loops.params[of_.result()], Value(to.name + "_at") + Var("thread"),
                 Var(last, to.dtype));
  }

  // Where the task's box begins; sets how many tasks there are.
  std::vector<Stmt> TaskBox() {
    std::vector<Stmt> lets;
    const std::vector<BoxAxis> box = BoxOf(*of_.row, of_.params);
    Expr inner = 1;
    for (size_t axis = box.size(); axis-- > 0;) {
      const Expr extent = Extent(of_.operand(of_.result()), axis);
      const Expr boxes = Simplify(CeilDiv(extent, box[axis].size));
      const Expr number = Mod(FloorDiv(Var("task"), inner), Max(boxes, 1));
      lets.push_back(Let(box[axis].begin, Simplify(number * box[axis].size)));
      inner = inner * Max(boxes, 1);
      of_.loops.tasks = Simplify(of_.loops.tasks * boxes);
    }
    return lets;
  }

  Expr Extent(const KernelTensor& tensor, size_t axis) const {
    return Simplify(Substitute(tensor.shape[axis], symbols_of_text_));
  }

  // Elements of the text's type, 0 where there is none.
  TileObject Accessor(size_t operand) {
    const KernelTensor& tensor = of_.operand(operand);
    TileFunctor method;
    Expr index = Value(tensor.name + "_at"), exists;
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      method.params.push_back({.name = StrCat("at", axis)});
      const Expr place = Var(method.params.back().name);
      const Expr inside = Lt(place, Extent(tensor, axis));
      exists = exists.valid() ? And(exists, inside) : inside;
      index = index + place * Value(StrideName(tensor, axis));
    }
    const Expr load = Expr::Make({.op = ExprOp::kLoad,
                                  .dtype = of_.types[operand],
                                  .tensor = of_.loops.params[operand],
                                  .args = {index}});
    method.result = Select(exists, Cast(tensor.dtype, load), FloatConst(0, tensor.dtype));
    if (tensor.name == of_.row->through) return Through(tensor, std::move(method));
    return {.name = tensor.name, .methods = {std::move(method)}};
  }

  // Also says which elements hide what they are added to.
  static TileObject Through(const KernelTensor& tensor, TileFunctor method) {
    TileFunctor counts{.method = "counts", .params = method.params};
    counts.params.push_back({"top", tensor.dtype});
    counts.result = Ne(method.result, FloatConst(-INFINITY, tensor.dtype));
    method.params.push_back({"acc", tensor.dtype});
    method.result = method.result + Var("acc", tensor.dtype);
    return {.name = tensor.name,
            .methods = {std::move(method), std::move(counts)},
            .constants = {{"hides", 1}}};
  }

  // Addresses of runs, and how many of their elements exist.
  TileObject Runs(size_t operand) {
    const KernelTensor& tensor = of_.operand(operand);
    const size_t column = *RunAxis(of_, operand), row = 1 - column;
    const std::vector<FunctorParam> place = {{.name = "row"}, {.name = "column"}};
    TileFunctor at{.method = "at", .params = place};
    at.result_pointer = of_.loops.params[operand];
    at.result_offset = Value(tensor.name + "_at") + Var("row") * Value(StrideName(tensor, row)) +
                       Var("column") * Value(StrideName(tensor, column));
    TileFunctor count{.method = "count", .params = place};
    count.result = Select(Lt(Var("row"), Extent(tensor, row)),
                          Extent(tensor, column) - Var("column"), Expr(0));
    return {.name = tensor.name, .methods = {std::move(at), std::move(count)}};
  }

  TileView View(size_t operand) {
    const KernelTensor& tensor = of_.operand(operand);
    TileView view{.buffer = of_.loops.params[operand], .offset = Value(tensor.name + "_at")};
    view.strides.resize(tensor.shape.size());
    Expr dense = 1;
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
      view.strides[axis] = HasStride(of_, operand, axis) ? Value(StrideName(tensor, axis)) : dense;
      dense = Simplify(dense * Extent(tensor, axis));
    }
    return view;
  }

  // Stores a fragment where the strides say, and starts from what lies there in %start.
  TileObject Epilogue() {
    const KernelTensor& tensor = of_.operand(of_.result());
    const bool is_vector = of_.row->result == Fragment::kVector;
    const int lanes = is_vector ? of_.lanes : 1;
    std::vector<FunctorParam> place;
    Expr index = Value(tensor.name + "_at");
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      place.push_back({.name = StrCat("at", axis)});
      const bool strides = HasStride(of_, of_.result(), axis);
      const Expr step = strides ? Value(StrideName(tensor, axis)) : Expr(of_.lanes);
      index = index + Var(place.back().name) * step;
    }
    TileFunctor store{.params = place};
    store.params.push_back({"acc", tensor.dtype, lanes});
    const Expr acc =
        Expr::Make({.op = ExprOp::kVar, .dtype = tensor.dtype, .lanes = lanes, .name = "acc"});
    store.body = {Store(of_.loops.params[of_.result()], index, acc)};
    TileObject epilogue{.name = "epilogue", .methods = {std::move(store)}};
    if (of_.has_initial) {
      TileFunctor initial{.method = "initial", .params = place};
      initial.result = Expr::Make({.op = ExprOp::kLoad,
                                   .dtype = tensor.dtype,
                                   .lanes = lanes,
                                   .tensor = of_.loops.params.back(),
                                   .args = {index, Expr(1)}});
      epilogue.methods.push_back(std::move(initial));
    }
    return epilogue;
  }

  RowCase& of_;
  std::set<std::string> symbols_;
  Substitution symbols_of_text_;
};

}  // namespace

std::string StrideName(const KernelTensor& tensor, size_t axis) {
  return StrCat(tensor.name, "_", axis);
}

// What an object gives or takes lies as the test likes, but for neighbours in a vector.
bool HasStride(const RowCase& of, size_t operand, size_t axis) {
  const KernelTensor& tensor = of.operand(operand);
  if (!IsObject(*of.row, tensor.name)) return NamesStride(*of.row, tensor.name, axis);
  const bool is_vector = operand == of.result() && of.row->result == Fragment::kVector;
  return !is_vector || axis + 1 < tensor.shape.size();
}

bool BeginsBox(const TileRow& row, std::string_view extent) {
  return !extent.empty() && row.box.find(std::string(extent) + ":") != std::string_view::npos;
}

std::optional<size_t> RunAxis(const RowCase& of, size_t operand) {
  const auto run = std::ranges::find(of.row->runs, of.operand(operand).name, &TileRun::operand);
  if (run == of.row->runs.end()) return std::nullopt;
  const size_t last = of.operand(operand).shape.size() - 1;
  if (run->along_last.empty()) return last;
  const auto param = std::ranges::find(of.row->params, run->along_last, &TileParam::name);
  return of.params[static_cast<size_t>(param - of.row->params.begin())] != 0 ? last : 0;
}

void BuildRowCall(RowCase& of, const std::string& name) { CallBuilder(of, name).Build(); }

}  // namespace aotc
