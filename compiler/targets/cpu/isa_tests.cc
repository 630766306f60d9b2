#include "compiler/targets/cpu/isa_tests.h"

#include <algorithm>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string BitOf(const Isa& isa) { return "isa_" + isa.suffix; }

void AddNew(std::vector<Isa>& isas, const Isa& isa) {
  if (isa.family->is_x86 && std::ranges::count(isas, isa) == 0) isas.push_back(isa);
}

// Whether this machine has the vectors of the family, given what says so of the narrower ones.
std::string FamilyTest(const VectorFamily& family, const std::string& narrower) {
  std::vector<std::string> tests;
  if (!narrower.empty()) tests.push_back(narrower);
  for (const CpuTest& test : family.tests) {
    tests.push_back(StrCat("__builtin_cpu_supports(\"", test.name, "\")"));
  }
  return StrJoin(tests, " && ");
}

// The bit where the machine has the instruction set, in terms of variables for the families.
std::string BitIfFound(const Isa& isa) {
  if (isa.family->tests.empty()) return BitOf(isa);
  std::string test(isa.family->suffix);
  for (const CpuFeature* feature : isa.features) {
    StrAppend(&test, " && aotc_cpu_has(", feature->subleaf, ", ", feature->word, ", ", feature->bit,
              ")");
    const std::string_view permission = feature->permission.name;
    if (!permission.empty()) StrAppend(&test, " && ", permission);
  }
  return StrCat("(", test, " ? ", BitOf(isa), " : 0)");
}

std::string BitTest(std::string_view found, const Isa& isa, std::string_view relation) {
  return StrCat("(", found, " & ", BitOf(isa), ") ", relation, " 0");
}

}  // namespace

absl::StatusOr<IsaTests> IsaTests::Of(const Program& program) {
  IsaTests tests;
  std::vector<Isa> last, all;
  for (const ProgramKernel& kernel : program.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      if (variant.feature.empty()) continue;  // runs anywhere
      const absl::StatusOr<Isa> isa = ParseIsa(variant.feature);
      if (!isa.ok()) {
        return absl::InternalError(StrCat("kernel ", kernel.kernel.name, " needs '",
                                          variant.feature, "', which the host cannot ask for"));
      }
      AddNew(all, *isa);
      if (&variant == &kernel.variants.back()) AddNew(last, *isa);
    }
  }
  std::ranges::sort(last, ComesBefore);
  std::ranges::sort(all, ComesBefore);
  for (const Isa& isa : last) {
    const bool implied = std::ranges::any_of(
        last, [&](const Isa& other) { return !(other == isa) && Holds(other, isa); });
    if (!implied) tests.needed_.push_back(isa);
  }
  for (const Isa& isa : all) {
    const auto implies = [&](const Isa& needed) { return !(needed == isa) && Holds(needed, isa); };
    if (!std::ranges::any_of(tests.needed_, implies)) tests.tested_.push_back(isa);
  }
  return tests;
}

bool IsaTests::IsTested(const Isa& isa) const {
  return std::ranges::count(tested_, isa) > 0 && std::ranges::count(needed_, isa) == 0;
}

std::string IsaTests::header() const {
  const bool asks = std::ranges::any_of(tested_, [](const Isa& isa) {  //
    return !isa.features.empty();
  });
  return asks ? "#include \"aotc/cpu.h\"\n" : "";
}

void IsaTests::EmitFinder(CodeWriter& w) const {
  if (tested_.empty()) return;
  std::vector<std::string> bits, found;
  for (const Isa& isa : tested_) {
    bits.push_back(StrCat("constexpr uint32_t ", BitOf(isa), " = ", 1u << bits.size(), ";"));
    found.push_back(BitIfFound(isa));
  }
  w.Line("// Instruction sets that kernels use, and those of them that this processor has.");
  for (const std::string& bit : bits) w.Line(bit);
  w.Line();
  const auto block = w.Block("uint32_t find_isas() {", "}\n");
  w.Line("#if defined(__x86_64__)");
  std::string narrower;
  for (const VectorFamily& family : VectorFamilies()) {
    if (family.tests.empty() || &family > tested_.back().family) continue;
    w.Line(StrCat("const bool ", family.suffix, " = ", FamilyTest(family, narrower), ";"));
    narrower = std::string(family.suffix);
  }
  w.Line(StrCat("return ", StrJoin(found, " | "), ";"));
  w.Line("#else");
  w.Line("return 0;");
  w.Line("#endif");
}

std::string IsaTests::Missing(std::string_view found) const {
  if (needed_.size() == 1) return BitTest(found, needed_[0], "==");
  const std::string all = StrJoin(needed_, " | ", BitOf);
  return StrCat("(", found, " & (", all, ")) != (", all, ")");
}

std::string IsaTests::Condition(const KernelVariant& variant, std::string_view found) const {
  const absl::StatusOr<Isa> isa = ParseIsa(variant.feature);
  return isa.ok() && IsTested(*isa) ? BitTest(found, *isa, "!=") : "";
}

}  // namespace aotc
