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

// What all variants have in common.
std::string WhatItComputes(const ProgramKernel& program_kernel) {
  const Kernel& kernel = program_kernel.kernel;
  return StrCat(kernel.sources.empty() ? "" : StrCat(StrJoin(kernel.sources, " + "), "\n"),
                AlsoLines(program_kernel.also), PrintStages(kernel), "\n",
                static_cast<int64_t>(KernelFlops(kernel)), " FLOP, ",
                static_cast<int64_t>(KernelBytes(kernel)), " bytes\n");
}

}  // namespace

std::string KernelComment(const ProgramKernel& program_kernel, const KernelVariant& variant) {
  const KernelVariant& base = program_kernel.variants.back();
  std::string text =
      &variant == &base
          ? WhatItComputes(program_kernel)
          : StrCat("As for ", base.feature.empty() ? "any machine" : base.feature, ", with\n");
  const bool narrow = variant.loops.index == DType::kI32;
  StrAppend(&text, variant.schedule, "\n", variant.reason, narrow ? "; 32-bit indices" : "");
  CodeWriter w;
  w.Comment(text);
  return w.text();
}

}  // namespace aotc
