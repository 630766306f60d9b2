#include "compiler/emit/kernel_comment.h"

#include "absl/strings/str_split.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Text behind `// `, line by line; a backslash at the end of a line must not continue the comment.
std::string CommentLines(const std::string& text) {
  std::string result;
  for (const auto& piece : absl::StrSplit(text, '\n')) {
    const std::string line(piece);
    if (line.empty()) continue;
    StrAppend(&result, "// ", line, line.back() == '\\' ? " |" : "", "\n");
  }
  return result;
}

}  // namespace

std::string KernelComment(const ProgramKernel& program_kernel, const KernelVariant& variant) {
  const Kernel& kernel = program_kernel.kernel;
  std::string text = StrCat(StrJoin(kernel.sources, " + "), "\n");
  for (const std::string& sources : program_kernel.also) StrAppend(&text, "also ", sources, "\n");
  StrAppend(&text, PrintStages(kernel), "\n");
  StrAppend(&text, "schedule: ", variant.schedule, "; ", variant.reason, "\n");
  StrAppend(&text, static_cast<int64_t>(KernelFlops(kernel)), " FLOP, ",
            static_cast<int64_t>(KernelBytes(kernel)), " bytes\n");
  return CommentLines(text);
}

}  // namespace aotc
