// Passes: functions from Graph to Graph, and what runs a list of them.
//
//   absl::StatusOr<Graph> RemoveIdentities(const Graph& graph, PassContext& context);
//   {"remove-identities", RemoveIdentities, 1, kTyped, 0, "drops nodes that copy their input"},
//
//   PassContext context({.level = 2, .disable = {"fold-scale"}}, diagnostics);
//   graph = *RunPasses(graph, AllPasses(), context);
//
// A pass changes nothing but the graph that it returns and the diagnostics; it reads its settings
// from the context. The table of all passes is the driver's (pipeline.cc), of which passes know
// nothing.
#ifndef AOTC_COMPILER_PASS_PASS_H_
#define AOTC_COMPILER_PASS_PASS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/contract.h"
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// What can hold of a graph; the verifier checks each after the pass that ensures it.
enum GraphProperty : uint32_t {
  kTyped = 1,     // every value has a known type
  kExpanded = 2,  // every node has a `compute` definition
};
using GraphProperties = uint32_t;

// Operands of one node: passes part what has more (limit-operands) and join no more.
inline constexpr size_t kMostOperands = 32;

// A setting of a pass, as the user gives it: --config fold.cap-bytes=1000000. It is declared in the
// header of the pass that reads it; the driver's table lists all of them.
struct ConfigKey {
  std::string_view name;
  int64_t fallback;
  int64_t min;
  int64_t max;
  std::string_view summary;
};
// Several passes have algebra that minds no NaN, infinity or sign of zero.
inline constexpr ConfigKey kFastMath = {"simplify.fast-math", 0, 0, 1,
                                        "1: algebra of real numbers, as --math fast sets it"};

// Layouts and the passes that write for them.
inline constexpr ConfigKey kLeastChannels = {"layout.least-channels", 8, 1, 4096,
                                             "inputs of a tile with fewer channels stay row-major"};

// What the user asks of passes and phases. The driver says whether it makes sense.
struct PassOptions {
  int level = 2;                       // 0 to 3: passes of a higher level do not run
  std::set<std::string> enable = {};   // run whatever the level
  std::set<std::string> disable = {};  // do not run; beats enable
  std::map<std::string, int64_t> config = {};
  std::string stop_after = {};  // nothing runs after this one
  bool verify_each = true;
};

// What passes have to know of the target.
struct PassTarget {
  TargetContracts contracts = {};
  // Its tile functions read weights of narrow integers as they are stored and scale them.
  bool scales_weights = false;
};

class PassContext;
using PassFunction = absl::StatusOr<Graph> (*)(const Graph& graph, PassContext& context);

struct Pass {
  std::string_view name;
  PassFunction function;
  int level;  // the lowest at which it runs; 0: also without optimisation
  GraphProperties needs;
  GraphProperties ensures;  // holds afterwards, besides what held before
  std::string_view summary;
};

// One run of a pass.
struct PassRun {
  const Pass& pass;
  const Graph& before;
  const Graph& after;
  double seconds;  // of the pass alone
};
// Looks at a run; an error ends the passes.
using PassInstrument = std::function<absl::Status(const PassRun& run)>;

class PassContext {
 public:
  PassContext(PassOptions options, Diagnostics& diagnostics, PassTarget target = {})
      : options_(std::move(options)), diagnostics_(diagnostics), target_(std::move(target)) {}

  const PassOptions& options() const { return options_; }
  const PassTarget& target() const { return target_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  // The value that the user gave, else the key's own.
  int64_t Config(const ConfigKey& key) const;

  void AddInstrument(PassInstrument instrument) { instruments_.push_back(std::move(instrument)); }
  const std::vector<PassInstrument>& instruments() const { return instruments_; }

 private:
  PassOptions options_;
  Diagnostics& diagnostics_;
  PassTarget target_;
  std::vector<PassInstrument> instruments_;
};

// True where the options let the pass or phase of this name and level run.
bool IsEnabled(std::string_view name, int level, const PassOptions& options);

// Runs the enabled passes in order, up to the one named by stop_after. `held` is what holds of
// `graph`. Error: of a pass, with its name unless it is the status of the diagnostics; a pass whose
// needs do not hold; a graph that does not verify after a pass (ours, internal).
absl::StatusOr<Graph> RunPasses(const Graph& graph, std::span<const Pass> passes,
                                PassContext& context, GraphProperties held = 0);

// Gives `sink` the name of each pass with the text of its result.
PassInstrument DumpInstrument(std::function<void(std::string_view pass, std::string text)> sink);
// Gives `sink` the name of each pass with the seconds that it took.
PassInstrument TimeInstrument(std::function<void(std::string_view pass, double seconds)> sink);

}  // namespace aotc

#endif  // AOTC_COMPILER_PASS_PASS_H_
