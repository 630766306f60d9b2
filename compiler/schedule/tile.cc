#include "compiler/schedule/tile.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Wrong(const TileRow& row, std::string_view what) {
  return absl::FailedPreconditionError(StrCat("tile ", row.name, ": ", what));
}

using Numbers = std::map<std::string, int64_t, std::less<>>;

// Those of the text's symbols that the call has as numbers.
Numbers NumbersOf(const TileRow& row, const TileCall& call) {
  Numbers numbers = {{"lanes", call.lanes}};
  for (size_t i = 0; i < row.params.size(); ++i) {
    numbers[std::string(row.params[i].name)] = call.params[i];
  }
  for (size_t i = 0; i < row.extents.size(); ++i) {
    const std::optional<int64_t> extent = call.extents[i].AsInt();
    if (extent) numbers[std::string(row.extents[i])] = *extent;
  }
  return numbers;
}

absl::Status CheckOperand(const TileRow& row, const KernelTensor& tensor,
                          const TileOperand& operand, const Numbers& numbers) {
  const auto* view = std::get_if<TileView>(&operand);
  if (view == nullptr) return absl::OkStatus();
  if (view->strides.size() != tensor.shape.size()) {
    return Wrong(row, StrCat("%", tensor.name, " has ", view->strides.size(), " strides, not ",
                             tensor.shape.size()));
  }
  std::optional<int64_t> dense = 1;  // nothing where an extent is known when the call runs only
  for (size_t axis = tensor.shape.size(); axis-- > 0 && dense;) {
    const std::optional<int64_t> stride = view->strides[axis].AsInt();
    if (!NamesStride(row, tensor.name, axis) && stride != dense) {
      return Wrong(row, StrCat("%", tensor.name, " has stride ", PrintExpr(view->strides[axis]),
                               ", not ", *dense, " along axis ", axis));
    }
    const std::optional<int64_t> extent = EvaluateInt(tensor.shape[axis], numbers);
    dense = extent ? std::optional(*dense * *extent) : std::nullopt;
  }
  return absl::OkStatus();
}

}  // namespace

const TileRow* FindTile(TileTable tiles, std::string_view name) {
  const auto found = std::ranges::find(tiles, name, &TileRow::name);
  return found == tiles.end() ? nullptr : &*found;
}

absl::Status CheckTileParams(const TileRow& row, std::span<const int64_t> params) {
  if (params.size() != row.params.size()) {
    return Wrong(row, StrCat(params.size(), " parameters, not ", row.params.size()));
  }
  for (size_t i = 0; i < row.params.size(); ++i) {
    const std::span<const int64_t> legal = row.params[i].legal;
    if (std::ranges::find(legal, params[i]) != legal.end()) continue;
    return Wrong(row, StrCat(row.params[i].name, " is ", params[i]));
  }
  return absl::OkStatus();
}

absl::Status CheckTileCall(const TileRow& row, const TileCall& call) {
  AOTC_RETURN_IF_ERROR(CheckTileParams(row, call.params));
  if (call.extents.size() != row.extents.size()) {
    return Wrong(row, StrCat(call.extents.size(), " extents, not ", row.extents.size()));
  }
  for (size_t i = 0; i < row.extents.size(); ++i) {
    const std::optional<int64_t> extent = call.extents[i].AsInt();
    if (extent && *extent > MostOf(row, row.extents[i], call.params)) {
      return Wrong(row, StrCat(row.extents[i], " is ", *extent));
    }
  }
  const bool combines =
      call.operands.size() == 1 && std::holds_alternative<TileCombiner>(call.operands.front());
  if (combines != !call.state.empty()) return Wrong(row, "a combiner goes with a state");
  if (combines) return absl::OkStatus();
  const Kernel kernel = KernelOfTile(row);
  const Numbers numbers = NumbersOf(row, call);
  if (call.operands.size() != kernel.params.size()) {
    return Wrong(row, StrCat(call.operands.size(), " operands, not ", kernel.params.size()));
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const KernelTensor& tensor = kernel.tensors[kernel.params[i]];
    AOTC_RETURN_IF_ERROR(CheckOperand(row, tensor, call.operands[i], numbers));
  }
  return absl::OkStatus();
}

absl::Status LegalParams(const TileRow& row, std::span<const int64_t> params, int lanes,
                         const TileLimits& limits) {
  AOTC_RETURN_IF_ERROR(CheckTileParams(row, params));
  if (row.needs == nullptr) return absl::OkStatus();
  const TileNeeds needs = row.needs(params, lanes);
  if (!needs.conflict.empty()) return Wrong(row, needs.conflict);
  struct Need {
    std::string_view what;
    int64_t taken, most;
  };
  for (const Need& need : {Need{"registers", needs.registers, limits.registers},
                           Need{"shared bytes", needs.shared_bytes, limits.shared_bytes},
                           Need{"threads", needs.threads, limits.threads}}) {
    if (need.taken <= need.most) continue;
    return Wrong(row, StrCat("takes ", need.taken, " ", need.what, " of ", need.most));
  }
  return absl::OkStatus();
}

int64_t MostOf(const TileRow& row, std::string_view extent, std::span<const int64_t> params) {
  const auto bound = std::ranges::find(row.at_most, extent, &TileBound::extent);
  if (bound == row.at_most.end()) return INT64_MAX;
  const auto param = std::ranges::find(row.params, bound->param, &TileParam::name);
  return params[static_cast<size_t>(param - row.params.begin())] + bound->more;
}

bool NamesStride(const TileRow& row, std::string_view operand, size_t axis) {
  const std::string name = StrCat(operand, ".", axis);
  for (const char mark : {'$', '#', '['}) {
    if (row.call.find(mark + name) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<DType> StoredTypes(const TileRow& row, const KernelTensor& operand) {
  const auto found = std::ranges::find(row.stored, operand.name, &TileStorage::operand);
  if (found == row.stored.end()) return {operand.dtype};
  return {found->types.begin(), found->types.end()};
}

Kernel KernelOfTile(const TileRow& row) {
  absl::StatusOr<Kernel> kernel = ParseKernel(row.text);
  AOTC_CHECK(kernel.ok()) << row.name << ": " << kernel.status().ToString();
  return *std::move(kernel);
}

}  // namespace aotc
