// The whole compiler as one call: a model in, the files of an output folder out.
//
//   CompileOptions options{.model_path = "mobilenet.onnx", .target = "cpu"};
//   Diagnostics diagnostics;
//   AOTC_ASSIGN_OR_RETURN(CompileResult result, Compile(options, diagnostics));
//   result.files.at("mobilenet.h")
//
// No globals, no printing; several compiles may run in one process.
#ifndef AOTC_COMPILER_DRIVER_COMPILE_H_
#define AOTC_COMPILER_DRIVER_COMPILE_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "compiler/fuse/keep_values.h"
#include "compiler/import/onnx_import.h"
#include "compiler/ir/program.h"
#include "compiler/layout/alias_option.h"
#include "compiler/pass/pass.h"
#include "compiler/plan/pool_option.h"
#include "compiler/support/diagnostics.h"
#include "compiler/targets/target.h"

namespace aotc {

struct CompileOptions {
  std::string model_path = {};
  std::string name = {};                           // prefix; from the file name where empty
  std::string target = "cpu";                      // a name of targets/registry.h
  std::string cpu = std::string(kDefaultCpuList);  // instruction sets
  std::string limits_path = {};                    // a limits file for rules and costs
  std::string limits = {};                         // its text, where there is no file
  std::string schedules_path = {};                 // records of schedules (schedule/record.h)
  std::string schedules = {};                      // their text, where there is no file
  std::vector<std::string> cuda_arch = {};         // "80", "90a": GPUs to run on; empty: 80
  ImportOptions import = {};
  WeightsForm weights = WeightsForm::kIncbin;
  std::vector<PoolOption> pools = {};     // that the arena is made of, the fastest first; cpu only
  std::vector<AliasOption> aliases = {};  // outputs that take the memory of inputs
  bool example = false;
  bool python = false;
  bool profile = false;                           // runs tell of their steps
  bool threads = true;                            // false: a run has one worker; cpu only
  bool for_size = false;                          // the smallest arena, whatever it costs in time
  bool templates = true;                          // false: plain loops only
  std::set<std::string> disabled_schedules = {};  // names of targets/registry.h
  bool assume_valid_indices = false;              // no index of the data is out of range
  bool keep_values = false;             // what lies between kernels is given as further outputs
  PassOptions passes = {};              // stop_after and the rest hold for phases, too
  std::vector<std::string> flags = {};  // as given, for metadata.json
  int dump_constants = 16;              // elements of a constant that dumps show
};

// The end of a phase or pass: PhaseNames() of pipeline.h has the names.
struct PhaseEnd {
  std::string name;
  double seconds;                     // of the phase alone
  std::function<std::string()> dump;  // the state of the program there; within the call only
};
using PhaseHook = std::function<void(const PhaseEnd& end)>;

struct CompileResult {
  OutputFiles files = {};  // empty where a phase stopped the compile
  // Whose bytes the compile read: the model first, then its external data and what flags name.
  std::vector<std::string> files_read = {};
  // What a host compiler is told to build them for a machine without the target's device.
  std::vector<std::string> emulation_flags = {};
  Graph graph = {};  // after the last graph phase that ran
  Program program = {};
  Target target = {};
  std::vector<KeptValue> kept = {};  // with keep_values
};

absl::StatusOr<CompileResult> Compile(const CompileOptions& options, Diagnostics& diagnostics,
                                      const PhaseHook& hook = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_COMPILE_H_
