#include "compiler/targets/schedules.h"

#include <algorithm>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr ScheduleName kSchedules[] = {
    {"contract_tile_int8", "cpu", "contractions of 8-bit integers with packed weights"},
    {"contract_tile", "cpu", "matrix products and convolutions with packed weights"},
    {"depthwise_tile", "cpu cuda", "convolutions with a filter for each channel"},
    {"depthwise_tile_int8", "cpu", "the same on 8-bit integers"},
    {"row_products", "cpu", "rows that multiply with one matrix, such as attention"},
    {"matrix_vector_tile", "cuda", "a matrix times a vector: a row by a warp or a block"},
    {"mma_tile", "cuda", "contractions of f16 on tensor cores"},
    {"matmul_tile", "cuda", "contractions in shared memory"},
    {"row_groups", "cuda", "reductions, softmax, normalisations: a group of threads to a row"},
    {"transpose_tile", "cuda", "copies that read along another axis than they write"},
    {"packed_elementwise", "cuda", "elementwise kernels, 16 bytes at a time"},
};

}  // namespace

std::span<const ScheduleName> AllSchedules() { return kSchedules; }

absl::Status CheckSchedules(const std::set<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(kSchedules, name, &ScheduleName::name) != std::end(kSchedules)) continue;
    const std::string known =
        StrJoin(kSchedules, ", ", [](const ScheduleName& row) { return row.name; });
    return absl::InvalidArgumentError(StrCat("unknown schedule '", name, "'; there are ", known));
  }
  return absl::OkStatus();
}

}  // namespace aotc
