#include "compiler/lower/build_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/support/names.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, FusedGraph fused) : graph_(graph), fused_(std::move(fused)) {
    program_.symbols = graph.symbols;
  }

  absl::StatusOr<Program> Build(const Scheduler& schedule) {
    for (const ValueView& view : fused_.views) views_[view.value] = view;
    AOTC_RETURN_IF_ERROR(PlaceInterface());
    for (FusedKernel& fused : fused_.kernels) {
      const std::vector<std::string> sources = fused.kernel.sources;
      AOTC_ASSIGN_OR_RETURN(const KernelId kernel, KernelOf(std::move(fused.kernel), schedule));
      AddStep(kernel, sources, fused.args);
    }
    return FinishOutputs();
  }

 private:
  absl::Status PlaceInterface() {
    for (ValueId id : graph_.main_region().inputs) {
      program_.inputs.push_back(AddBuffer(id, BufferKind::kInput));
      buffers_[id] = program_.inputs.back();
    }
    for (ValueId id : graph_.main_region().outputs) {
      const BufferId buffer = AddBuffer(id, BufferKind::kOutput);
      program_.outputs.push_back(buffer);
      // The value, or what it is a view of, is written straight into the caller's memory.
      const ValueId home = HomeOf(id);
      const bool is_free =
          !buffers_.contains(home) && !views_.contains(home) && !graph_.values[home].constant;
      if (is_free) buffers_[home] = buffer;
      if (!is_free) copies_.emplace_back(id, buffer);
    }
    return absl::OkStatus();
  }

  // The value whose storage a whole view shares; one with blocks that are not full has more storage
  // than its view.
  ValueId HomeOf(ValueId id) const {
    auto view = views_.find(id);
    if (view == views_.end() || !view->second.offset.IsInt(0)) return id;
    const ValueId base = view->second.base;
    return SameShape({StorageOf(graph_.values[id])}, {StorageOf(graph_.values[base])}) ? base : id;
  }

  static Expr StorageOf(const Value& value) {
    return StorageElements(value.layout, value.type.dims);
  }

  BufferId AddBuffer(ValueId id, BufferKind kind) {
    const Value& value = graph_.values[id];
    Buffer buffer{.name = names_.Unique(CleanIdentifier(value.name)),
                  .value = value.output_name.empty() ? value.name : value.output_name,
                  .dtype = value.type.dtype,
                  .shape = value.type.dims,
                  .layout = value.layout,
                  .kind = kind};
    const int64_t bytes = MaxBytes(StorageOf(value), buffer.dtype, BoundsOf(graph_.symbols));
    buffer.bytes = std::max<int64_t>(bytes, 0);
    return program_.buffers.Add(std::move(buffer));
  }

  BufferId BufferOf(ValueId id) {
    auto found = buffers_.find(id);
    if (found != buffers_.end()) return found->second;
    auto view = views_.find(id);
    if (view == views_.end()) return buffers_[id] = AddBuffer(id, BufferKind::kArena);
    const BufferId base = BufferOf(view->second.base);
    const BufferId buffer = AddBuffer(id, BufferKind::kView);
    program_.buffers[buffer].base = base;
    program_.buffers[buffer].element_offset = view->second.offset;
    return buffers_[id] = buffer;
  }

  // One packed copy per constant, layout and dtype.
  BufferId WeightsOf(ValueId id, const KernelTensor& tensor) {
    const Constant& constant = *graph_.values[id].constant;
    const auto key = std::tuple(id, PrintLayout(tensor.layout), tensor.dtype);
    auto found = weights_.find(key);
    if (found != weights_.end()) return found->second;
    constexpr size_t kAlign = 64;
    std::vector<uint8_t>& blob = program_.weights;
    blob.resize((blob.size() + kAlign - 1) / kAlign * kAlign);
    const std::vector<uint8_t> packed = PackConstant(constant, tensor.layout, tensor.dtype);
    const BufferId buffer = AddBuffer(id, BufferKind::kWeights);
    Buffer& weights = program_.buffers[buffer];
    weights.dtype = tensor.dtype;
    weights.layout = tensor.layout;
    weights.offset = static_cast<int64_t>(blob.size());
    weights.bytes = static_cast<int64_t>(packed.size());
    blob.insert(blob.end(), packed.begin(), packed.end());
    return weights_[key] = buffer;
  }

  static absl::Status NotWritten(const Kernel& kernel, std::string_view name, DType dtype) {
    return absl::UnimplementedError(StrCat(StrJoin(kernel.sources, " + "), ": '", name,
                                           "' has elements of type ", DTypeName(dtype),
                                           ", which compiled models read, but do not write"));
  }

  // Elements of less than a byte are read, but not written: threads would share bytes.
  static absl::Status CheckOutputs(const Kernel& kernel) {
    for (const KernelTensor& tensor : kernel.tensors) {
      if (tensor.role != TensorRole::kOutput || !IsSubByte(tensor.dtype)) continue;
      return NotWritten(kernel, tensor.name, tensor.dtype);
    }
    return absl::OkStatus();
  }

  // The same of what a schedule keeps between stages.
  static absl::Status CheckStores(const ProgramKernel& kernel) {
    absl::Status status;
    for (const KernelVariant& variant : kernel.variants) {
      VisitStmts(variant.loops.body, [&](const Stmt& stmt) {
        if (stmt.kind() != StmtKind::kStore) return;
        const LoopBuffer& buffer = variant.loops.buffers[stmt->buffer];
        if (!IsSubByte(buffer.dtype)) return;
        status = NotWritten(kernel.kernel, buffer.name, buffer.dtype);
      });
    }
    return status;
  }

  // Kernels that compute the same, whatever their tensors are called, are one kernel.
  absl::StatusOr<KernelId> KernelOf(Kernel kernel, const Scheduler& schedule) {
    AOTC_RETURN_IF_ERROR(CheckOutputs(kernel));
    const std::string text = PrintKernelWithoutNames(kernel);
    auto found = by_text_.find(text);
    if (found != by_text_.end()) {
      NoteLaunch(program_.kernels[found->second], StrJoin(kernel.sources, " + "));
      return found->second;
    }
    AOTC_ASSIGN_OR_RETURN(ProgramKernel scheduled, schedule(std::move(kernel)));
    AOTC_RETURN_IF_ERROR(CheckStores(scheduled));
    return by_text_[text] = program_.kernels.Add(std::move(scheduled));
  }

  // Parts of one node are noted once.
  static void NoteLaunch(ProgramKernel& kernel, const std::string& sources) {
    const bool known = sources == StrJoin(kernel.kernel.sources, " + ") ||
                       (!kernel.also.empty() && sources == kernel.also.back());
    if (!known) kernel.also.push_back(sources);
  }

  void AddStep(KernelId id, const std::vector<std::string>& sources,
               const std::vector<ValueId>& args) {
    const Kernel& kernel = program_.kernels[id].kernel;
    Step step{.kernel = id, .sources = sources};
    for (size_t i = 0; i < args.size(); ++i) {
      const KernelTensor& tensor = kernel.tensors[kernel.params[i]];
      const bool is_constant = graph_.values[args[i]].constant.has_value();
      step.args.push_back(is_constant ? WeightsOf(args[i], tensor) : BufferOf(args[i]));
    }
    step.in_place = InPlacePairs(kernel);
    program_.steps.push_back(std::move(step));
    const bool is_check = std::ranges::find(fused_.checks, args.back()) != fused_.checks.end();
    if (is_check) {
      program_.steps.push_back({.kind = StepKind::kCheck, .args = {BufferOf(args.back())}});
    }
  }

  // An input that is read only at the index that is being written may lend its memory to the
  // output.
  static std::vector<std::pair<int, int>> InPlacePairs(const Kernel& kernel) {
    std::vector<std::pair<int, int>> pairs;
    const int output = static_cast<int>(kernel.params.size()) - 1;
    const KernelTensor& to = kernel.tensors[kernel.params.back()];
    if (kernel.stages.size() != 1 || kernel.stages[0].IsReduction()) return pairs;
    const Stage& stage = kernel.stages[0];
    for (int i = 0; i < output; ++i) {
      const TensorId id = kernel.params[static_cast<size_t>(i)];
      const KernelTensor& from = kernel.tensors[id];
      const bool alike = from.role == TensorRole::kInput && from.dtype == to.dtype &&
                         from.layout == to.layout && SameShape(from.shape, to.shape);
      if (alike && OnlyOwnIndex(stage, id)) pairs.emplace_back(output, i);
    }
    return pairs;
  }

  static bool OnlyOwnIndex(const Stage& stage, TensorId id) {
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) {
        if (load->tensor != id) continue;
        for (size_t axis = 0; axis < load.args().size(); ++axis) {
          if (!IsOwnIndex(load.arg(axis), stage.axes[axis])) return false;
        }
      }
    }
    return true;
  }

  // Outputs that are inputs, constants or twice the same value are copied at the end.
  absl::StatusOr<Program> FinishOutputs() {
    for (const auto& [value, output] : copies_) {
      BufferId from;
      if (graph_.values[value].constant) {
        const KernelTensor plain{.dtype = graph_.values[value].type.dtype};
        from = WeightsOf(value, plain);
      } else {
        from = BufferOf(value);
      }
      program_.steps.push_back({.kind = StepKind::kCopy, .args = {from, output}});
    }
    return std::move(program_);
  }

  const Graph& graph_;
  FusedGraph fused_;
  Program program_;
  NameTable names_;
  std::map<std::string, KernelId> by_text_;
  std::map<ValueId, ValueView> views_;
  std::map<ValueId, BufferId> buffers_;
  std::map<std::tuple<ValueId, std::string, DType>, BufferId> weights_;
  std::vector<std::pair<ValueId, BufferId>> copies_;
};

}  // namespace

absl::StatusOr<Program> BuildProgram(const Graph& graph, FusedGraph fused,
                                     const Scheduler& schedule) {
  return ProgramBuilder(graph, std::move(fused)).Build(schedule);
}

}  // namespace aotc
