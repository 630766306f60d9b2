// VerifyVariants: the kernels of a Program, and the loops that realise them.
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/ir/program.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The loops take and write what the kernel says.
absl::Status CheckSameParams(const ProgramKernel& program_kernel, const LoopFunction& loops) {
  const Kernel& kernel = program_kernel.kernel;
  bool same = kernel.params.size() == loops.params.size();
  for (size_t i = 0; same && i < kernel.params.size(); ++i) {
    const KernelTensor tensor = StoredTensor(kernel, program_kernel.packing, kernel.params[i]);
    const LoopBuffer& buffer = loops.buffers[loops.params[i]];
    same = tensor.dtype == buffer.dtype && (tensor.role == TensorRole::kOutput) == buffer.written;
  }
  if (same) return absl::OkStatus();
  return absl::InternalError(
      StrCat("program: loops @", loops.name, " has other parameters than kernel @", kernel.name));
}

}  // namespace

absl::Status VerifyVariants(const Program& program) {
  KernelVerifier verifier;
  for (const ProgramKernel& kernel : program.kernels) {
    AOTC_RETURN_IF_ERROR(verifier.Verify(kernel.kernel));
    for (const KernelVariant& variant : kernel.variants) {
      AOTC_RETURN_IF_ERROR(VerifyLoops(variant.loops));
      AOTC_RETURN_IF_ERROR(CheckSameParams(kernel, variant.loops));
    }
  }
  return absl::OkStatus();
}

}  // namespace aotc
