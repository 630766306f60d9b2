#include "compiler/pass/pass.h"

#include <chrono>
#include <utility>

#include "compiler/ir/graph_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status VerifyExpanded(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const OpDef* op = FindOp(node.op);
    if (op != nullptr && op->compute == nullptr && op->expand != nullptr) {
      return absl::InternalError(StrCat("op ", node.op, " is not expanded"));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyProperties(const Graph& graph, GraphProperties held) {
  AOTC_RETURN_IF_ERROR((held & kTyped) != 0 ? VerifyGraph(graph) : VerifyStructure(graph));
  return (held & kExpanded) != 0 ? VerifyExpanded(graph) : absl::OkStatus();
}

std::string PropertyNames(GraphProperties properties) {
  std::vector<std::string> names;
  if ((properties & kTyped) != 0) names.push_back("types");
  if ((properties & kExpanded) != 0) names.push_back("expanded ops");
  return StrJoin(names, " and ");
}

absl::StatusOr<Graph> RunPass(const Pass& pass, const Graph& graph, PassContext& context,
                              GraphProperties& held) {
  if (GraphProperties missing = pass.needs & ~held; missing != 0) {
    return absl::FailedPreconditionError(StrCat("pass ", pass.name, " needs ",
                                                PropertyNames(missing),
                                                ": run the passes that give them first"));
  }
  auto start = std::chrono::steady_clock::now();
  absl::StatusOr<Graph> result = pass.function(graph, context);
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!result.ok()) {
    // Findings about the model speak for themselves.
    if (context.diagnostics().error_count() > 0) return context.diagnostics().ToStatus();
    return absl::Status(result.status().code(),
                        StrCat("pass ", pass.name, ": ", result.status().message()));
  }
  held |= pass.ensures;
  for (const PassInstrument& instrument : context.instruments()) {
    AOTC_RETURN_IF_ERROR(instrument({pass, graph, *result, elapsed.count()}));
  }
  if (!context.options().verify_each) return result;
  if (absl::Status status = VerifyProperties(*result, held); !status.ok()) {
    return absl::InternalError(StrCat("after pass ", pass.name, ": ", status.message()));
  }
  return result;
}

}  // namespace

int64_t PassContext::Config(const ConfigKey& key) const {
  auto found = options_.config.find(std::string(key.name));
  return found == options_.config.end() ? key.fallback : found->second;
}

bool IsEnabled(std::string_view name, int level, const PassOptions& options) {
  const std::string key(name);
  if (options.disable.contains(key)) return false;
  return level <= options.level || options.enable.contains(key);
}

absl::StatusOr<Graph> RunPasses(const Graph& graph, std::span<const Pass> passes,
                                PassContext& context, GraphProperties held) {
  Graph current = graph;
  for (const Pass& pass : passes) {
    if (IsEnabled(pass.name, pass.level, context.options())) {
      AOTC_ASSIGN_OR_RETURN(current, RunPass(pass, current, context, held));
    }
    if (pass.name == context.options().stop_after) break;
  }
  return current;
}

PassInstrument DumpInstrument(std::function<void(std::string_view pass, std::string text)> sink) {
  return [sink = std::move(sink)](const PassRun& run) {
    sink(run.pass.name, PrintGraph(run.after));
    return absl::OkStatus();
  };
}

PassInstrument TimeInstrument(std::function<void(std::string_view pass, double seconds)> sink) {
  return [sink = std::move(sink)](const PassRun& run) {
    sink(run.pass.name, run.seconds);
    return absl::OkStatus();
  };
}

}  // namespace aotc
