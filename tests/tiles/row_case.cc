#include "tests/tiles/row_case.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/tiles/row_call.h"
#include "tests/tiles/row_state.h"

namespace aotc {
namespace {

int64_t Below(Random& random, int64_t end) { return static_cast<int64_t>(random() % end); }

template <class Values>
auto OneOf(const Values& values, Random& random) {
  return values[static_cast<size_t>(Below(random, static_cast<int64_t>(std::size(values))))];
}

// --- Sizes --------------------------------------------------------------------------------------

constexpr int64_t kMostSteps = 3000;  // product of the extents
constexpr int64_t kMostUnrolled = 7;  // a constant extent may be unrolled
constexpr int64_t kGuard = 64;

// One, primes, and one off a vector.
constexpr int64_t kOdd[] = {1, 1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 61};

void DrawExtents(const RowCase& of, Random& random, RowSizes& sizes) {
  std::vector<std::string_view> names(of.row->extents.begin(), of.row->extents.end());
  std::erase_if(names, [&](std::string_view name) { return BeginsBox(*of.row, name); });
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

// Places of elements that share bytes begin at bytes.
int64_t AtByte(const RowCase& of, size_t operand, int64_t elements) {
  const int64_t shared = std::max(8 / BitWidth(of.types[operand]), 1);
  return (elements + shared - 1) / shared * shared;
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
    stride = AtByte(of, operand, stride);
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

// In front of the call's arguments stand those of the template, which are numbers.
bool IsTemplateArgument(const TileRow& row, const std::string& name) {
  const std::string_view head = row.call.substr(0, row.call.find('('));
  return head.find("$" + name) != std::string_view::npos;
}

std::optional<std::vector<int64_t>> DrawParams(const TileRow& row, const RowMachine& machine,
                                               Random& random) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::vector<int64_t> params;
    for (const TileParam& param : row.params) params.push_back(OneOf(param.legal, random));
    if (LegalParams(row, params, machine.lanes, machine.limits).ok()) return params;
  }
  return std::nullopt;
}

// One in which the call may move what it moves: as many bytes as its parameters say, or, where its
// extents do, any number.
DType DrawMovedType(const RowCase& of, Random& random) {
  std::optional<int64_t> elements = 1;
  for (const Expr& extent : of.operand(of.result()).shape) {
    const std::optional<int64_t> dim = EvaluateInt(extent, of.TextSymbols({}));
    elements = elements && dim ? std::optional(*elements * *dim) : std::nullopt;
  }
  std::vector<DType> types;
  for (const DType type : of.row->moved.types) {
    const int64_t bytes = elements.value_or(0) * ByteWidth(type);
    if (of.row->moved.least <= bytes && bytes <= of.row->moved.most) types.push_back(type);
  }
  AOTC_CHECK(!types.empty()) << of.row->name;
  return OneOf(types, random);
}

}  // namespace

RowSizes RowCase::TextSymbols(const RowSizes& sizes) const {
  RowSizes symbols = {{"lanes", lanes}};
  for (size_t i = 0; i < params.size(); ++i) symbols[std::string(row->params[i].name)] = params[i];
  for (const std::string_view extent : row->extents) {
    const std::string name(extent);
    if (sizes.contains(name) || BeginsBox(*row, extent)) {
      symbols[name] = BeginsBox(*row, extent) ? 0 : sizes.at(name);
    }
  }
  return symbols;
}

std::vector<int64_t> RowCase::Dims(size_t operand, const RowSizes& sizes) const {
  const RowSizes symbols = TextSymbols(sizes);
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

int64_t RowCase::Tasks(const RowSizes& sizes) const { return *EvaluateInt(loops.tasks, sizes); }

std::string RowCase::Describe(const RowSizes& sizes) const {
  const auto pair = [](const auto& size) { return StrCat(size.first, "=", size.second); };
  return StrCat(row->name, "<", StrJoin(params, ", ", [](int64_t p) { return p; }), "> ",
                StrJoin(types, " ", [](DType type) { return DTypeName(type); }),
                has_initial ? " from %start" : "", " at ", StrJoin(sizes, " ", pair));
}

std::optional<RowCase> DrawRowCase(const TileRow& row, const RowMachine& machine,
                                   const std::string& name, Random& random) {
  const std::optional<std::vector<int64_t>> params = DrawParams(row, machine, random);
  if (!params) return std::nullopt;
  RowCase drawn{.row = &row, .text = KernelOfTile(row), .params = *params, .lanes = machine.lanes};
  if (CombinesState(row)) DrawCombiner(drawn, random);
  const DType moved = row.moved.types.empty() ? DType() : DrawMovedType(drawn, random);
  for (size_t i = 0; i < drawn.text.params.size(); ++i) {
    const bool is_moved = !row.moved.types.empty();
    drawn.types.push_back(is_moved ? moved : OneOf(StoredTypes(row, drawn.operand(i)), random));
  }
  drawn.has_initial = !row.epilogue_base.empty() && Below(random, 2) == 0;
  for (size_t i = 0; i < drawn.result(); ++i) {
    const std::optional<size_t> axis = RunAxis(drawn, i);
    if (axis) drawn.constants[StrideName(drawn.operand(i), *axis)] = 1;
  }
  const RowSizes sizes = DrawRowSizes(drawn, random);
  for (const std::string_view extent : row.extents) {
    if (BeginsBox(row, extent)) continue;
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
  BuildRowCall(drawn, name);
  return drawn;
}

RowSizes DrawRowSizes(const RowCase& of, Random& random) {
  RowSizes sizes = of.constants;
  DrawExtents(of, random, sizes);
  for (size_t i = 0; i < of.result(); ++i) DrawReadStrides(of, i, random, sizes);
  DrawWrittenStrides(of, random, sizes);
  for (size_t i = 0; i <= of.result(); ++i) {
    sizes[of.operand(i).name + "_at"] = AtByte(of, i, kGuard + Below(random, 5));
  }
  return sizes;
}

}  // namespace aotc
