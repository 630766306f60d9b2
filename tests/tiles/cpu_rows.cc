#include "tests/tiles/cpu_rows.h"

#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/loops_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/tiles.h"
#include "tests/templates/isa.h"
#include "tests/tiles/row_library.h"

namespace aotc {
namespace {

constexpr const char* kPrefix = "rows";

std::string EntryOf(const RowCase& of, const Isa& isa) {
  const std::string signature =
      StrCat("const char *", of.loops.name, "(void **b, const int64_t *s, int64_t tasks)");
  return StrCat("extern \"C\" ", signature, ";\n", signature, " {\n  ", kPrefix, "_", of.loops.name,
                "_", isa.suffix, "(", RowArguments(of),
                "0, tasks, nullptr);\n  (void)s;\n  return \"\";\n}\n");
}

OutputFiles FilesOf(const std::vector<RowCase>& cases, const Isa& isa) {
  std::vector<ProgramKernel> kernels;
  for (const RowCase& of : cases) {
    KernelVariant variant{.realisation = std::string(of.row->name), .loops = of.loops};
    kernels.push_back({.kernel = of.text, .variants = {std::move(variant)}});
  }
  std::vector<CpuKernelRef> refs;
  for (const ProgramKernel& kernel : kernels) refs.push_back({&kernel, &kernel.variants[0]});
  OutputFiles files = {{kRowSource, EmitCpuKernels(refs, isa, kPrefix)}};
  for (const RowCase& of : cases) files[kRowSource] += EntryOf(of, isa);
  return files;
}

// Error: a row has no legal parameters for the instruction set.
absl::StatusOr<std::vector<RowCase>> DrawCases(const CpuRowsOptions& options, Random& random) {
  std::vector<RowCase> cases;
  const RowMachine machine{options.isa.lanes, {.registers = options.isa.registers}};
  for (const TileRow& row : CpuTiles()) {
    if (!options.tile.empty() && row.name != options.tile) continue;
    if (!Provides(options.isa, row.feature)) continue;
    const size_t before = cases.size();
    for (int i = 0; i < options.cases; ++i) {
      const std::string name = StrCat("case_", cases.size());
      if (std::optional<RowCase> drawn = DrawRowCase(row, machine, name, random)) {
        cases.push_back(*std::move(drawn));
      }
    }
    if (cases.size() == before) return absl::NotFoundError(StrCat("no call of ", row.name));
  }
  return cases;
}

}  // namespace

bool RunsHere(const Isa& isa) {
#if defined(__x86_64__)
  return aotc_test::CanRun(std::string(isa.suffix));
#else
  return isa.name == "portable";
#endif
}

absl::StatusOr<std::string> CheckCpuRows(const CpuRowsOptions& options) {
  Random random(options.seed);
  AOTC_ASSIGN_OR_RETURN(const std::vector<RowCase> cases, DrawCases(options, random));
  for (const RowCase& of : cases) AOTC_RETURN_IF_ERROR(VerifyLoops(of.loops));
  AOTC_ASSIGN_OR_RETURN(const HostLibrary library,
                        BuildRows(FilesOf(cases, options.isa), {}, options.edit));
  for (const RowCase& of : cases) {
    const RowEntry entry = library.Find<RowEntry>(of.loops.name);
    if (entry == nullptr) return absl::InternalError(StrCat("no ", of.loops.name));
    for (int run = 0; run < options.runs; ++run) {
      if (std::string wrong = RunRowCase(of, entry, random); !wrong.empty()) return wrong;
    }
  }
  return "";
}

}  // namespace aotc
