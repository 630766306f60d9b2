// One kernel, compiled by the compiler's own phases and built by a host compiler, to be run like
// any model: what every realisation of the first slice goes through.
//
//   SliceModel model = *SliceModel::Build({.kernel = kernel, .constants = {b, bias}});
//   std::vector<Bytes> outputs = *model.Run({.inputs = {a, residual}, .workers = 2});
#ifndef AOTC_TESTS_SLICE_SLICE_MODEL_H_
#define AOTC_TESTS_SLICE_SLICE_MODEL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/program.h"
#include "compiler/support/files.h"
#include "runtime-lite/aotc/model.h"
#include "tests/host_library/host_library.h"

namespace aotc {

using Bytes = std::vector<uint8_t>;

// An output with strides lies in a larger tensor, which is the model's output in its place.
struct Destination {
  Shape shape = {};              // of the larger tensor, as stored
  std::vector<Expr> start = {};  // of the output in it
};

struct SliceOptions {
  Kernel kernel = {};
  std::vector<Constant> constants = {};                  // of the const params, in order
  std::map<std::string, Destination> destinations = {};  // by name of the output
  std::string target = "cpu";
  std::string cpu = "native";  // as --cpu takes it
  bool templates = true;
  std::vector<std::string> flags = {};  // for the host compiler: "-DAOTC_CUDA_CHECK_RACES"
  // Changes the files before they are built: how faults are planted.
  std::function<void(OutputFiles&)> edit = {};
};

struct SliceRun {
  std::vector<Constant> inputs = {};
  std::vector<std::vector<int64_t>> output_dims = {};
  int workers = 1;
  uint8_t fill = 0xcd;  // of the outputs' memory before the run
  int repeats = 1;
  double* best_seconds = nullptr;  // of all repeats, where asked for
};

class SliceModel {
 public:
  static absl::StatusOr<SliceModel> Build(const SliceOptions& options);

  // The bytes of each output. Error: the status that the model gave.
  absl::StatusOr<std::vector<Bytes>> Run(const SliceRun& run) const;

  const Program& program() const { return *program_; }
  const OutputFiles& files() const { return *files_; }
  // What nm prints for all objects.
  const std::string& symbols() const { return symbols_; }
  const std::string& folder() const { return folder_->path(); }

 private:
  absl::Status Compile(const SliceOptions& options);

  std::shared_ptr<TemporaryFolder> folder_;
  std::shared_ptr<Program> program_;
  std::shared_ptr<OutputFiles> files_;
  HostLibrary library_;
  const aotc_model* table_ = nullptr;
  std::string symbols_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_SLICE_SLICE_MODEL_H_
