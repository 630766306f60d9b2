#include "compiler/emit/kernel_comment.h"

#include <algorithm>
#include <string>
#include <vector>

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

// The other nodes that the kernel computes, one launch a line. metadata.json has them all.
std::string AlsoLines(const std::vector<std::string>& also) {
  constexpr size_t kMostLines = 32;
  std::string text;
  for (size_t i = 0; i < std::min(also.size(), kMostLines); ++i) {
    StrAppend(&text, "also ", also[i], "\n");
  }
  if (also.size() > kMostLines) {
    StrAppend(&text, "and ", also.size() - kMostLines, " more, listed in metadata.json\n");
  }
  return text;
}

}  // namespace

std::string KernelComment(const ProgramKernel& program_kernel, const KernelVariant& variant) {
  const Kernel& kernel = program_kernel.kernel;
  std::string text = StrCat(StrJoin(kernel.sources, " + "), "\n");
  StrAppend(&text, AlsoLines(program_kernel.also));
  StrAppend(&text, PrintStages(kernel), "\n");
  const bool narrow = variant.loops.index == DType::kI32;
  StrAppend(&text, "schedule: ", variant.schedule, "; ", variant.reason,
            narrow ? "; 32-bit indices" : "", "\n");
  StrAppend(&text, static_cast<int64_t>(KernelFlops(kernel)), " FLOP, ",
            static_cast<int64_t>(KernelBytes(kernel)), " bytes\n");
  return CommentLines(text);
}

}  // namespace aotc
