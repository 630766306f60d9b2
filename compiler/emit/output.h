// The files of an output folder, from a planned Program and the text of its kernels.
//
//   EmitOptions options{.host = CpuHost()};
//   options.kernels = {{"mobilenet_kernels_0.cpp", text}};
//   OutputFiles files = *EmitOutput(program, options);   // {"mobilenet.h": "...", ...}
//
// Emission decides nothing: offsets, order, names of symbols and variants are in the Program. What
// each file is for, and what its users may rely on, is said in docs/output-format.md.
#ifndef AOTC_COMPILER_EMIT_OUTPUT_H_
#define AOTC_COMPILER_EMIT_OUTPUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/host_writer.h"
#include "compiler/ir/program.h"

namespace aotc {

// How the packed weights reach the program.
enum class WeightsForm : uint8_t {
  kIncbin,  // linked in from the blob by the assembler
  kArray,   // numbers in a .cpp
  kFile,    // the user loads the blob and hands it over
};

// A kernel source as the target wrote it; formatted by EmitOutput.
struct KernelFile {
  std::string path = {};
  std::string text = {};
};

// What metadata.json says of the model and of the compile.
struct Provenance {
  std::string aotc_version = "0.1.0";
  std::string model_name = {};  // file name without folders
  std::string model_sha256 = {};
  std::map<std::string, int64_t> opsets = {};            // by domain; "" is ai.onnx
  std::map<std::string, std::string> bound_sha256 = {};  // files of --bind, by name of the value
  std::vector<std::string> flags = {};                   // as given, without paths
  std::string limits = {};               // of a limits file, what was used: JSON, or ""
  std::string schedules = {};            // the records that applied, a line each
  std::vector<std::string> passes = {};  // those run, in order
};

struct EmitOptions {
  HostWriter host = {};  // the target's
  WeightsForm weights = WeightsForm::kIncbin;
  bool example = false;  // example/main.cpp too
  bool python = false;   // NAME.py too
  bool profile = false;  // runs tell of their steps
  std::vector<KernelFile> kernels = {};
  Provenance provenance = {};
};

// Errors: weights too large for their form (with the flag to give), ranks above 8, symbols that no
// input states plainly, element types that the interface does not have.
absl::StatusOr<OutputFiles> EmitOutput(const Program& program, const EmitOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_OUTPUT_H_
