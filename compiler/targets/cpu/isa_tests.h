// What a host program asks the processor, so that each launch takes the best variant that it can
// run: one bit for each instruction set that kernels need and not every machine has.
//
//   AOTC_ASSIGN_OR_RETURN(const IsaTests isas, IsaTests::Of(program));
//   isas.EmitFinder(w);                          // uint32_t find_isas() { ... }
//   isas.Condition(variant, "self->isas")        // "(self->isas & isa_v4) != 0"
#ifndef AOTC_COMPILER_TARGETS_CPU_ISA_TESTS_H_
#define AOTC_COMPILER_TARGETS_CPU_ISA_TESTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"
#include "compiler/support/code_writer.h"
#include "compiler/targets/cpu/features.h"

namespace aotc {

class IsaTests {
 public:
  // Error: a variant asks for an instruction set that is not known.
  static absl::StatusOr<IsaTests> Of(const Program& program);

  // Whether the program cannot run on every machine, and whether variants depend on the machine.
  bool HasNeeds() const { return !needed_.empty(); }
  bool HasChoice() const { return tested_.size() > needed_.size(); }

  // The #include that find_isas() wants, as a line, or "".
  std::string header() const;
  // The bits, and find_isas(), which gives those of this machine. Nothing where none is asked for.
  void EmitFinder(CodeWriter& w) const;
  // True where the machine lacks what the program needs.
  std::string Missing(std::string_view found) const;
  // True where the machine has what the variant needs; "" where each that runs the program does.
  std::string Condition(const KernelVariant& variant, std::string_view found) const;

 private:
  bool IsTested(const Isa& isa) const;

  std::vector<Isa> needed_;  // those without which nothing runs, narrowest first
  std::vector<Isa> tested_;  // and those that variants ask for besides
};

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_ISA_TESTS_H_
