// What processors have, as two tables: families of vectors, each of which holds the one before, and
// features that single instructions need. An instruction set (Isa) is a family and a set of its
// features.
//
//   Isa isa = *ParseIsa("x86-64-v3+avxvnni");
//   isa.lanes     // 8
//   isa.suffix    // "v3vnni", behind the names of kernels
//
// Another feature is a row of kFeatures (features.cc), and the code that uses it behind its macro,
// such as runtime-lite/aotc/dot.h.
#ifndef AOTC_COMPILER_TARGETS_CPU_FEATURES_H_
#define AOTC_COMPILER_TARGETS_CPU_FEATURES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

// A question to the machine, as __builtin_cpu_supports takes it or a call of aotc/cpu.h, and its
// answer here.
struct CpuTest {
  std::string_view name = {};
  bool (*holds_here)() = nullptr;
};

struct VectorFamily {
  std::string_view name = {};    // as --cpu takes it
  std::string_view macro = {};   // selects it in aotc/target_begin.h
  std::string_view suffix = {};  // of kernel names: "v4"
  int lanes = 4;                 // f32 lanes of a vector
  int registers = 16;            // vector registers
  bool is_x86 = false;           // else any machine runs it
  // What a run asks for beyond the tests of narrower families.
  std::span<const CpuTest> tests = {};
  // Features whose kernels are written besides, where the family is asked for by its bare name:
  // each with those before it.
  std::span<const std::string_view> brings = {};
};

struct CpuFeature {
  std::string_view name = {};      // as --cpu takes it behind a +, and compilers as a target
  std::string_view family = {};    // that it works on
  std::string_view provides = {};  // what rules ask for; behind the family's suffix: "v4vnni"
  std::string_view macro = {};     // tells the code that uses it
  // Where CPUID says so: leaf 7, this subleaf, register (0 to 3: EAX, EBX, ECX, EDX) and bit.
  uint32_t subleaf = 0, word = 0, bit = 0;
  // Asks the operating system, where it keeps the registers for those who do.
  CpuTest permission = {};
};

// Narrowest first.
std::span<const VectorFamily> VectorFamilies();
// By family, and in the order in which names of instruction sets have them.
std::span<const CpuFeature> CpuFeatures();

struct Isa {
  const VectorFamily* family = nullptr;
  std::vector<const CpuFeature*> features = {};  // in the order of the table
  // What follows from these two.
  std::string name = {};    // "x86-64-v3+avxvnni", as --cpu takes it
  std::string suffix = {};  // "v3vnni"
  int lanes = 4, registers = 16;
  bool has_vnni = false;  // a feature provides dot products of bytes
  bool has_amx = false;   // products of tiles of bytes

  bool operator==(const Isa& other) const { return name == other.name; }
};

Isa MakeIsa(const VectorFamily& family, std::vector<const CpuFeature*> features = {});

// Narrower families first, of one family fewer features first.
bool ComesBefore(const Isa& a, const Isa& b);
// Whether each machine that has `a` has `b` too.
bool Holds(const Isa& a, const Isa& b);
// Whether a feature provides it; "" is what all have.
bool Provides(const Isa& isa, std::string_view provided);

// The instruction sets of the list for code that makes use of features which provide one of `used`,
// and of no others: narrowest first, without duplicates.
std::vector<Isa> IsasFor(std::span<const Isa> isas, std::span<const std::string_view> used);

// FAMILY or FAMILY+FEATURE+FEATURE. Error: an unknown name, with the known ones.
absl::StatusOr<Isa> ParseIsa(std::string_view name);
// The widest family that this machine has, with all features of it that it has.
Isa NativeIsa();

// What --cpu takes, narrowest first and without duplicates: names as ParseIsa takes them, and
// "native". A bare family brings what its row says.
absl::StatusOr<std::vector<Isa>> ParseCpuList(std::string_view list);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_FEATURES_H_
