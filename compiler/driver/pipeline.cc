#include "compiler/driver/pipeline.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/canonicalize/eliminate_dead.h"
#include "compiler/canonicalize/expand_ops.h"
#include "compiler/canonicalize/infer_and_fold.h"
#include "compiler/canonicalize/remove_identities.h"
#include "compiler/optimize/fold_scale.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// name, function, level, needs, ensures, summary
constexpr Pass kPasses[] = {
    {"expand-ops", ExpandOps, 0, 0, kExpanded,
     "writes ops that are defined by others in terms of those"},
    {"infer-and-fold", InferAndFold, 0, kExpanded, kTyped,
     "gives every value its type, and constants where all inputs are"},
    {"remove-identities", RemoveIdentities, 1, kTyped | kExpanded, 0,
     "drops nodes that copy their input"},
    {"fold-scale", FoldScale, 1, kTyped | kExpanded, 0,
     "folds batch normalisation, scale and bias into weights"},
    {"eliminate-dead", EliminateDead, 1, 0, 0, "drops what no output needs"},
};

constexpr ConfigKey kConfigKeys[] = {
    {"fold.cap-bytes", 16 << 20, 0, int64_t{1} << 40,
     "most bytes of a folded constant that no weight is made of and that is larger than its "
     "inputs"},
};

std::string KnownNames(const auto& table) {
  return StrJoin(table, ", ", [](const auto& row) { return row.name; });
}

absl::Status UnknownPass(std::string_view name) {
  return absl::InvalidArgumentError(
      StrCat("unknown pass '", name, "'; there are ", KnownNames(kPasses)));
}

absl::Status UnknownKey(std::string_view name) {
  return absl::InvalidArgumentError(
      StrCat("unknown config key '", name, "'; there are ", KnownNames(kConfigKeys)));
}

absl::Status CheckConfig(std::string_view name, int64_t value) {
  const ConfigKey* key = FindConfigKey(name);
  if (key == nullptr) return UnknownKey(name);
  if (value >= key->min && value <= key->max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("config ", name, " is ", value, ", outside ", key->min, "..", key->max));
}

}  // namespace

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
    return absl::InvalidArgumentError(
        StrCat("config '", setting, "' is not of the form key=value"));
  }
  std::string_view name = setting.substr(0, equals), text = setting.substr(equals + 1);
  if (FindConfigKey(name) == nullptr) return UnknownKey(name);
  int64_t value = 0;
  if (!absl::SimpleAtoi(View(text), &value)) {
    return absl::InvalidArgumentError(StrCat("config ", name, " needs a number, got '", text, "'"));
  }
  absl::Status status = CheckConfig(name, value);
  if (status.ok()) options.config[std::string(name)] = value;
  return status;
}

absl::Status CheckPassOptions(const PassOptions& options) {
  Diagnostics findings;
  auto check_pass = [&](const std::string& name) {
    if (FindPass(name) == nullptr) findings.AddStatus(UnknownPass(name));
  };
  for (const std::string& name : options.enable) check_pass(name);
  for (const std::string& name : options.disable) check_pass(name);
  if (!options.stop_after.empty()) check_pass(options.stop_after);
  for (const auto& [name, value] : options.config) {
    if (absl::Status status = CheckConfig(name, value); !status.ok()) findings.AddStatus(status);
  }
  return findings.ToStatus();
}

}  // namespace aotc
