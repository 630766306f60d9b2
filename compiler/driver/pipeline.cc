#include "compiler/driver/pipeline.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "compiler/canonicalize/eliminate_dead.h"
#include "compiler/canonicalize/expand_ops.h"
#include "compiler/canonicalize/infer_and_fold.h"
#include "compiler/canonicalize/limit_operands.h"
#include "compiler/canonicalize/remove_identities.h"
#include "compiler/canonicalize/split_phases.h"
#include "compiler/layout/choose_layouts.h"
#include "compiler/layout/winograd.h"
#include "compiler/optimize/common_subexpressions.h"
#include "compiler/optimize/flatten_dilation.h"
#include "compiler/optimize/fold_scale.h"
#include "compiler/optimize/integer_contractions.h"
#include "compiler/optimize/merge_siblings.h"
#include "compiler/optimize/recognize.h"
#include "compiler/optimize/reshaped_convolutions.h"
#include "compiler/optimize/shuffles_last.h"
#include "compiler/optimize/simplify.h"
#include "compiler/optimize/sink_reshapes.h"
#include "compiler/optimize/sink_transposes.h"
#include "compiler/optimize/slices_of_splits.h"
#include "compiler/optimize/split_groups.h"
#include "compiler/optimize/split_transforms.h"
#include "compiler/support/byte_count.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"
#include "compiler/targets/registry.h"

namespace aotc {
namespace {

constexpr int kMostLevel = 3;

// name, level, summary
constexpr Phase kPhasesBefore[] = {
    {"import", 0, "reads the model"},
};
constexpr Phase kPhasesAfter[] = {
    {"fuse", 1, "puts nodes that belong together into one kernel; else one kernel each"},
    {"lower", 0, "chooses schedules and realises kernels as loops and tile functions"},
    {"plan", 0, "orders the steps and places buffers in the arena"},
    {"emit", 0, "writes the program as text"},
};

// name, function, level, needs, ensures, summary
constexpr Pass kPasses[] = {
    {"expand-ops", ExpandOps, 0, 0, kExpanded,
     "writes ops that are defined by others in terms of those"},
    {"limit-operands", LimitOperands, 0, 0, 0,
     "writes joins and sums of very many operands as several"},
    {"infer-and-fold", InferAndFold, 0, kExpanded, kTyped,
     "gives every value its type, and constants where all inputs are"},
    {"split-transforms", SplitTransforms, 1, kTyped | kExpanded, 0,
     "writes Fourier transforms of known lengths as products with the matrices of their factors"},
    {"integer-contractions", IntegerContractions, 1, kTyped | kExpanded, 0,
     "makes contractions of quantised tensors sums of products of the stored integers"},
    {"remove-identities", RemoveIdentities, 1, kTyped | kExpanded, 0,
     "drops nodes that copy their input"},
    {"simplify", SimplifyGraph, 1, kTyped | kExpanded, 0,
     "algebra that changes no bit of a result: neutral operands, chains of casts and reshapes"},
    {"common-subexpressions", CommonSubexpressions, 2, kTyped | kExpanded, 0,
     "computes once what several nodes compute"},
    {"flatten-dilation", FlattenDilation, 2, kTyped | kExpanded, 0,
     "makes dilated convolutions of those between space-to-batch and its inverse"},
    {"sink-transposes", SinkTransposes, 2, kTyped | kExpanded, 0,
     "moves transposes down until they cancel or a reduction takes them in"},
    {"recognize", RecognizeFunctions, 2, kTyped | kExpanded, 0,
     "makes one op of activations and normalisations that are written in parts"},
    {"sink-reshapes", SinkReshapes, 2, kTyped | kExpanded, 0,
     "moves reshapes of contractions down, so that elementwise ops meet those"},
    {"fold-scale", FoldScale, 1, kTyped | kExpanded, 0,
     "folds batch normalisation, scale and bias into weights"},
    {"merge-siblings", MergeSiblings, 2, kTyped | kExpanded, 0,
     "makes one of convolutions and matrix products that read one value, where parting is free"},
    {"eliminate-dead", EliminateDead, 1, 0, 0, "drops what no output needs"},
    {"split-phases", SplitPhases, 1, kTyped | kExpanded, 0,
     "writes transposed convolutions as convolutions whose channels are phases of pixels"},
    {"shuffles-last", ShufflesLast, 2, kTyped | kExpanded, 0,
     "moves shuffles of channels behind depthwise convolutions, whose readers gather them"},
    {"split-groups", SplitGroups, 2, kTyped | kExpanded, 0,
     "writes grouped convolutions as one per group, where the target has no tile for groups"},
    {"slices-of-splits", SlicesOfSplits, 1, kTyped | kExpanded, 0,
     "writes splits of channels as slices, which can each lie in what they are slices of"},
    {"reshaped-convolutions", ReshapedConvolutions, 1, kTyped | kExpanded, 0,
     "moves reshapes of pixels in front of convolutions that look at single pixels"},
    {"layout", ChooseLayouts, 1, kTyped | kExpanded, 0,
     "chooses how convolutions and products are computed, and how values lie for that"},
};

constexpr ConfigKey kConfigKeys[] = {kFoldCapBytes, kLeastChannels, kMergeCopiedParts, kFastMath,
                                     kWinograd};

std::vector<std::string> NamesOf(const auto& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

absl::Status UnknownPass(std::string_view name) {
  return AOTC_REFUSAL(InvalidArgument, UnknownName("pass", name, NamesOf(kPasses)));
}

bool IsKnown(std::string_view name) {
  return FindPass(name) != nullptr || FindPhase(name) != nullptr;
}

absl::Status UnknownPhase(std::string_view name) {
  return AOTC_REFUSAL(InvalidArgument, UnknownName("pass or phase", name, PhaseNames()));
}

// Enabling and disabling.
absl::Status CheckSwitch(std::string_view name) {
  for (const Phase& phase : AllPhases()) {
    if (phase.name != name) continue;
    if (phase.level > 0) return absl::OkStatus();
    return AOTC_REFUSAL(InvalidArgument, StrCat("'", name, "' always runs"));
  }
  return UnknownPhase(name);
}

absl::Status UnknownKey(std::string_view name) {
  return AOTC_REFUSAL(InvalidArgument, UnknownName("config key", name, NamesOf(kConfigKeys)));
}

absl::Status CheckConfig(std::string_view name, int64_t value) {
  const ConfigKey* key = FindConfigKey(name);
  if (key == nullptr) return UnknownKey(name);
  if (value >= key->min && value <= key->max) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("config ", name, " is ", value, ", outside ",
                                              key->min, "..", key->max));
}

}  // namespace

std::vector<Phase> AllPhases() {
  std::vector<Phase> phases(std::begin(kPhasesBefore), std::end(kPhasesBefore));
  for (const Pass& pass : kPasses) phases.push_back({pass.name, pass.level, pass.summary});
  phases.insert(phases.end(), std::begin(kPhasesAfter), std::end(kPhasesAfter));
  return phases;
}

std::vector<std::string> PhaseNames() {
  std::vector<std::string> names;
  for (const Phase& phase : AllPhases()) names.emplace_back(phase.name);
  return names;
}

const Phase* FindPhase(std::string_view name) {
  for (const std::span<const Phase> phases :
       {std::span<const Phase>(kPhasesBefore), std::span<const Phase>(kPhasesAfter)}) {
    for (const Phase& phase : phases) {
      if (phase.name == name) return &phase;
    }
  }
  return nullptr;
}

std::string DescribePipeline() {
  std::string text;
  for (const Phase& phase : AllPhases()) {
    absl::StrAppendFormat(&text, "%-20s -O%d  %s\n", View(phase.name), phase.level,
                          View(phase.summary));
  }
  for (const ConfigKey& key : kConfigKeys)
    StrAppend(&text, "--config ", key.name, "=", key.fallback, ": ", key.summary, "\n");
  for (const ScheduleRow& row : AllSchedules()) {
    StrAppend(&text, "--disable-schedule ", row.name, ": ", row.summary, " (", row.targets, ")\n");
  }
  return text;
}

PassTarget PassTargetOf(std::string_view target, bool templates) {
  const absl::StatusOr<Target> made = MakeTarget(target, {.templates = templates});
  return made.ok() ? PassTargetOf(*made) : PassTarget{};
}

PassTarget PassTargetOf(const Target& target) {
  return {.contracts = target.contracts, .scales_weights = target.scales_weights};
}

std::span<const Pass> AllPasses() { return kPasses; }

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

absl::StatusOr<std::vector<Pass>> PassesByName(std::string_view names) {
  std::vector<Pass> passes;
  for (absl::string_view piece : absl::StrSplit(View(names), ',', absl::SkipWhitespace())) {
    std::string_view name(piece.data(), piece.size());
    const Pass* pass = FindPass(name);
    if (pass == nullptr) return UnknownPass(name);
    passes.push_back(*pass);
  }
  return passes;
}

absl::StatusOr<Graph> InferTypes(const Graph& graph, Diagnostics& diagnostics) {
  PassContext context({}, diagnostics);
  AOTC_ASSIGN_OR_RETURN(const Graph expanded, ExpandOps(graph, context));
  return InferWhatIsKnown(expanded, context);
}

std::span<const ConfigKey> AllConfigKeys() { return kConfigKeys; }

const ConfigKey* FindConfigKey(std::string_view name) {
  for (const ConfigKey& key : kConfigKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

absl::Status SetConfig(std::string_view setting, PassOptions& options) {
  size_t equals = setting.find('=');
  if (equals == std::string_view::npos) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("config '", setting, "' is not of the form key=value"));
  }
  std::string_view name = setting.substr(0, equals), text = setting.substr(equals + 1);
  if (FindConfigKey(name) == nullptr) return UnknownKey(name);
  const std::optional<int64_t> bytes = ParseByteCount(text);
  int64_t value = bytes.value_or(0);
  if (!bytes && !absl::SimpleAtoi(View(text), &value)) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("config ", name, " needs a number, got '", text, "'"));
  }
  absl::Status status = CheckConfig(name, value);
  if (status.ok()) options.config[std::string(name)] = value;
  return status;
}

absl::Status CheckPassOptions(const PassOptions& options) {
  Diagnostics findings;
  auto check = [&](const absl::Status& status) {
    if (!status.ok()) findings.AddStatus(status);
  };
  if (options.level < 0 || options.level > kMostLevel) {
    check(AOTC_REFUSAL(InvalidArgument,
                       StrCat("level ", options.level, " is outside 0..", kMostLevel)));
  }
  for (const std::string& name : options.enable) check(CheckSwitch(name));
  for (const std::string& name : options.disable) check(CheckSwitch(name));
  if (!options.stop_after.empty() && !IsKnown(options.stop_after))
    check(UnknownPhase(options.stop_after));
  for (const auto& [name, value] : options.config) check(CheckConfig(name, value));
  return findings.ToStatus();
}

}  // namespace aotc
