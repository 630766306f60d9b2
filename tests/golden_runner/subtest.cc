#include "tests/golden_runner/subtest.h"

namespace aotc {
namespace {

constexpr Subtest kSubtests[] = {
    {"emit", RunEmit}, {"error", RunError},          {"eval", RunEval},
    {"fuse", RunFuse}, {"interpret", RunInterpret},  {"lower", RunLower},
    {"pass", RunPass}, {"program", RunProgramSteps}, {"roundtrip", RunRoundtrip},
};

}  // namespace

const Subtest* FindSubtest(std::string_view name) {
  for (const Subtest& subtest : kSubtests) {
    if (subtest.name == name) return &subtest;
  }
  return nullptr;
}

}  // namespace aotc
