#include "compiler/lower/build_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/lower/carried_values.h"
#include "compiler/lower/kernel_launches.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/support/names.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const Scheduler& schedule, const BuildOptions& options)
      : graph_(graph),
        options_(options),
        buffers_(graph, options.has_weights, program_),
        launches_(graph, schedule, buffers_, program_) {
    program_.symbols = graph.symbols;
    if (!options.threads) program_.max_workers = 1;
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
    on_host_.emplace_back();
    for (FusedKernel& kernel : fused.kernels) {
      AOTC_RETURN_IF_ERROR(kernel.control.valid()
                               ? AddControl(kernel, std::move(fused.bodies.at(kernel.control)))
                               : launches_.Add(kernel, checks));
    }
    on_host_.pop_back();
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

  // Where the host reads a flag or sizes: a variable of its own where there is a device, which a
  // value comes to once, however many steps of the region, and of those in it, ask for it.
  BufferId OnHost(ValueId value) {
    if (!options_.has_device) return buffers_.Read(value);
    for (const std::map<ValueId, BufferId>& crossed : on_host_) {
      if (const auto found = crossed.find(value); found != crossed.end()) return found->second;
    }
    const BufferId variable = NewOnHost(value);
    AddCopy(buffers_.Read(value), variable);
    return on_host_.back()[value] = variable;
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

  // for (round < trip && flag) { body }.
  absl::Status AddRepeat(const Node& node, const std::vector<std::string>& sources,
                         FusedGraph fused) {
    const RepeatForm form = FormOf(graph_, node);
    const Expr trip = TripOf(graph_, node);
    const bool never = trip.valid() && RangeOf(trip, BoundsOf(program_.symbols)).max <= 0;
    if (never) {
      CopyInitial(node, form);
      LearnSet(VariablesIn(node, kSizes), sources);
      return absl::OkStatus();
    }
    const Region& body = graph_.regions[node.regions.at("body")];
    Step loop{.kind = StepKind::kLoop,
              .sources = sources,
              .trip = trip,
              .counter = buffers_.UniqueVariable("round")};
    CarriedRooms rooms = EnterLoop(node, form, fused, Var(loop.counter));
    const auto first = node.inputs.begin() + RepeatForm::kFirstCarried;
    SetSizes(EdgeToRound(graph_, node, {first, node.inputs.end()}));
    std::vector<ValueId> made;  // by a round, besides the carried values
    std::vector<BufferId> targets;
    const ValueId condition = node.inputs[RepeatForm::kCond];
    if (condition.valid()) {
      loop.args = {NewOnHost(condition)};
      AddCopy(buffers_.Read(condition), loop.args[0]);
      made.push_back(body.outputs[0]);
      targets.push_back(loop.args[0]);
    }
    for (size_t i = form.carried; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      const ValueId scanned = body.outputs[form.first_next + i];
      const Expr elements = ElementCount(graph_.values[scanned].type.dims);
      const BufferId all = buffers_.Of(node.outputs[i]);
      made.push_back(scanned);
      targets.push_back(buffers_.AddView(scanned, all, Var(loop.counter) * elements));
    }
    // How many rounds there were, which tells where results in turn lie behind the loop.
    Expr rounds = trip.valid() ? Max(trip, 0) : Expr();
    const auto is_left = [&](const auto& room) { return node.outputs[room.number].valid(); };
    if (condition.valid() && std::ranges::any_of(rooms.in_turn, is_left)) {
      loop.rounds = buffers_.UniqueVariable("rounds");
      rounds = Var(loop.rounds);
    }
    if (!trip.valid() && rooms.in_turn.empty()) loop.counter.clear();
    program_.steps.push_back(std::move(loop));
    LearnSet(VariablesIn(node, kRoundSizes), sources);
    AOTC_RETURN_IF_ERROR(AddBody(std::move(fused), made, targets));
    Carry(rooms.copies);
    const auto first_next = body.outputs.begin() + static_cast<std::ptrdiff_t>(form.first_next);
    SetSizes(EdgeToRound(graph_, node,
                         {first_next, first_next + static_cast<std::ptrdiff_t>(form.carried)}));
    program_.steps.push_back({.kind = StepKind::kEnd, .sources = sources});
    LearnSet(VariablesIn(node, kSizes), sources);
    LeaveLoop(node, rooms, rounds);
    return absl::OkStatus();
  }

  // The results of a loop that never has a round.
  void CopyInitial(const Node& node, const RepeatForm& form) {
    for (size_t i = 0; i < form.carried; ++i) {
      const ValueId initial = node.inputs[RepeatForm::kFirstCarried + i];
      if (!node.outputs[i].valid()) continue;
      AddCopy(buffers_.Read(initial), RoomFor(initial, buffers_.Of(node.outputs[i])));
    }
  }

  // Where the carried values of a loop lie (carried_values.h).
  struct CarriedRooms {
    struct InTurn {
      size_t number = 0;     // of the carried value
      BufferId base = {};    // of both rooms
      int64_t elements = 0;  // from one to the other
    };
    std::vector<InTurn> in_turn = {};
    std::vector<std::pair<ValueId, BufferId>> copies = {};  // at the end of a round
  };

  // Gives each carried value its room, with the initial value in it. All but those in turn lie in
  // the buffer of the node's result.
  CarriedRooms EnterLoop(const Node& node, const RepeatForm& form, const FusedGraph& fused,
                         const Expr& round) {
    const Region& body = graph_.regions[node.regions.at("body")];
    CarriedRooms rooms;
    for (size_t i = 0; i < form.carried; ++i) {
      const ValueId initial = node.inputs[RepeatForm::kFirstCarried + i], value = body.inputs[i],
                    next = body.outputs[form.first_next + i], result = node.outputs[i];
      Carriage carriage = CarriageOf(graph_, node, i, fused, buffers_);
      if (carriage == Carriage::kInTurn && !options_.in_turn) carriage = Carriage::kCopied;
      if (carriage == Carriage::kInTurn) {
        const auto [base, elements] = buffers_.AddRooms({value, initial, next});
        const Expr second = Mod(round, 2) * elements;
        AddCopy(buffers_.Read(initial), buffers_.AddView(initial, base, 0));
        buffers_.Put(value, buffers_.AddView(value, base, second));
        AOTC_CHECK(buffers_.WriteInto(next, buffers_.AddView(next, base, elements - second)));
        rooms.in_turn.push_back({i, base, elements});
        continue;
      }
      const BufferId room =
          result.valid() ? buffers_.Of(result) : buffers_.Add(value, BufferKind::kArena);
      AddCopy(buffers_.Read(initial), RoomFor(initial, room));
      buffers_.Put(value, RoomFor(value, room));
      if (carriage == Carriage::kCopied) {
        rooms.copies.emplace_back(next, room);
      } else {
        AOTC_CHECK(buffers_.WriteInto(next, buffers_.Of(value)));
      }
    }
    return rooms;
  }

  // A result stays in the room that the last round has written, unless it has a place of its own.
  void LeaveLoop(const Node& node, const CarriedRooms& rooms, const Expr& rounds) {
    for (const CarriedRooms::InTurn& in_turn : rooms.in_turn) {
      const ValueId result = node.outputs[in_turn.number];
      if (!result.valid()) continue;
      const Expr last = Simplify(Mod(rounds, 2) * in_turn.elements, BoundsOf(program_.symbols));
      const BufferId room = buffers_.AddView(result, in_turn.base, last);
      if (buffers_.IsPlaced(result)) {
        AddCopy(room, RoomFor(result, buffers_.Of(result)));
      } else {
        buffers_.Put(result, room);
      }
    }
  }

  // Copies as if all at once: a new value that lies in the buffer of another carried value is
  // brought to safety first.
  void Carry(const std::vector<std::pair<ValueId, BufferId>>& carried) {
    std::vector<std::pair<BufferId, BufferId>> copies;
    for (const auto& [value, room] : carried) {
      BufferId from = buffers_.Read(value);
      if (from == room) continue;
      const BufferId base = BaseOf(program_, from);
      const auto is_base = [&](const auto& other) { return other.second == base; };
      if (std::ranges::any_of(carried, is_base)) {
        const BufferId safe = buffers_.Add(value, BufferKind::kArena);
        AddCopy(from, safe);
        from = safe;
      }
      copies.emplace_back(from, RoomFor(value, room));
    }
    for (const auto& [from, to] : copies) AddCopy(from, to);
  }

  const Graph& graph_;
  const BuildOptions options_;
  Program program_;
  ValueBuffers buffers_;
  KernelLaunches launches_;
  std::set<BufferId> copied_;  // outputs in memory that is read until the end
  // Of each region that is open, the values that the host has.
  std::vector<std::map<ValueId, BufferId>> on_host_;
};

}  // namespace

absl::StatusOr<Program> BuildProgram(const Graph& graph, FusedGraph fused,
                                     const Scheduler& schedule, const BuildOptions& options) {
  return ProgramBuilder(graph, schedule, options).Build(std::move(fused));
}

}  // namespace aotc
