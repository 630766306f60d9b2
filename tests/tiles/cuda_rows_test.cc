// The tile functions of CUDA compute what their rows say, under emulation: calls drawn from the
// table, with a task for each box of the result. Shared memory is watched for races.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "compiler/ir/loops_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/cuda/tiles.h"
#include "tests/tiles/row_library.h"

namespace aotc {
namespace {

constexpr const char* kPrefix = "rows";
constexpr TileLimits kBlock = {.shared_bytes = 48 * 1024, .threads = 1024};

constexpr const char* kFaults = R"(
#include "aotc/cuda_host.h"
static char fault[400];
static void keep_fault(const char *message) { strncpy(fault, message, sizeof fault - 1); }
static const char *outcome(int status) {
  if (status == 0 && cudaDeviceSynchronize() != cudaSuccess) status = 1;
  return status == 0 || fault[0] != 0 ? fault : "the launch failed";
}
)";

std::string EntryOf(const RowCase& of) {
  const std::string signature =
      StrCat("const char *", of.loops.name, "(void **b, const int64_t *s, int64_t tasks)");
  return StrCat("extern \"C\" ", signature, ";\n", signature,
                " {\n  aotc_emulation_on_fault = keep_fault;\n  fault[0] = 0;\n  (void)s;\n",
                "  return outcome(", kPrefix, "_", of.loops.name, "(", RowArguments(of),
                "tasks, nullptr));\n}\n");
}

OutputFiles FilesOf(const std::vector<RowCase>& cases) {
  std::vector<ProgramKernel> kernels;
  for (const RowCase& of : cases) {
    KernelVariant variant{.realisation = std::string(of.row->name), .loops = of.loops};
    kernels.push_back({.kernel = of.text, .variants = {std::move(variant)}});
  }
  std::vector<const ProgramKernel*> all;
  for (const ProgramKernel& kernel : kernels) all.push_back(&kernel);
  OutputFiles files = {{kRowSource, EmitCudaKernels(all, kPrefix) + kFaults}};
  for (const RowCase& of : cases) files[kRowSource] += EntryOf(of);
  return files;
}

// "" where all calls agree. Error: what was drawn does not build.
absl::StatusOr<std::string> CheckCudaRow(const TileRow& row,
                                         const std::function<void(OutputFiles&)>& edit) {
  constexpr int kCases = 4, kRuns = 12;
  Random random(1);
  std::vector<RowCase> cases;
  for (int i = 0; i < kCases; ++i) {
    std::optional<RowCase> drawn = DrawRowCase(row, {.limits = kBlock}, StrCat("case_", i), random);
    if (!drawn) return absl::NotFoundError("no legal parameters");
    AOTC_RETURN_IF_ERROR(VerifyLoops(drawn->loops));
    cases.push_back(*std::move(drawn));
  }
  AOTC_ASSIGN_OR_RETURN(
      const HostLibrary library,
      BuildRows(FilesOf(cases), {"-DAOTC_CUDA_EMULATE", "-DAOTC_CUDA_CHECK_RACES"}, edit));
  for (const RowCase& of : cases) {
    const RowEntry entry = library.Find<RowEntry>(of.loops.name);
    if (entry == nullptr) return absl::InternalError(StrCat("no ", of.loops.name));
    for (int run = 0; run < kRuns; ++run) {
      if (std::string wrong = RunRowCase(of, entry, random); !wrong.empty()) return wrong;
    }
  }
  return "";
}

class CudaRows : public testing::TestWithParam<const TileRow*> {};

TEST_P(CudaRows, ComputeWhatTheySay) {
  const absl::StatusOr<std::string> complaint = CheckCudaRow(*GetParam(), {});
  ASSERT_TRUE(complaint.ok()) << complaint.status().message();
  EXPECT_EQ(*complaint, "");
}

struct Fault {
  std::string name;
  std::string tile;
  std::string from, to;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class PlantedOnCuda : public testing::TestWithParam<Fault> {};

TEST_P(PlantedOnCuda, IsCaught) {
  const Fault& fault = GetParam();
  int planted = 0;  // in the tile's header, or in one that it includes
  const auto plant = [&](OutputFiles& files) {
    for (auto& [path, text] : files) {
      if (!absl::EndsWith(path, ".cuh")) continue;
      planted += absl::StrReplaceAll({{fault.from, fault.to}}, &text);
    }
  };
  const absl::StatusOr<std::string> complaint =
      CheckCudaRow(*FindTile(CudaTiles(), fault.tile), plant);
  ASSERT_TRUE(complaint.ok()) << complaint.status().message();
  ASSERT_GT(planted, 0) << "the tile function has no longer what the fault replaces";
  EXPECT_NE(*complaint, "");
  RecordProperty("complaint", *complaint);
}

const Fault kPlanted[] = {
    {"LostStep", "matmul_tile", "const bool more = k + BK < range.k_end;",
     "const bool more = k + 2 * BK < range.k_end;"},
    {"WrongLane", "mma_tile", "aotc_mma_c_position(lane, element).column",
     "aotc_mma_c_position(lane ^ 1, element).column"},
    {"WrongSign", "mma_tile_int8", "aotc_mma_m16n8k32_s32<TypeA, TypeB>",
     "aotc_mma_m16n8k32_s32<TypeB, TypeA>"},
    {"LostTail", "mma_tile_int8", "k + c < k_end ? Run : 0", "k + c + 1 < k_end ? Run : 0"},
    {"TailWritten", "transpose_tile",
     "if (row >= range.row_end || column >= range.column_end) continue;",
     "if (row > range.row_end || column >= range.column_end) continue;"},
    {"StaleTop", "attention_tile", "state.sum[i] *= shrink;", "(void)shrink;"},
    {"LostKeys", "attention_tile", "const bool more = key < range.key_end();",
     "const bool more = key + BN < range.key_end();"},
    {"KeysFromZero", "attention_tile", "(score, range, range.key_begin, place",
     "(score, range, Index{0}, place"},
    {"HiddenByOneRow", "attention_tile", "i < Shape::thread_rows; ++i) {\n        const Index row",
     "i < 1; ++i) {\n        const Index row"},
    {"EachForItself", "attention_tile", "if (aotc_syncthreads_any(counts)) break;",
     "aotc_syncthreads();\n      if (counts) break;"},
    {"NoBarrier", "attention_tile", "value_part);\n    aotc_syncthreads();", "value_part);"},
    {"TailNotMoved", "load_pack", "for (int i = 0; i < Count; ++i) pack[i]",
     "for (int i = 0; i + 1 < Count; ++i) pack[i]"},
    {"MovedBeyond", "store_pack", "for (int i = 0; i < Count; ++i) to[i]",
     "for (int i = 0; i <= Count; ++i) to[i]"},
    {"OtherLane", "warp_reduce", "aotc_shuffle_xor(buffer[i], mask)",
     "aotc_shuffle_xor(buffer[i], mask ^ 1)"},
    {"OrderOfThreads", "warp_reduce", "(lane & mask) == 0 ? combiner.combine(value, other)",
     "(lane & mask) != 0 ? combiner.combine(value, other)"},
    {"WrongStatistics", "block_reduce", "State mine = combiner.identity();", "State mine = value;"},
    {"OneThreadOnly", "block_reduce", "return total[0];",
     "return threadIdx.x == 0 ? total[0] : value;"},
};

INSTANTIATE_TEST_SUITE_P(Tiles, PlantedOnCuda, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return info.param.name; });

std::vector<const TileRow*> AllRows() {
  std::vector<const TileRow*> rows;
  for (const TileRow& row : CudaTiles()) rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Tiles, CudaRows, testing::ValuesIn(AllRows()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace aotc
