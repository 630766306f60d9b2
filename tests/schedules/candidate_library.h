// The candidates of one kernel, each a function of one library that a host compiler has built.
//
//   CandidateLibrary library = *CandidateLibrary::Build(target, kernel, variants);
//   library.Run(0, memory);       // the kernel as its first candidate computes it
#ifndef AOTC_TESTS_SCHEDULES_CANDIDATE_LIBRARY_H_
#define AOTC_TESTS_SCHEDULES_CANDIDATE_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"
#include "compiler/support/files.h"
#include "compiler/targets/target.h"
#include "tests/host_library/host_library.h"
#include "tests/schedules/kernel_memory.h"

namespace aotc {

class CandidateLibrary {
 public:
  // `kernel` has one variant a candidate. Error: what the compiler printed.
  static absl::StatusOr<CandidateLibrary> Build(const Target& target, ProgramKernel kernel,
                                                const std::vector<std::string>& flags);

  size_t size() const { return kernel_.variants.size(); }
  // All tasks, one after another.
  void Run(size_t candidate, const KernelMemory& memory) const;
  // A run's seconds, with nothing of it in the inner caches when it begins; of short runs the mean
  // of several.
  double Seconds(size_t candidate, const KernelMemory& memory);

 private:
  using Function = void (*)(int candidate, void* const* pointers, const int64_t* symbols,
                            int64_t tasks, void* scratch);

  explicit CandidateLibrary(TemporaryFolder folder) : folder_(std::move(folder)) {}
  absl::Status Compile(const Target& target, const std::vector<std::string>& flags);
  std::string TableText(const Target& target) const;

  TemporaryFolder folder_;
  ProgramKernel kernel_;
  HostLibrary library_;
  Function function_ = nullptr;
  mutable std::vector<double> scratch_;
  std::vector<char> elsewhere_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_SCHEDULES_CANDIDATE_LIBRARY_H_
