// Memory for the arguments of one kernel: seeded numbers as the kernel's loops find them, in the
// layouts of its contract.
//
//   KernelMemory memory = *KernelMemory::Fill(program_kernel, /*seed=*/1);
//   memory.pointers();                       // an argument of the kernel each
//   memory.Differs(other)                    // "" where the results of both are the same numbers
#ifndef AOTC_TESTS_SCHEDULES_KERNEL_MEMORY_H_
#define AOTC_TESTS_SCHEDULES_KERNEL_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/program.h"

namespace aotc {

class KernelMemory {
 public:
  // Symbols have their largest values, of unbounded ones 64. Error: a type that numbers are not
  // drawn for, or too many bytes.
  static absl::StatusOr<KernelMemory> Fill(const ProgramKernel& kernel, uint64_t seed);

  const std::vector<void*>& pointers() const { return pointers_; }
  const SymbolValues& symbols() const { return symbols_; }
  // In the order of the kernel's symbols.
  std::vector<int64_t> SymbolArguments() const;

  // Poison in all outputs.
  void Clear();
  // The bytes of all outputs.
  std::vector<std::vector<uint8_t>> Outputs() const;
  // What differs by more than the order of sums explains; "" where nothing does. Integers must be
  // the same.
  std::string Compare(const std::vector<std::vector<uint8_t>>& is,
                      const std::vector<std::vector<uint8_t>>& due) const;

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  struct Argument {
    std::unique_ptr<uint8_t, Free> memory = {};
    size_t bytes = 0;
    DType dtype = DType::kF32;
    bool is_output = false;
    std::string name = {};
  };

  absl::Status Add(const ProgramKernel& kernel, TensorId id, uint64_t seed);

  SymbolValues symbols_;
  std::vector<Symbol> order_;
  std::vector<Argument> arguments_;
  std::vector<void*> pointers_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_SCHEDULES_KERNEL_MEMORY_H_
