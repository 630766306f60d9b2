#include "tests/tiles/row_case.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

int64_t Below(Random& random, int64_t end) { return static_cast<int64_t>(random() % end); }

template <class Values>
auto OneOf(const Values& values, Random& random) {
  return values[static_cast<size_t>(Below(random, static_cast<int64_t>(std::size(values))))];
}

std::string StrideName(const KernelTensor& tensor, size_t axis) {
  return StrCat(tensor.name, "_", axis);
}

// A result that an epilogue takes lies as the test likes, but for neighbours in a vector.
bool HasStride(const RowCase& of, size_t operand, size_t axis) {
  const KernelTensor& tensor = of.operand(operand);
  const bool is_fragment = operand == of.result() && of.row->result != Fragment::kMemory;
  if (!is_fragment) return NamesStride(*of.row, tensor.name, axis);
  return of.row->result == Fragment::kElement || axis + 1 < tensor.shape.size();
}

// --- Sizes --------------------------------------------------------------------------------------

constexpr int64_t kMostSteps = 3000;  // product of the extents
constexpr int64_t kMostUnrolled = 7;  // a constant extent may be unrolled
constexpr int64_t kGuard = 64;

// One, primes, and one off a vector.
constexpr int64_t kOdd[] = {1, 1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 61};

void DrawExtents(const RowCase& of, Random& random, RowSizes& sizes) {
  std::vector<std::string_view> names(of.row->extents.begin(), of.row->extents.end());
  std::shuffle(names.begin(), names.end(), random);
  int64_t product = 1;
  for (const std::string_view name : names) {
    int64_t extent = OneOf(kOdd, random);
    const Symbol& symbol = *std::ranges::find(of.text.symbols, name, &Symbol::var);
    if (symbol.min == 0 && Below(random, 24) == 0) extent = 0;
    const int64_t most =
        std::min({symbol.max, kMostSteps / product, MostOf(*of.row, name, of.params)});
    extent = std::clamp(extent, symbol.min, std::max(symbol.min, most));
    const int64_t value = sizes.emplace(name, extent).first->second;
    product *= std::max<int64_t>(value, 1);
  }
}

// Elements of the axes behind the last one that has a stride: they lie together.
int64_t DenseRun(const RowCase& of, size_t operand, const std::vector<int64_t>& dims) {
  int64_t run = 1;
  for (size_t axis = dims.size(); axis-- > 0 && !HasStride(of, operand, axis);) run *= dims[axis];
  return run;
}

// Of an operand that is read: with gaps, in any order of the axes, or overlapping as windows are.
void DrawReadStrides(const RowCase& of, size_t operand, Random& random, RowSizes& sizes) {
  const std::vector<int64_t> dims = of.Dims(operand, sizes);
  const int64_t run = DenseRun(of, operand, dims);
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (HasStride(of, operand, axis)) axes.push_back(axis);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  int64_t span = run, previous = 0;
  for (const size_t axis : axes) {
    const int64_t kind = Below(random, 8);
    int64_t stride = span + Below(random, 5);
    if (kind >= 5 && previous > 0) stride = previous * OneOf(std::vector<int64_t>{1, 2, 2}, random);
    if (kind == 7) stride = Below(random, 2 * run + 3);
    stride = sizes.emplace(StrideName(of.operand(operand), axis), stride).first->second;
    span += stride * std::max<int64_t>(dims[axis] - 1, 0);
    previous = stride;
  }
}

// Of an operand that is written: no two elements in one place.
void DrawWrittenStrides(const RowCase& of, Random& random, RowSizes& sizes) {
  const std::vector<int64_t> dims = of.Dims(of.result(), sizes);
  int64_t span = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    int64_t stride = span;
    if (HasStride(of, of.result(), axis)) {
      stride += Below(random, 5);
      sizes[StrideName(of.operand(of.result()), axis)] = stride;
    }
    span = stride * std::max<int64_t>(dims[axis], 1);
  }
}

// --- The call -----------------------------------------------------------------------------------

// In front of the call's arguments stand those of the template, which are numbers.
bool IsTemplateArgument(const TileRow& row, const std::string& name) {
  const std::string_view head = row.call.substr(0, row.call.find('('));
  return head.find("$" + name) != std::string_view::npos;
}

class CallBuilder {
 public:
  CallBuilder(RowCase& of, const std::string& name) : of_(of) { of_.loops.name = name; }

  void Build() {
    TileCall call{.tile = std::string(of_.row->name), .params = of_.params, .lanes = of_.lanes};
    for (const std::string_view extent : of_.row->extents) {
      call.extents.push_back(Value(std::string(extent)));
    }
    for (size_t i = 0; i <= of_.result(); ++i) {
      AddBuffer(of_.operand(i).name, of_.types[i], i == of_.result());
    }
    if (of_.has_initial) AddBuffer("start", of_.types.back(), false);
    for (size_t i = 0; i <= of_.result(); ++i) {
      const bool is_fragment = i == of_.result() && of_.row->result != Fragment::kMemory;
      call.operands.push_back(is_fragment ? TileOperand(Epilogue()) : TileOperand(View(i, call)));
    }
    of_.loops.body = Block({Tile(std::move(call))});
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

  TileView View(size_t operand, const TileCall& call) {
    const KernelTensor& tensor = of_.operand(operand);
    Substitution symbols = {{"lanes", Expr(of_.lanes)}};
    for (size_t i = 0; i < of_.params.size(); ++i) {
      symbols[std::string(of_.row->params[i].name)] = of_.params[i];
    }
    for (size_t i = 0; i < call.extents.size(); ++i) {
      symbols[std::string(of_.row->extents[i])] = call.extents[i];
    }
    TileView view{.buffer = of_.loops.params[operand], .offset = Value(tensor.name + "_at")};
    view.strides.resize(tensor.shape.size());
    Expr dense = 1;
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
      view.strides[axis] = HasStride(of_, operand, axis) ? Value(StrideName(tensor, axis)) : dense;
      dense = Simplify(dense * Substitute(tensor.shape[axis], symbols));
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
};

std::optional<std::vector<int64_t>> DrawParams(const TileRow& row, const RowMachine& machine,
                                               Random& random) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::vector<int64_t> params;
    for (const TileParam& param : row.params) params.push_back(OneOf(param.legal, random));
    const TileLimits limits{.registers = machine.registers};
    if (LegalParams(row, params, machine.lanes, limits).ok()) return params;
  }
  return std::nullopt;
}

}  // namespace

RowSizes RowCase::TextSymbols(const RowSizes& sizes) const {
  RowSizes symbols = {{"lanes", lanes}};
  for (size_t i = 0; i < params.size(); ++i) symbols[std::string(row->params[i].name)] = params[i];
  for (const std::string_view extent : row->extents) {
    const std::string name(extent);
    if (sizes.contains(name)) symbols[name] = sizes.at(name);
  }
  return symbols;
}

std::vector<int64_t> RowCase::Dims(size_t operand, const RowSizes& sizes) const {
  const RowSizes by_name = TextSymbols(sizes);
  const std::map<std::string, int64_t, std::less<>> symbols(by_name.begin(), by_name.end());
  std::vector<int64_t> dims;
  for (const Expr& extent : this->operand(operand).shape) {
    dims.push_back(*EvaluateInt(extent, symbols));
  }
  return dims;
}

std::vector<int64_t> RowCase::Strides(size_t operand, const RowSizes& sizes) const {
  const std::vector<int64_t> dims = Dims(operand, sizes);
  std::vector<int64_t> strides(dims.size());
  int64_t dense = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = HasStride(*this, operand, axis)
                        ? sizes.at(StrideName(this->operand(operand), axis))
                        : dense;
    dense *= dims[axis];
  }
  return strides;
}

std::optional<RowCase> DrawRowCase(const TileRow& row, const RowMachine& machine,
                                   const std::string& name, Random& random) {
  const std::optional<std::vector<int64_t>> params = DrawParams(row, machine, random);
  if (!params) return std::nullopt;
  RowCase drawn{.row = &row, .text = KernelOfTile(row), .params = *params, .lanes = machine.lanes};
  for (size_t i = 0; i < drawn.text.params.size(); ++i) {
    drawn.types.push_back(OneOf(StoredTypes(row, drawn.operand(i)), random));
  }
  drawn.has_initial = !row.epilogue_base.empty() && Below(random, 2) == 0;
  const RowSizes sizes = DrawRowSizes(drawn, random);
  for (const std::string_view extent : row.extents) {
    const int64_t value = sizes.at(std::string(extent));
    if (value <= kMostUnrolled && Below(random, 3) == 0)
      drawn.constants[std::string(extent)] = value;
  }
  for (size_t i = 0; i < drawn.result(); ++i) {
    const KernelTensor& tensor = drawn.operand(i);
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      if (!HasStride(drawn, i, axis)) continue;
      const std::string stride = StrideName(tensor, axis);
      const bool must = IsTemplateArgument(row, StrCat(tensor.name, ".", axis));
      if (must || Below(random, 2) == 0) drawn.constants[stride] = sizes.at(stride);
    }
  }
  CallBuilder(drawn, name).Build();
  return drawn;
}

RowSizes DrawRowSizes(const RowCase& of, Random& random) {
  RowSizes sizes = of.constants;
  DrawExtents(of, random, sizes);
  for (size_t i = 0; i < of.result(); ++i) DrawReadStrides(of, i, random, sizes);
  DrawWrittenStrides(of, random, sizes);
  for (size_t i = 0; i <= of.result(); ++i) {
    sizes[of.operand(i).name + "_at"] = kGuard + Below(random, 5);
  }
  return sizes;
}

}  // namespace aotc
