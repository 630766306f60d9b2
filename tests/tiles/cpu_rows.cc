#include "tests/tiles/cpu_rows.h"

#include <dlfcn.h>

#include <memory>
#include <utility>
#include <vector>

#include "compiler/emit/c_expr.h"
#include "compiler/emit/parts.h"
#include "compiler/ir/loops_text.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "compiler/targets/cpu/tiles.h"
#include "tests/templates/isa.h"
#include "tests/tiles/row_memory.h"

namespace aotc {
namespace {

constexpr const char* kPrefix = "rows";

// The kernel with all pointers in one array and all symbols in another.
using Entry = void (*)(void** buffers, const int64_t* symbols);

std::string EntryOf(const RowCase& of, const Isa& isa) {
  const LoopFunction& loops = of.loops;
  std::string args;
  for (size_t i = 0; i < loops.params.size(); ++i) {
    const LoopBuffer& buffer = loops.buffers[loops.params[i]];
    StrAppend(&args, "(", buffer.written ? "" : "const ", CInterfaceType(buffer.dtype), " *)b[", i,
              "], ");
  }
  for (size_t i = 0; i < loops.symbols.size(); ++i) StrAppend(&args, "s[", i, "], ");
  return StrCat("extern \"C\" void ", loops.name, "(void **b, const int64_t *s);\nvoid ",
                loops.name, "(void **b, const int64_t *s) {\n  ", kPrefix, "_", loops.name, "_",
                isa.suffix, "(", args, "0, 1, nullptr);\n}\n");
}

OutputFiles FilesOf(const std::vector<RowCase>& cases, const Isa& isa) {
  std::vector<ProgramKernel> kernels;
  for (const RowCase& of : cases) {
    KernelVariant variant{.realisation = std::string(of.row->name), .loops = of.loops};
    kernels.push_back({.kernel = of.text, .variants = {std::move(variant)}});
  }
  std::vector<CpuKernelRef> refs;
  for (const ProgramKernel& kernel : kernels) refs.push_back({&kernel, &kernel.variants[0]});
  OutputFiles files = {{"rows.cpp", EmitCpuKernels(refs, isa, kPrefix)}};
  for (const RowCase& of : cases) files["rows.cpp"] += EntryOf(of, isa);
  return files;
}

// What was built, for as long as it is held.
class Library {
 public:
  static absl::StatusOr<Library> Build(const OutputFiles& files) {
    AOTC_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create("aotc_tile_rows"));
    OutputFolder output(folder.path());
    for (const auto& [path, content] : files) output.Add(path, content);
    AOTC_RETURN_IF_ERROR(output.Commit());
    const std::string result = folder.path() + "/rows.so";
    AOTC_ASSIGN_OR_RETURN(
        const ProcessResult built,
        RunProcess({.argv = {"g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra",
                             "-Wpedantic", "-Werror", "-I", folder.path(),
                             folder.path() + "/rows.cpp", "-o", result}}));
    if (built.exit_code != 0) return absl::InternalError(built.output);
    void* handle = dlopen(result.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return absl::InternalError(dlerror());
    return Library(handle);
  }
  Entry Find(const std::string& name) const {
    return reinterpret_cast<Entry>(dlsym(handle_.get(), name.c_str()));
  }

 private:
  explicit Library(void* handle) : handle_(handle, [](void* held) { dlclose(held); }) {}
  std::shared_ptr<void> handle_;
};

std::vector<RowCase> DrawCases(const CpuRowsOptions& options, Random& random) {
  std::vector<RowCase> cases;
  const RowMachine machine{options.isa.lanes, options.isa.registers};
  for (const TileRow& row : CpuTiles()) {
    if (!options.tile.empty() && row.name != options.tile) continue;
    for (int i = 0; i < options.cases; ++i) {
      const std::string name = StrCat("case_", cases.size());
      if (std::optional<RowCase> drawn = DrawRowCase(row, machine, name, random)) {
        cases.push_back(*std::move(drawn));
      }
    }
  }
  return cases;
}

std::string Describe(const RowCase& of, const RowSizes& sizes) {
  const auto pair = [](const auto& size) { return StrCat(size.first, "=", size.second); };
  return StrCat(of.row->name, "<", StrJoin(of.params, ", ", [](int64_t p) { return p; }), "> ",
                StrJoin(of.types, " ", [](DType type) { return DTypeName(type); }),
                of.has_initial ? " from %start" : "", " at ", StrJoin(sizes, " ", pair));
}

std::string Run(const RowCase& of, Entry entry, Random& random) {
  const RowSizes sizes = DrawRowSizes(of, random);
  RowMemory memory(of, sizes, random);
  std::vector<int64_t> symbols;
  for (const Symbol& symbol : of.loops.symbols) symbols.push_back(sizes.at(symbol.var));
  entry(memory.pointers().data(), symbols.data());
  const std::string wrong = memory.Compare();
  return wrong.empty() ? "" : StrCat(Describe(of, sizes), ": ", wrong);
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
  const std::vector<RowCase> cases = DrawCases(options, random);
  if (cases.empty()) return absl::NotFoundError("no row has legal parameters");
  for (const RowCase& of : cases) AOTC_RETURN_IF_ERROR(VerifyLoops(of.loops));
  OutputFiles files = FilesOf(cases, options.isa);
  AOTC_ASSIGN_OR_RETURN(const OutputFiles headers, CollectHeaders(files));
  files.insert(headers.begin(), headers.end());
  if (options.edit) options.edit(files);
  AOTC_ASSIGN_OR_RETURN(const Library library, Library::Build(files));
  for (const RowCase& of : cases) {
    const Entry entry = library.Find(of.loops.name);
    if (entry == nullptr) return absl::InternalError(StrCat("no ", of.loops.name));
    for (int run = 0; run < options.runs; ++run) {
      if (std::string wrong = Run(of, entry, random); !wrong.empty()) return wrong;
    }
  }
  return "";
}

}  // namespace aotc
