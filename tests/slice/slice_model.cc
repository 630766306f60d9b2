#include "tests/slice/slice_model.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "absl/strings/match.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/slice/slice_program.h"

namespace aotc {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<uint8_t, Free>;

// Aligned as the model wants its tensors, filled.
Memory Allocate(size_t bytes, uint8_t fill) {
  constexpr size_t kAlign = 64;
  const size_t room = (bytes + kAlign) / kAlign * kAlign;
  Memory memory(static_cast<uint8_t*>(std::aligned_alloc(kAlign, room)));
  std::memset(memory.get(), fill, room);
  return memory;
}

aotc_value ValueOf(uint8_t* data, size_t bytes, const std::vector<int64_t>& dims, int32_t dtype) {
  aotc_value value = {};
  value.kind = AOTC_TENSOR;
  value.tensor.data = data;
  value.tensor.capacity_bytes = bytes;
  value.tensor.rank = static_cast<int32_t>(dims.size());
  value.tensor.dtype = dtype;
  for (size_t i = 0; i < dims.size(); ++i) value.tensor.dims[i] = dims[i];
  return value;
}

std::vector<std::string> CompileCommand(const SliceOptions& options, const std::string& folder,
                                        const std::string& source) {
  std::vector<std::string> argv = {"g++", "-std=c++17", "-O2", "-fPIC", "-I", folder};
  if (!absl::EndsWith(source, ".S")) {
    for (const char* flag : {"-Wall", "-Wextra", "-Wpedantic", "-Werror"}) argv.push_back(flag);
    argv.insert(argv.end(), {"-x", "c++"});
  }
  if (options.target == "cuda") argv.push_back("-DAOTC_CUDA_EMULATE");
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  argv.insert(argv.end(),
              {"-c", StrCat(folder, "/", source), "-o", StrCat(folder, "/", source, ".o")});
  return argv;
}

bool IsSource(const std::string& path) {
  return absl::EndsWith(path, ".cpp") || absl::EndsWith(path, ".cu") || absl::EndsWith(path, ".S");
}

}  // namespace

absl::Status SliceModel::Compile(const SliceOptions& options) {
  for (const auto& [path, content] : *files_) {
    AOTC_RETURN_IF_ERROR(folder_->Write(path, content));
  }
  const std::string result = StrCat(folder(), "/slice.so");
  std::vector<std::string> link = {"g++", "-shared", "-o", result};
  for (const auto& [path, content] : *files_) {
    if (!IsSource(path)) continue;
    AOTC_RETURN_IF_ERROR(RunTool(CompileCommand(options, folder(), path)).status());
    link.push_back(StrCat(folder(), "/", path, ".o"));
    AOTC_ASSIGN_OR_RETURN(const std::string symbols, RunTool({"nm", link.back()}));
    symbols_ += symbols;
  }
  link.insert(link.end(), options.flags.begin(), options.flags.end());
  link.push_back("-lpthread");
  AOTC_RETURN_IF_ERROR(RunTool(link).status());
  AOTC_ASSIGN_OR_RETURN(library_, HostLibrary::Load(result));
  const auto model = library_.Find<const aotc_model* (*)()>("slice_model");
  if (model == nullptr) return absl::InternalError("no slice_model");
  table_ = model();
  return absl::OkStatus();
}

absl::StatusOr<SliceModel> SliceModel::Build(const SliceOptions& options) {
  SliceModel model;
  AOTC_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create("aotc_slice"));
  model.folder_ = std::make_shared<TemporaryFolder>(std::move(folder));
  AOTC_ASSIGN_OR_RETURN(Program program, SliceProgram(options));
  model.program_ = std::make_shared<Program>(std::move(program));
  AOTC_ASSIGN_OR_RETURN(OutputFiles files, SliceFiles(*model.program_, options));
  if (options.edit) options.edit(files);
  model.files_ = std::make_shared<OutputFiles>(std::move(files));
  AOTC_RETURN_IF_ERROR(model.Compile(options));
  return model;
}

absl::StatusOr<std::vector<Bytes>> SliceModel::Run(const SliceRun& run) const {
  std::vector<Memory> memory;
  std::vector<aotc_value> inputs, outputs;
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const std::span<const uint8_t> bytes = run.inputs[i].bytes();
    memory.push_back(Allocate(bytes.size(), 0));
    std::memcpy(memory.back().get(), bytes.data(), bytes.size());
    inputs.push_back(
        ValueOf(memory.back().get(), bytes.size(), run.inputs[i].dims(), table_->inputs[i].dtype));
  }
  for (int i = 0; i < table_->output_count; ++i) {
    const aotc_value_info& info = table_->outputs[i];
    memory.push_back(Allocate(info.max_bytes, run.fill));
    outputs.push_back(ValueOf(memory.back().get(), info.max_bytes, {}, info.dtype));
  }
  const Memory arena = Allocate(table_->arena_bytes, 0xff);
  const Memory instance = Allocate(table_->instance_bytes, 0);
  void* self = table_->instance_bytes > 0 ? instance.get() : nullptr;
  aotc_status status = table_->create == nullptr ? AOTC_OK : table_->create(self);
  aotc_parallel pool = {};
  if (status == AOTC_OK && run.workers > 1) status = table_->pool_create(run.workers, &pool);
  for (int i = 0; i < run.repeats && status == AOTC_OK; ++i) {
    const auto start = std::chrono::steady_clock::now();
    status = table_->run(self, inputs.data(), outputs.data(), arena.get(),
                         run.workers > 1 ? &pool : nullptr);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (run.best_seconds == nullptr) continue;
    *run.best_seconds = i == 0 ? time.count() : std::min(*run.best_seconds, time.count());
  }
  if (run.workers > 1) table_->pool_destroy(&pool);
  if (table_->destroy != nullptr) table_->destroy(self);
  if (status != AOTC_OK) return absl::InternalError(table_->status_text(status));
  std::vector<Bytes> results;
  for (const aotc_value& output : outputs) {
    const auto* data = static_cast<const uint8_t*>(output.tensor.data);
    results.emplace_back(data, data + output.tensor.capacity_bytes);
  }
  return results;
}

}  // namespace aotc
