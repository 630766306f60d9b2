#include "compiler/targets/cpu/limits.h"

#include <algorithm>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr double kGiga = 1e9;

// Bytes and rates at 3 GHz. Multiply-adds: four lanes a clock without an instruction for them (one
// product and one sum each), else two vectors a clock. Loads: of L1 two vectors a clock, of L2 and
// L3 about what cores without much prefetching sustain.
const CpuLimits kRows[] = {
    {.family = "portable",
     .fma_per_second = 12 * kGiga,
     .l1_bandwidth = 96 * kGiga,
     .l2_bandwidth = 48 * kGiga,
     .l3_bandwidth = 24 * kGiga},
    {.family = "x86-64",
     .fma_per_second = 12 * kGiga,
     .l1_bandwidth = 96 * kGiga,
     .l2_bandwidth = 48 * kGiga,
     .l3_bandwidth = 24 * kGiga},
    {.family = "x86-64-v3",
     .fma_per_second = 48 * kGiga,
     .l1_bandwidth = 192 * kGiga,
     .l2_bandwidth = 72 * kGiga,
     .l3_bandwidth = 30 * kGiga},
    {.family = "x86-64-v4",
     .fma_per_second = 96 * kGiga,
     .l2_bytes = 1 << 20,
     .l3_bytes = 4 << 20,
     .l1_bandwidth = 384 * kGiga,
     .l2_bandwidth = 120 * kGiga,
     .l3_bandwidth = 30 * kGiga},
};

using Field = LimitField<CpuLimits>;

constexpr double kMostRate = 1e15, kMostBytes = 1e12;

// Of the machine whatever the family. name, member, least, most
const Field kFields[] = {
    {"clock_hz", &CpuLimits::clock_hz, 1e6, 1e11},
    {"cores", &CpuLimits::cores, 1, 1 << 16},
    {"l1_bytes", &CpuLimits::l1_bytes, 1 << 10, kMostBytes},
    {"l2_bytes", &CpuLimits::l2_bytes, 1 << 10, kMostBytes},
    {"l3_bytes", &CpuLimits::l3_bytes, 1 << 10, kMostBytes},
    {"l1_bandwidth", &CpuLimits::l1_bandwidth, 1e6, kMostRate},
    {"l2_bandwidth", &CpuLimits::l2_bandwidth, 1e6, kMostRate},
    {"l3_bandwidth", &CpuLimits::l3_bandwidth, 1e6, kMostRate},
    {"memory_bandwidth", &CpuLimits::memory_bandwidth, 1e6, kMostRate},
    {"barrier_seconds", &CpuLimits::barrier_seconds, 0, 1},
};

constexpr const char* kPeaks = "fma_per_second";  // by family

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const VectorFamily& family : VectorFamilies()) names.emplace_back(family.name);
  return names;
}

absl::Status ReadPeaks(const LimitsJson& json, CpuLimitsTable& table) {
  const std::string place = StrCat("cpu.", kPeaks);
  AOTC_RETURN_IF_ERROR(CheckKeys(json, place, FamilyNames()));
  for (CpuLimits& row : table.rows) {
    const auto found = json.find(std::string(row.family));
    if (found == json.end()) continue;
    AOTC_ASSIGN_OR_RETURN(row.fma_per_second, ReadLimit(*found, StrCat(place, ".", row.family),
                                                        /*whole=*/false, 1e6, kMostRate));
  }
  return absl::OkStatus();
}

}  // namespace

const CpuLimits& CpuLimitsTable::For(const Isa& isa) const {
  const auto row = std::ranges::find(rows, isa.family->name, &CpuLimits::family);
  AOTC_CHECK(row != rows.end()) << isa.name;
  return *row;
}

CpuLimitsTable DefaultCpuLimits() { return {{std::begin(kRows), std::end(kRows)}}; }

absl::StatusOr<CpuLimitsTable> CpuLimitsFrom(const std::string& file) {
  CpuLimitsTable table = DefaultCpuLimits();
  AOTC_ASSIGN_OR_RETURN(const std::optional<LimitsJson> json, LimitsOf(file, "cpu"));
  if (!json) return table;
  const std::span<const Field> fields = kFields;
  std::vector<std::string> known = FieldNames(fields);
  known.emplace_back(kPeaks);
  AOTC_RETURN_IF_ERROR(CheckKeys(*json, "cpu", known));
  for (CpuLimits& row : table.rows) AOTC_RETURN_IF_ERROR(ReadFields(*json, "cpu", fields, row));
  if (json->contains(kPeaks)) AOTC_RETURN_IF_ERROR(ReadPeaks((*json)[kPeaks], table));
  return table;
}

}  // namespace aotc
