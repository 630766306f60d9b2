// Text form of kernels (the grammar is shown in kernel.h) and the checks that every kernel passes.
#ifndef AOTC_COMPILER_IR_KERNEL_TEXT_H_
#define AOTC_COMPILER_IR_KERNEL_TEXT_H_

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

std::string PrintKernel(const Kernel& kernel);
// The same without what names say: equal for kernels that compute the same on tensors of the same
// kind.
std::string PrintKernelWithoutNames(Kernel kernel);
// 16 hexadecimal digits of that: the identity of a kernel, on every machine.
std::string KernelHash(const Kernel& kernel);
// Only the stages, one a line: what the comment above a generated kernel shows.
std::string PrintStages(const Kernel& kernel);
absl::StatusOr<Kernel> ParseKernel(Scanner& scanner);
absl::StatusOr<Kernel> ParseKernel(std::string_view text);

// What follows the name of a combiner that is no stock one: identity (0.0, 0) combine (a0 + b0, b1)
std::string PrintCombiner(const Combiner& combiner);
// The same into a combiner that has its name. Error: not `count` components, where that is above 0.
absl::Status ParseCombiner(Scanner& scanner, size_t count, Combiner& combiner);

// Every tensor is defined before use and once; loads have the tensor's rank and dtype and are in
// bounds (or under a select that proves it) for all values of axes and symbols where that can be
// decided; dtypes of bodies, combiners and results agree; names are unique.
absl::Status VerifyKernel(const Kernel& kernel);

// VerifyKernel for many kernels, as those of one model, most of which differ in names only.
//
//   KernelVerifier verifier;
//   for (const Kernel& kernel : kernels) AOTC_RETURN_IF_ERROR(verifier.Verify(kernel));
class KernelVerifier {
 public:
  // Of a kernel that but for names has been found right before, only the names are checked.
  absl::Status Verify(const Kernel& kernel);

 private:
  std::set<std::string> verified_;  // texts without names
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_KERNEL_TEXT_H_
