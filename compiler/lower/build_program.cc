#include "compiler/lower/build_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/lower/pack_elements.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/schedule/in_place.h"
#include "compiler/support/names.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool HasResults(const Kernel& kernel, const std::vector<Symbol>& symbols) {
  const Bounds bounds = BoundsOf(symbols);
  return std::ranges::any_of(kernel.tensors, [&](const KernelTensor& tensor) {
    return tensor.role == TensorRole::kOutput &&
           MaxBytes(ReachedElements(tensor), tensor.dtype, bounds) != 0;
  });
}

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const Scheduler& schedule, const BuildOptions& options)
      : graph_(graph),
        schedule_(schedule),
        options_(options),
        buffers_(graph, options.has_weights, program_) {
    program_.symbols = graph.symbols;
    if (options.has_weights) program_.weights.reserve(RoomForWeights(graph));
  }

  absl::StatusOr<Program> Build(FusedGraph fused) {
    VisitBodies(graph_, fused,
                [&](const FusedGraph& part, RegionId) { buffers_.AddViews(part.views); });
    const Region& main = graph_.main_region();
    program_.inputs.resize(main.inputs.size());
    program_.outputs.resize(main.outputs.size());
    for (size_t i = 0; i < main.inputs.size(); ++i) {
      const bool is_shared = std::ranges::count(fused.aliases, main.inputs[i], &Alias::input) > 0;
      if (is_shared) continue;
      program_.inputs[i] = buffers_.Add(main.inputs[i], BufferKind::kInput);
      buffers_.Put(main.inputs[i], program_.inputs[i]);
    }
    const auto is_grown = [](const Alias& alias) { return alias.axis.has_value(); };
    for (size_t i = 0; i < main.outputs.size(); ++i) {
      const auto alias = std::ranges::find(fused.aliases, main.outputs[i], &Alias::output);
      if (alias != fused.aliases.end() && is_grown(*alias)) continue;
      program_.outputs[i] = buffers_.Add(main.outputs[i], BufferKind::kOutput);
    }
    for (const Alias& alias : fused.aliases) Share(alias);
    AOTC_RETURN_IF_ERROR(AddBody(std::move(fused), main.outputs, program_.outputs));
    DropUndefinedSizes(program_);
    return std::move(program_);
  }

 private:
  static size_t IndexOf(const std::vector<ValueId>& values, ValueId value) {
    return static_cast<size_t>(std::ranges::find(values, value) - values.begin());
  }

  // Lets an input lie in the memory of an output: both are boxes in their root, or it is a view.
  void Share(const Alias& alias) {
    const Region& main = graph_.main_region();
    BufferId& input = program_.inputs[IndexOf(main.inputs, alias.input)];
    BufferId& output = program_.outputs[IndexOf(main.outputs, alias.output)];
    if (alias.axis) {
      buffers_.Put(alias.root, buffers_.Add(alias.root, BufferKind::kOutput));
      output = buffers_.Of(alias.output);
      input = buffers_.Of(alias.input);
      return;
    }
    input = buffers_.AddView(alias.input, output, 0);
    buffers_.Put(alias.input, input);
    if (alias.copied) copied_.insert(output);
  }

  // The steps of a region, whose results are to be in the buffers of `targets`; an invalid one is
  // not wanted.
  absl::Status AddBody(FusedGraph fused, const std::vector<ValueId>& results,
                       const std::vector<BufferId>& targets) {
    std::vector<std::pair<ValueId, BufferId>> copies;
    for (size_t i = 0; i < results.size(); ++i) {
      if (targets[i].valid() &&
          (copied_.contains(targets[i]) || !buffers_.WriteInto(results[i], targets[i]))) {
        copies.emplace_back(results[i], targets[i]);
      }
    }
    const std::vector<ValueId> checks = fused.checks;
    for (FusedKernel& kernel : fused.kernels) {
      AOTC_RETURN_IF_ERROR(kernel.control.valid()
                               ? AddControl(kernel, std::move(fused.bodies.at(kernel.control)))
                               : AddKernel(kernel, checks));
    }
    std::vector<BufferId> sources;
    for (const auto& [value, target] : copies) sources.push_back(SafeSource(value, target));
    for (size_t i = 0; i < copies.size(); ++i) {
      if (sources[i] == copies[i].second) continue;
      AddCopy(sources[i], RoomFor(copies[i].first, copies[i].second));
    }
    return absl::OkStatus();
  }

  // The target, or the part of it that the value fills.
  BufferId RoomFor(ValueId value, BufferId target) {
    const Shape& dims = graph_.values[value].type.dims;
    const bool fills =
        SameShape({ElementCount(dims)}, {ElementCount(program_.buffers[target].shape)});
    return fills || program_.buffers[target].kind == BufferKind::kHost
               ? target
               : buffers_.AddView(value, target, 0);
  }

  // What is copied to the target at the end: the target itself where the value is there already. An
  // input in the memory of another output is brought to safety first.
  BufferId SafeSource(ValueId value, BufferId target) {
    const BufferId from = buffers_.Read(value);
    const BufferId base = BaseOf(program_, from);
    if (from == target || base == target) return target;
    if (!copied_.contains(base)) return from;
    const BufferId safe = buffers_.Add(value, BufferKind::kArena);
    AddCopy(from, safe);
    return safe;
  }

  void AddCopy(BufferId from, BufferId to) {
    program_.steps.push_back({.kind = StepKind::kCopy, .args = {from, to}});
  }

  // `bodies`: one per region, by name.
  absl::Status AddControl(const FusedKernel& control, std::vector<FusedGraph> bodies) {
    const Node& node = graph_.nodes[control.control];
    const std::vector<std::string>& sources = control.kernel.sources;
    if (IsIf(node)) return AddIf(node, sources, std::move(bodies));
    if (DefinesSizes(node)) return AddSizes(node, sources);
    if (IsHostOp(node)) return AddDecode(node, sources);
    AOTC_CHECK(IsRepeat(node)) << node.op;
    return AddRepeat(node, sources, std::move(bodies[0]));
  }

  std::vector<BufferId> ResultBuffers(const Node& node) {
    std::vector<BufferId> buffers;
    for (ValueId output : node.outputs) {
      buffers.push_back(output.valid() ? buffers_.Of(output) : BufferId());
    }
    return buffers;
  }

  // Where the host reads a flag or sizes: a variable of its own where there is a device.
  BufferId OnHost(ValueId value) {
    if (!options_.has_device) return buffers_.Read(value);
    const BufferId variable = NewOnHost(value);
    AddCopy(buffers_.Read(value), variable);
    return variable;
  }

  BufferId NewOnHost(ValueId value) {
    if (!options_.has_device) return buffers_.Add(value, BufferKind::kArena);
    const BufferId variable = buffers_.Add(value, BufferKind::kHost);
    std::string& name = program_.buffers[variable].name;
    name = buffers_.UniqueName(StrCat(ShortIdentifier(graph_.values[value].name), "_on_host"));
    return variable;
  }

  absl::Status AddSizes(const Node& node, const std::vector<std::string>& sources) {
    Step step{.kind = StepKind::kSizes,
              .sources = sources,
              .elements = *graph_.values[node.outputs[0]].elements};
    if (!node.inputs.empty()) step.args = {OnHost(node.inputs[0])};
    program_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status AddDecode(const Node& node, const std::vector<std::string>& sources) {
    program_.steps.push_back({.kind = StepKind::kDecode,
                              .args = {buffers_.Read(node.inputs[0]), buffers_.Of(node.outputs[0])},
                              .sources = sources,
                              .pixel_format = node.attributes.String(kPixelFormat, "RGB")});
    return absl::OkStatus();
  }

  // One of the ways to symbols that LearnSet makes known.
  void SetSizes(SizeEdge edge) {
    if (edge.elements.empty()) return;
    program_.steps.push_back({.kind = StepKind::kSetSizes,
                              .elements = std::move(edge.elements),
                              .values = std::move(edge.values)});
  }

  void LearnSet(const std::vector<std::string>& vars, const std::vector<std::string>& sources) {
    if (vars.empty()) return;
    Step step{.kind = StepKind::kSizes, .sources = sources};
    for (const std::string& var : vars) step.elements.push_back(Var(var));
    program_.steps.push_back(std::move(step));
  }

  absl::Status AddIf(const Node& node, const std::vector<std::string>& sources,
                     std::vector<FusedGraph> bodies) {
    const std::vector<BufferId> results = ResultBuffers(node);
    const BufferId flag = OnHost(node.inputs[0]);
    const std::vector<std::string> sizes = VariablesIn(node, kSizes);
    // By name: else_branch comes first.
    const auto branch = [&](size_t body, const char* name) {
      const Region& region = graph_.regions[node.regions.at(name)];
      const absl::Status status = AddBody(std::move(bodies[body]), region.outputs, results);
      SetSizes(EdgeTo(graph_, sizes, node.outputs, region.outputs));
      return status;
    };
    program_.steps.push_back({.kind = StepKind::kIf, .args = {flag}, .sources = sources});
    AOTC_RETURN_IF_ERROR(branch(1, "then_branch"));
    program_.steps.push_back({.kind = StepKind::kElse, .sources = sources});
    AOTC_RETURN_IF_ERROR(branch(0, "else_branch"));
    program_.steps.push_back({.kind = StepKind::kEnd, .sources = sources});
    LearnSet(sizes, sources);
    return absl::OkStatus();
  }

  // for (round < trip && flag) { body }. The carried values live in buffers of their own: those of
  // the node's results, which hold the initial values in front of the loop. Nothing but those where
  // there never is a round.
  absl::Status AddRepeat(const Node& node, const std::vector<std::string>& sources,
                         FusedGraph fused) {
    const Region& body = graph_.regions[node.regions.at("body")];
    const RepeatForm form = FormOf(graph_, node);
    const std::vector<BufferId> results = ResultBuffers(node);
    std::vector<BufferId> carried;
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const bool wanted = results[i].valid();
      carried.push_back(wanted ? results[i] : buffers_.Add(body.inputs[i], BufferKind::kArena));
      buffers_.Put(body.inputs[i], RoomFor(body.inputs[i], carried.back()));
      const ValueId initial = node.inputs[RepeatForm::kFirstCarried + i];
      AddCopy(buffers_.Read(initial), RoomFor(initial, carried.back()));
    }
    const auto first = node.inputs.begin() + RepeatForm::kFirstCarried;
    SetSizes(EdgeToRound(graph_, node, {first, node.inputs.end()}));
    const Expr trip = TripOf(graph_, node);
    const bool never = trip.valid() && RangeOf(trip, BoundsOf(program_.symbols)).max <= 0;
    if (never) {
      LearnSet(VariablesIn(node, kSizes), sources);
      return absl::OkStatus();
    }
    Step loop{.kind = StepKind::kLoop, .sources = sources};
    std::vector<ValueId> made;  // by a round, besides the carried values
    std::vector<BufferId> targets;
    const ValueId condition = node.inputs[RepeatForm::kCond];
    if (condition.valid()) {
      loop.args = {NewOnHost(condition)};
      AddCopy(buffers_.Read(condition), loop.args[0]);
      made.push_back(body.outputs[0]);
      targets.push_back(loop.args[0]);
    }
    loop.trip = trip;
    loop.counter = buffers_.UniqueVariable("round");
    for (size_t i = carried.size(); i < results.size(); ++i) {
      const ValueId scanned = body.outputs[form.first_next + i];
      if (!results[i].valid()) continue;
      made.push_back(scanned);
      const Expr elements = ElementCount(graph_.values[scanned].type.dims);
      targets.push_back(buffers_.AddView(scanned, results[i], Var(loop.counter) * elements));
    }
    program_.steps.push_back(std::move(loop));
    LearnSet(VariablesIn(node, kRoundSizes), sources);
    AOTC_RETURN_IF_ERROR(AddBody(std::move(fused), made, targets));
    const auto first_next = body.outputs.begin() + static_cast<std::ptrdiff_t>(form.first_next);
    const std::vector<ValueId> next(first_next,
                                    first_next + static_cast<std::ptrdiff_t>(carried.size()));
    Carry(next, carried);
    SetSizes(EdgeToRound(graph_, node, next));
    program_.steps.push_back({.kind = StepKind::kEnd, .sources = sources});
    LearnSet(VariablesIn(node, kSizes), sources);
    return absl::OkStatus();
  }

  // Copies as if all at once: a new value that lies in the buffer of another carried value is
  // brought to safety first.
  void Carry(const std::vector<ValueId>& values, const std::vector<BufferId>& carried) {
    std::vector<std::pair<BufferId, BufferId>> copies;
    for (size_t i = 0; i < values.size(); ++i) {
      BufferId from = buffers_.Read(values[i]);
      if (from == carried[i]) continue;
      if (std::ranges::find(carried, BaseOf(program_, from)) != carried.end()) {
        const BufferId safe = buffers_.Add(values[i], BufferKind::kArena);
        AddCopy(from, safe);
        from = safe;
      }
      copies.emplace_back(from, RoomFor(values[i], carried[i]));
    }
    for (const auto& [from, to] : copies) AddCopy(from, to);
  }

  // Kernels that compute the same, whatever their tensors are called, are one kernel.
  absl::StatusOr<KernelId> KernelOf(const Kernel& kernel) {
    const std::string text = PrintKernelWithoutNames(kernel);
    auto found = by_text_.find(text);
    if (found != by_text_.end()) {
      NoteLaunch(program_.kernels[found->second], StrJoin(kernel.sources, " + "));
      return found->second;
    }
    AOTC_ASSIGN_OR_RETURN(ProgramKernel scheduled, schedule_(kernel));
    return by_text_[text] = program_.kernels.Add(std::move(scheduled));
  }

  // Parts of one node are noted once.
  static void NoteLaunch(ProgramKernel& kernel, const std::string& sources) {
    const bool known = sources == StrJoin(kernel.kernel.sources, " + ") ||
                       (!kernel.also.empty() && sources == kernel.also.back());
    if (!known) kernel.also.push_back(sources);
  }

  // A value that a launch is given, or a buffer that no value lies in.
  using Argument = std::variant<ValueId, BufferId>;

  absl::Status AddLaunch(const Kernel& fused, const std::vector<Argument>& args) {
    AOTC_ASSIGN_OR_RETURN(const KernelId id, KernelOf(fused));
    const Kernel& kernel = program_.kernels[id].kernel;
    const Packing& packing = program_.kernels[id].packing;
    Step step{.kernel = id, .sources = fused.sources};
    for (size_t i = 0; i < args.size(); ++i) {
      if (const BufferId* buffer = std::get_if<BufferId>(&args[i])) {
        step.args.push_back(*buffer);
        continue;
      }
      const ValueId value = std::get<ValueId>(args[i]);
      const KernelTensor tensor = StoredTensor(kernel, packing, kernel.params[i]);
      const bool is_constant = graph_.values[value].constant.has_value();
      step.args.push_back(is_constant ? buffers_.Weights(value, tensor) : buffers_.Of(value));
    }
    step.in_place = InPlacePairs(kernel);
    program_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  // The kernel in bytes; else it writes a byte for each element of its packed results, and a launch
  // for each of them packs those.
  absl::Status AddPackedLaunches(const FusedKernel& fused) {
    const Kernel& packed = fused.kernel;
    AOTC_ASSIGN_OR_RETURN(const Kernel kernel, WithBytePerElement(packed));
    std::vector<Argument> args(fused.args.begin(), fused.args.end());
    const TensorId last = packed.params.back();
    if (IsPackedResult(packed, last)) {
      const std::optional<Kernel> one = PackedInOneStage(kernel, packed.tensors[last].dtype);
      if (one) return AddLaunch(*one, args);
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (IsPackedResult(packed, packed.params[i])) args[i] = buffers_.AddBytes(fused.args[i]);
    }
    AOTC_RETURN_IF_ERROR(AddLaunch(kernel, args));
    for (size_t i = 0; i < args.size(); ++i) {
      const TensorId id = packed.params[i];
      if (!IsPackedResult(packed, id)) continue;
      const Kernel packing = PackingKernel(packed, id);
      AOTC_RETURN_IF_ERROR(AddLaunch(packing, {args[i], fused.args[i]}));
    }
    return absl::OkStatus();
  }

  // Nothing where no result ever has elements.
  absl::Status AddKernel(const FusedKernel& fused, const std::vector<ValueId>& checks) {
    if (!HasResults(fused.kernel, program_.symbols)) return absl::OkStatus();
    const std::vector<ValueId>& args = fused.args;
    AOTC_RETURN_IF_ERROR(ComputesPacked(fused.kernel)
                             ? AddPackedLaunches(fused)
                             : AddLaunch(fused.kernel, {args.begin(), args.end()}));
    const bool is_check = std::ranges::find(checks, args.back()) != checks.end();
    if (is_check) {
      program_.steps.push_back({.kind = StepKind::kCheck, .args = {buffers_.Of(args.back())}});
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const Scheduler& schedule_;
  const BuildOptions options_;
  Program program_;
  ValueBuffers buffers_;
  std::map<std::string, KernelId> by_text_;
  std::set<BufferId> copied_;  // outputs in memory that is read until the end
};

}  // namespace

absl::StatusOr<Program> BuildProgram(const Graph& graph, FusedGraph fused,
                                     const Scheduler& schedule, const BuildOptions& options) {
  return ProgramBuilder(graph, schedule, options).Build(std::move(fused));
}

}  // namespace aotc
