#include "compiler/emit/kernel_comment.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/kernel_text.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

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
  std::string text = kernel.sources.empty() ? "" : StrCat(StrJoin(kernel.sources, " + "), "\n");
  StrAppend(&text, AlsoLines(program_kernel.also), PrintStages(kernel), "\n");
  const bool narrow = variant.loops.index == DType::kI32;
  StrAppend(&text, variant.schedule, "\n", variant.reason, narrow ? "; 32-bit indices" : "", "\n");
  StrAppend(&text, static_cast<int64_t>(KernelFlops(kernel)), " FLOP, ",
            static_cast<int64_t>(KernelBytes(kernel)), " bytes");
  CodeWriter w;
  w.Comment(text);
  return w.text();
}

}  // namespace aotc
