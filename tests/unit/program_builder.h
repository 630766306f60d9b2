// Builds programs of byte buffers for tests of the planner; kernels compute nothing in particular.
#ifndef AOTC_TESTS_UNIT_PROGRAM_BUILDER_H_
#define AOTC_TESTS_UNIT_PROGRAM_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program.h"

namespace aotc {

inline Buffer ByteBuffer(std::string name, BufferKind kind, int64_t bytes) {
  Buffer buffer;
  buffer.name = buffer.value = std::move(name);
  buffer.dtype = DType::kU8;
  buffer.shape = {bytes};
  buffer.kind = kind;
  buffer.bytes = bytes;
  return buffer;
}

// Builds programs whose kernels have as many parameters as their steps have arguments.
class ProgramBuilderForTests {
 public:
  BufferId Add(const std::string& name, BufferKind kind, int64_t bytes) {
    const BufferId id = program.buffers.Add(ByteBuffer(name, kind, bytes));
    if (kind == BufferKind::kInput) program.inputs.push_back(id);
    if (kind == BufferKind::kOutput) program.outputs.push_back(id);
    return id;
  }
  BufferId View(const std::string& name, BufferId base, int64_t offset, int64_t bytes) {
    Buffer view = ByteBuffer(name, BufferKind::kView, bytes);
    view.base = base;
    view.element_offset = offset;
    return program.buffers.Add(std::move(view));
  }
  Step& Launch(const std::vector<BufferId>& inputs, const std::vector<BufferId>& outputs) {
    ProgramKernel kernel;
    kernel.kernel.name = absl::StrCat("kernel_", program.kernels.size());
    Step step;
    for (const auto& [list, role] :
         {std::pair(&inputs, TensorRole::kInput), std::pair(&outputs, TensorRole::kOutput)}) {
      for (BufferId id : *list) {
        KernelTensor tensor;
        tensor.name = absl::StrCat("t", step.args.size());
        tensor.dtype = DType::kU8;
        tensor.shape = program.buffers[id].shape;
        tensor.role = role;
        kernel.kernel.params.push_back(kernel.kernel.tensors.Add(tensor));
        step.args.push_back(id);
      }
    }
    kernel.variants.resize(1);
    kernel.variants[0].loops.name = kernel.kernel.name;
    kernel.variants[0].loops.params = kernel.kernel.params;
    step.kernel = program.kernels.Add(std::move(kernel));
    program.steps.push_back(std::move(step));
    return program.steps.back();
  }

  Program program;
};

// input -> a -> b -> output, each step elementwise.
inline ProgramBuilderForTests Chain() {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 100);
  const BufferId first = b.Add("first", BufferKind::kArena, 100);
  const BufferId second = b.Add("second", BufferKind::kArena, 100);
  const BufferId output = b.Add("output", BufferKind::kOutput, 100);
  b.Launch({input}, {first});
  b.Launch({first}, {second}).in_place = {{1, 0}};
  b.Launch({second}, {output}).in_place = {{1, 0}};
  return b;
}

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_PROGRAM_BUILDER_H_
