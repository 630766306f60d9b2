// Passes: functions from Graph to Graph, and what runs a list of them.
//
//   absl::StatusOr<Graph> RemoveIdentities(const Graph& graph, PassContext& context);
//   {"remove-identities", RemoveIdentities, 1, kTyped, 0, "drops nodes that copy their input"},
//
//   PassContext context({.level = 2, .disable = {"fold-scale"}}, diagnostics);
//   graph = *RunPasses(graph, AllPasses(), context);
//
// A pass changes nothing but the graph that it returns and the diagnostics; it reads its settings
// from the context. The table of all passes is in pipeline.cc.
#ifndef AOTC_COMPILER_DRIVER_PASS_H_
#define AOTC_COMPILER_DRIVER_PASS_H_

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
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// What can hold of a graph; the verifier checks each after the pass that ensures it.
enum GraphProperty : uint32_t {
  kTyped = 1,     // every value has a known type
  kExpanded = 2,  // every node has a `compute` definition
};
using GraphProperties = uint32_t;

// A setting of a pass, as the user gives it: --config fold.cap-bytes=1000000.
struct ConfigKey {
  std::string_view name;
  int64_t fallback;
  int64_t min;
  int64_t max;
  std::string_view summary;
};

struct PassOptions {
  int level = 2;                       // passes of a higher level do not run
  std::set<std::string> enable = {};   // run whatever the level
  std::set<std::string> disable = {};  // do not run; beats enable
  std::map<std::string, int64_t> config = {};
  std::string stop_after = {};  // no pass runs after this one
  bool verify_each = true;
};

class PassContext;
using PassFunction = absl::StatusOr<Graph> (*)(const Graph& graph, PassContext& context);

struct Pass {
  std::string_view name;
  PassFunction function;
  int level;  // 0: always, also without optimisation
  GraphProperties needs;
  GraphProperties ensures;  // holds afterwards, besides what held before
  std::string_view summary;
};

// Looks at a graph after a pass has run.
using PassInstrument =
    std::function<absl::Status(const Pass& pass, const Graph& before, const Graph& after)>;

struct PassTime {
  std::string pass;
  double seconds;
};

class PassContext {
 public:
  PassContext(PassOptions options, Diagnostics& diagnostics)
      : options_(std::move(options)), diagnostics_(diagnostics) {}

  const PassOptions& options() const { return options_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  // The value that the user gave, else the one of the table (pipeline.h). AOTC_CHECK: a known key.
  int64_t Config(std::string_view key) const;

  void AddInstrument(PassInstrument instrument) { instruments_.push_back(std::move(instrument)); }
  const std::vector<PassInstrument>& instruments() const { return instruments_; }
  // Of the passes that ran, in order.
  const std::vector<PassTime>& times() const { return times_; }
  void AddTime(std::string_view pass, double seconds) {
    times_.push_back({std::string(pass), seconds});
  }

 private:
  PassOptions options_;
  Diagnostics& diagnostics_;
  std::vector<PassInstrument> instruments_;
  std::vector<PassTime> times_;
};

// True where the options let the pass run.
bool IsEnabled(const Pass& pass, const PassOptions& options);

// Runs the enabled passes in order, up to the one named by stop_after. `held` is what holds of
// `graph`. Error: of a pass, with its name unless it is the status of the diagnostics; a pass whose
// needs do not hold; a graph that does not verify after a pass (ours, internal).
absl::StatusOr<Graph> RunPasses(const Graph& graph, std::span<const Pass> passes,
                                PassContext& context, GraphProperties held = 0);

// Prints the graph after each pass through `sink`, with the pass's name: the dump instrument.
PassInstrument DumpInstrument(std::function<void(std::string_view pass, std::string text)> sink);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_PASS_H_
