#include "compiler/schedule/tile.h"

#include <algorithm>

#include "compiler/ir/kernel_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Wrong(const TileRow& row, std::string_view what) {
  return absl::InvalidArgumentError(StrCat("tile ", row.name, ": ", what));
}

absl::Status CheckOperand(const TileRow& row, const KernelTensor& tensor,
                          const TileOperand& operand) {
  const auto* view = std::get_if<TileView>(&operand);
  if (view == nullptr || view->strides.size() == tensor.shape.size()) return absl::OkStatus();
  return Wrong(row, StrCat("%", tensor.name, " has ", view->strides.size(), " strides, not ",
                           tensor.shape.size()));
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
  const bool combines =
      call.operands.size() == 1 && std::holds_alternative<TileCombiner>(call.operands.front());
  if (combines != !call.state.empty()) return Wrong(row, "a combiner goes with a state");
  if (combines) return absl::OkStatus();
  const Kernel kernel = KernelOfTile(row);
  if (call.operands.size() != kernel.params.size()) {
    return Wrong(row, StrCat(call.operands.size(), " operands, not ", kernel.params.size()));
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const KernelTensor& tensor = kernel.tensors[kernel.params[i]];
    AOTC_RETURN_IF_ERROR(CheckOperand(row, tensor, call.operands[i]));
  }
  return absl::OkStatus();
}

Kernel KernelOfTile(const TileRow& row) {
  absl::StatusOr<Kernel> kernel = ParseKernel(row.text);
  AOTC_CHECK(kernel.ok()) << row.name << ": " << kernel.status().ToString();
  return *std::move(kernel);
}

}  // namespace aotc
