// Imports the models of test folders, infers their types and evaluates them, against expected
// outputs.
//
//   run_cases FOLDER...       each with cases: CASE/model.onnx, CASE/test_data_set_0/input_0.pb ...
//
// Cases that need an operator which is not supported, or a value at compile time that the data
// gives at run time, are counted apart. Prints every case that fails; exit code 1 where there is
// one.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "compiler/support/status.h"
#include "tests/conformance/node_model.h"
#include "tests/import/model_case.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

enum class Outcome : uint8_t { kPassed, kUnsupported, kDynamic, kFailed };

bool Mentions(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

// What is not ours to do here: the data makes a shape, or a type is none of ours.
Outcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return Outcome::kPassed;
  const std::string findings = status.ToString();
  if (Mentions(findings, "at compile time")) return Outcome::kDynamic;
  const bool unsupported = absl::IsUnimplemented(status) || Mentions(findings, "not supported") ||
                           Mentions(findings, "does not support") ||
                           Mentions(findings, "not converted");
  return unsupported ? Outcome::kUnsupported : Outcome::kFailed;
}

// Every input is one of the run.
absl::Status CheckCase(const fs::path& folder) {
  AOTC_ASSIGN_OR_RETURN(const NodeModel model, ReadNodeModel(folder));
  AOTC_RETURN_IF_ERROR(CheckTextForm(model.graph));
  return CheckCompiled(model);
}

// Number of failures.
int RunFolder(const fs::path& folder) {
  int counts[4] = {};
  for (const fs::path& path : FoldersIn(folder)) {
    const absl::Status status = CheckCase(path);
    const Outcome outcome = OutcomeOf(status);
    ++counts[static_cast<int>(outcome)];
    if (outcome != Outcome::kFailed) continue;
    std::string reason = status.ToString();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    std::printf("%s: %s\n", path.filename().c_str(), reason.c_str());
  }
  std::printf("%s: %d passed, %d not supported, %d with dynamic shapes, %d failed\n",
              folder.filename().c_str(), counts[0], counts[1], counts[2], counts[3]);
  return counts[3];
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) failed += aotc::RunFolder(argv[i]);
  return failed == 0 ? 0 : 1;
}
