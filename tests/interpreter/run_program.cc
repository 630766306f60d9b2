#include "tests/interpreter/run_program.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/interpreter/run_loops.h"

namespace aotc {
namespace {

constexpr uint8_t kPoison = 0xFF;  // floats of such bytes are NaN

class Machine {
 public:
  Machine(const Program& program, const SymbolValues& symbols, const RunOptions& options)
      : program_(program),
        symbols_(symbols),
        options_(options),
        constructs_(ConstructsByBegin(program)),
        arena_(static_cast<size_t>(program.arena_bytes), kPoison),
        weights_(program.weights) {}

  absl::StatusOr<std::vector<Constant>> Run(const std::vector<Constant>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto bytes = inputs[i].Expanded().bytes();
      io_[program_.inputs[i]].assign(bytes.begin(), bytes.end());
    }
    const auto given = io_;
    for (BufferId id : program_.outputs) {
      io_[id].assign(static_cast<size_t>(program_.buffers[id].bytes), kPoison);
    }
    AOTC_RETURN_IF_ERROR(RunSteps(0, static_cast<int>(program_.steps.size())));
    for (const auto& [id, bytes] : given) {
      if (io_.at(id) == bytes) continue;
      return absl::InternalError(StrCat("input ", program_.buffers[id].name, " was written"));
    }
    return Outputs();
  }

 private:
  int64_t Evaluate(const Expr& e) const { return EvaluateInt(e, symbols_).value_or(-1); }
  int64_t ElementsOf(const Buffer& buffer) const {
    return Evaluate(StorageElements(buffer.layout, buffer.shape));
  }

  // All of the memory that the buffer, or the base of a view, owns.
  std::pair<uint8_t*, int64_t> Storage(BufferId id) {
    const BufferId owner = BaseOf(program_, id);
    const Buffer& buffer = program_.buffers[owner];
    switch (buffer.kind) {
      case BufferKind::kInput:
      case BufferKind::kOutput: return {io_[owner].data(), static_cast<int64_t>(io_[owner].size())};
      case BufferKind::kHost: {
        std::vector<uint8_t>& variable = io_[owner];
        variable.resize(static_cast<size_t>(buffer.bytes));
        return {variable.data(), buffer.bytes};
      }
      case BufferKind::kWeights: return {weights_.data() + buffer.offset, buffer.bytes};
      case BufferKind::kArena:
      case BufferKind::kView: break;
    }
    return {arena_.data() + buffer.offset, buffer.bytes};
  }

  Memory MemoryOf(BufferId id, int64_t elements) {
    return MemoryOf(id, elements, program_.buffers[id].dtype);
  }

  // Of what is `elements` of `dtype` large, as far as the buffer goes: elements that share bytes
  // are written as bytes.
  Memory MemoryOf(BufferId id, int64_t elements, DType dtype) {
    const Buffer& buffer = program_.buffers[id];
    const auto [data, bytes] = Storage(id);
    const int64_t bits = BitWidth(dtype);
    const int64_t skipped = Evaluate(ElementOffset(buffer));
    return {.name = buffer.name,
            .dtype = dtype,
            .data = data + skipped * bits / 8,
            .elements = std::min(elements, bytes * 8 / bits - skipped)};
  }

  // What no step from this one on reads.
  void Poison(int step) {
    std::vector<std::pair<int64_t, int64_t>> live;
    for (const Buffer& buffer : program_.buffers) {
      const bool lives = buffer.first_step <= step && step <= buffer.last_step;
      if (buffer.kind == BufferKind::kArena && lives) {
        live.emplace_back(buffer.offset, buffer.offset + buffer.bytes);
      }
    }
    std::sort(live.begin(), live.end());
    live.emplace_back(program_.arena_bytes, program_.arena_bytes);
    int64_t end = 0;
    for (const auto& [first, last] : live) {
      if (first > end) std::fill(arena_.begin() + end, arena_.begin() + first, kPoison);
      end = std::max(end, last);
    }
  }

  static std::map<int, Construct> ConstructsByBegin(const Program& program) {
    std::map<int, Construct> by_begin;
    for (const Construct& construct : Constructs(program)) by_begin[construct.begin] = construct;
    return by_begin;
  }

  absl::Status RunSteps(int begin, int end) {
    for (int s = begin; s < end; ++s) {
      if (options_.poison) Poison(s);
      const auto construct = constructs_.find(s);
      if (construct == constructs_.end()) {
        AOTC_RETURN_IF_ERROR(RunStep(program_.steps[s]));
      } else {
        AOTC_RETURN_IF_ERROR(construct->second.is_loop ? RunLoop(construct->second)
                                                       : RunBranch(construct->second));
        s = construct->second.end;
      }
    }
    return absl::OkStatus();
  }

  bool Flag(const Step& step) { return *MemoryOf(step.args[0], 1).data != 0; }

  absl::Status RunBranch(const Construct& branch) {
    const int middle = branch.middle.value_or(branch.end);
    absl::Status status;
    if (Flag(program_.steps[branch.begin])) {
      status = RunSteps(branch.begin + 1, middle);
    } else if (branch.middle) {
      status = RunSteps(middle + 1, branch.end);
    }
    ForgetSizes(branch, true);
    return status;
  }

  absl::Status RunLoop(const Construct& loop) {
    const Step& step = program_.steps[loop.begin];
    const int64_t trip = step.trip.valid() ? Evaluate(step.trip) : INT64_MAX;
    int64_t round = 0;
    for (; round < trip; ++round) {
      if (!step.args.empty() && !Flag(step)) break;
      symbols_[step.counter] = round;
      AOTC_RETURN_IF_ERROR(RunSteps(loop.begin + 1, loop.end));
      ForgetSizes(loop, false);
    }
    symbols_[step.rounds] = round;
    ForgetSizes(loop, true);
    return absl::OkStatus();
  }

  absl::Status RunStep(const Step& step) {
    if (step.kind == StepKind::kCopy) return Copy(step.args[0], step.args[1]);
    if (step.kind == StepKind::kCheck) {
      if (Flag(step)) return absl::OkStatus();
      return absl::InvalidArgumentError("an index is out of range");
    }
    if (step.kind == StepKind::kSizes) return LearnSizes(step);
    if (step.kind == StepKind::kSetSizes) {
      std::vector<int64_t> values;
      for (const Expr& value : step.values) values.push_back(Evaluate(value));
      for (size_t e = 0; e < values.size(); ++e) symbols_[step.elements[e]->name] = values[e];
      return absl::OkStatus();
    }
    const ProgramKernel& kernel = program_.kernels[step.kernel];
    for (const KernelVariant& variant : kernel.variants) {
      const bool other = !options_.isa.empty() && !variant.feature.empty() &&
                         variant.feature != options_.isa && kernel.variants.size() > 1;
      if (!other && Evaluate(variant.guard) != 0) return Launch(step, kernel, variant.loops);
    }
    return absl::InternalError(StrCat("no variant of ", kernel.kernel.name, " applies"));
  }

  // Elements are plain symbols; what follows from them is worked out.
  absl::Status LearnSizes(const Step& step) {
    if (step.args.empty()) {
      for (const Expr& element : step.elements) symbols_.try_emplace(element->name, 0);
      return WorkOutSizes(program_.symbols, symbols_);
    }
    const Buffer& buffer = program_.buffers[step.args[0]];
    const auto count = static_cast<int64_t>(step.elements.size());
    const Memory memory = MemoryOf(step.args[0], count);
    for (int64_t e = 0; e < count; ++e) {
      const Expr& element = step.elements[static_cast<size_t>(e)];
      if (element.IsVar()) symbols_[element->name] = LoadIntElement(buffer.dtype, memory.data, e);
    }
    return WorkOutSizes(program_.symbols, symbols_);
  }

  // What is known within a construct alone; `set`: what the next round begins with, too.
  void ForgetSizes(const Construct& construct, bool set) {
    const SizeSteps known(program_);
    for (const Symbol& symbol : program_.symbols) {
      const int step = known.StepOf(symbol.var);
      if (!symbol.computed || step < construct.begin || step > construct.end) continue;
      const bool is_set = program_.steps[step].args.empty() && !symbol.value.valid();
      if (set || !is_set) symbols_.erase(symbol.var);
    }
  }

  absl::Status Copy(BufferId from, BufferId to) {
    const int64_t elements = ElementsOf(program_.buffers[to]);
    const Memory source = MemoryOf(from, elements), target = MemoryOf(to, elements);
    if (source.elements != elements || target.elements != elements) {
      return absl::InternalError(StrCat("a copy of ", source.name, " reaches out of its buffer"));
    }
    std::copy_n(source.data, StorageBytes(source.dtype, elements), target.data);
    return absl::OkStatus();
  }

  absl::Status Launch(const Step& step, const ProgramKernel& kernel, const LoopFunction& loops) {
    std::vector<Memory> params;
    for (size_t i = 0; i < step.args.size(); ++i) {
      const KernelTensor tensor =
          StoredTensor(kernel.kernel, kernel.packing, kernel.kernel.params[i]);
      params.push_back(MemoryOf(step.args[i], Evaluate(ReachedElements(tensor)), tensor.dtype));
    }
    AOTC_ASSIGN_OR_RETURN(const LoopRunner runner, LoopRunner::Make(loops, options_.tiles));
    return runner.Run(params, symbols_);
  }

  std::vector<Constant> Outputs() const {
    std::vector<Constant> outputs;
    for (BufferId id : program_.outputs) {
      const Buffer& buffer = program_.buffers[id];
      std::vector<int64_t> dims;
      for (const Expr& dim : buffer.shape) dims.push_back(Evaluate(dim));
      std::vector<uint8_t> bytes = io_.at(id);
      bytes.resize(static_cast<size_t>(StorageBytes(buffer.dtype, ElementsOf(buffer))));
      outputs.push_back(Constant::Dense(buffer.dtype, std::move(dims), std::move(bytes)));
    }
    return outputs;
  }

  const Program& program_;
  SymbolValues symbols_;  // and the counters of loops
  const RunOptions& options_;
  const std::map<int, Construct> constructs_;
  std::map<BufferId, std::vector<uint8_t>> io_;
  std::vector<uint8_t> arena_;
  std::vector<uint8_t> weights_;
};

}  // namespace

absl::StatusOr<std::vector<Constant>> RunProgram(const Program& program,
                                                 const std::vector<Constant>& inputs,
                                                 const SymbolValues& symbols,
                                                 const RunOptions& options) {
  if (inputs.size() != program.inputs.size()) return absl::InvalidArgumentError("other inputs");
  return Machine(program, symbols, options).Run(inputs);
}

}  // namespace aotc
