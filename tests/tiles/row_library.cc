#include "tests/tiles/row_library.h"

#include "compiler/emit/c_expr.h"
#include "compiler/emit/parts.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"
#include "tests/tiles/row_memory.h"

namespace aotc {

std::string RowArguments(const RowCase& of) {
  const LoopFunction& loops = of.loops;
  std::string arguments;
  for (size_t i = 0; i < loops.params.size(); ++i) {
    const LoopBuffer& buffer = loops.buffers[loops.params[i]];
    StrAppend(&arguments, "(", buffer.written ? "" : "const ", CInterfaceType(buffer.dtype),
              " *)b[", i, "], ");
  }
  for (size_t i = 0; i < loops.symbols.size(); ++i) StrAppend(&arguments, "s[", i, "], ");
  return arguments;
}

absl::StatusOr<HostLibrary> BuildRows(OutputFiles files, const std::vector<std::string>& flags,
                                      const std::function<void(OutputFiles&)>& edit) {
  AOTC_ASSIGN_OR_RETURN(const OutputFiles headers, CollectHeaders(files));
  files.insert(headers.begin(), headers.end());
  if (edit) edit(files);
  AOTC_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create("aotc_tile_rows"));
  for (const auto& [path, content] : files) AOTC_RETURN_IF_ERROR(folder.Write(path, content));
  const std::string result = folder.path() + "/rows.so";
  std::vector<std::string> argv = {"g++",     "-std=c++17", "-O1",        "-fPIC",
                                   "-shared", "-Wall",      "-Wextra",    "-Wpedantic",
                                   "-Werror", "-I",         folder.path()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {StrCat(folder.path(), "/", kRowSource), "-o", result, "-lpthread"});
  AOTC_RETURN_IF_ERROR(RunTool(argv).status());
  return HostLibrary::Load(result);
}

std::string RunRowCase(const RowCase& of, RowEntry entry, Random& random) {
  const RowSizes sizes = DrawRowSizes(of, random);
  RowMemory memory(of, sizes, random);
  std::vector<int64_t> symbols;
  for (const Symbol& symbol : of.loops.symbols) symbols.push_back(sizes.at(symbol.var));
  const int64_t tasks = of.Tasks(sizes);
  std::string wrong;
  if (tasks > 0) wrong = entry(memory.pointers().data(), symbols.data(), tasks);
  if (wrong.empty()) wrong = memory.Compare();
  return wrong.empty() ? "" : StrCat(of.Describe(sizes), ": ", wrong);
}

}  // namespace aotc
