// How one test reaches the same kernels built for several instruction sets.
//
// A file `<name>_kernels.cc` is compiled once per ISA (AOTC_ISA_..., AOTC_TEST_ISA: set by the
// build) and exports one table, `AOTC_TEST_EXPORT(name)`. The test declares the tables with
// AOTC_TEST_TABLES and walks those that this processor can run:
//
//   AOTC_TEST_TABLES(contract, ContractKernels)
//   for (const auto &isa : RunnableIsas(contract_tables)) isa.kernels->matmul(arguments);
#ifndef AOTC_TESTS_TEMPLATES_ISA_H_
#define AOTC_TESTS_TEMPLATES_ISA_H_

#define AOTC_TEST_JOIN2(a, b) a##_##b
#define AOTC_TEST_JOIN(a, b) AOTC_TEST_JOIN2(a, b)

// In a kernels file: extern "C" const ContractKernels *AOTC_TEST_EXPORT(contract)() { ... }
#define AOTC_TEST_EXPORT(name) AOTC_TEST_JOIN(aotc_test_##name, AOTC_TEST_ISA)

#ifndef AOTC_TEST_ISA  // in the test itself

#include <string>
#include <vector>

#include "aotc/cpu.h"

namespace aotc_test {

template <class Kernels>
struct IsaTable {
  const char* name;
  const Kernels* kernels;
};

inline bool CanRun(const std::string& isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa == "v4") return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (isa == "v3vnni") return CanRun("v3") && aotc_cpu_has(1, 0, 4);
  if (isa == "v4vnni") return CanRun("v4") && aotc_cpu_has(0, 2, 11);
  if (isa == "v4vnniamx")
    return CanRun("v4vnni") && aotc_cpu_has(0, 3, 25) && aotc_system_allows_tiles();
  if (isa == "v3") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return true;
}

template <class Kernels>
std::vector<IsaTable<Kernels>> RunnableIsas(const std::vector<IsaTable<Kernels>>& all) {
  std::vector<IsaTable<Kernels>> runnable;
  for (const auto& isa : all) {
    if (CanRun(isa.name)) runnable.push_back(isa);
  }
  return runnable;
}

}  // namespace aotc_test

#if defined(__x86_64__)
#define AOTC_TEST_TABLES(name, Kernels)                                            \
  extern "C" const Kernels* aotc_test_##name##_generic();                          \
  extern "C" const Kernels* aotc_test_##name##_v1();                               \
  extern "C" const Kernels* aotc_test_##name##_v3();                               \
  extern "C" const Kernels* aotc_test_##name##_v3vnni();                           \
  extern "C" const Kernels* aotc_test_##name##_v4();                               \
  extern "C" const Kernels* aotc_test_##name##_v4vnni();                           \
  extern "C" const Kernels* aotc_test_##name##_v4vnniamx();                        \
  static const std::vector<aotc_test::IsaTable<Kernels>> name##_tables =           \
      aotc_test::RunnableIsas<Kernels>({{"generic", aotc_test_##name##_generic()}, \
                                        {"v1", aotc_test_##name##_v1()},           \
                                        {"v3", aotc_test_##name##_v3()},           \
                                        {"v3vnni", aotc_test_##name##_v3vnni()},   \
                                        {"v4", aotc_test_##name##_v4()},           \
                                        {"v4vnni", aotc_test_##name##_v4vnni()},   \
                                        {"v4vnniamx", aotc_test_##name##_v4vnniamx()}});
#else
#define AOTC_TEST_TABLES(name, Kernels)                                    \
  extern "C" const Kernels* aotc_test_##name##_generic();                  \
  static const std::vector<aotc_test::IsaTable<Kernels>> name##_tables = { \
      {"generic", aotc_test_##name##_generic()}};
#endif

#endif  // AOTC_TEST_ISA
#endif  // AOTC_TESTS_TEMPLATES_ISA_H_
