#include "compiler/report/page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ir/constant_text.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/program_text.h"
#include "compiler/report/layered_layout.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Tenths are fine enough for a drawing.
double Rounded(double value) { return std::round(value * 10) / 10; }

std::string Shortened(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole letters
  return text.substr(0, end) + "\u2026";
}

double BoxWidth(const std::string& op, const std::string& name) {
  constexpr double kLetter = 6.6, kLeast = 56, kPadding = 14;
  return std::max(kLeast,
                  kLetter * static_cast<double>(std::max(op.size(), name.size())) + kPadding);
}

// A graph as boxes and lines with their places.
class Drawing {
 public:
  explicit Drawing(const Graph& graph) : graph_(graph), box_of_(graph.values.size(), -1) {}

  Json Run() {
    const Region& main = graph_.main_region();
    for (ValueId id : main.inputs) {
      AddBox("input", graph_.values[id].name, PrintType(graph_.values[id].type), {}, {id});
    }
    for (NodeId id : main.nodes) AddNode(graph_.nodes[id]);
    for (ValueId id : main.outputs) {
      AddBox("output", graph_.values[id].name, PrintType(graph_.values[id].type), {id}, {});
    }
    return Finish(main.nodes.size());
  }

 private:
  void AddNode(const Node& node) {
    const std::string name = node.locations.empty() ? "" : node.locations[0].node;
    std::string details = StrCat(node.op, " ", name);
    std::vector<ValueId> reads;
    for (ValueId id : node.inputs) {
      if (!id.valid()) continue;
      const Value& value = graph_.values[id];
      const bool constant = value.constant.has_value();
      StrAppend(&details, "\n", constant ? "const " : "in ", value.name, ": ",
                PrintType(value.type));
      reads.push_back(id);
    }
    for (ValueId id : node.outputs) {
      if (!id.valid()) continue;
      StrAppend(&details, "\nout ", graph_.values[id].name, ": ",
                PrintType(graph_.values[id].type));
    }
    constexpr int kLongestConstant = 8;
    if (!node.attributes.empty()) {
      StrAppend(&details, "\n", PrintAttributes(node.attributes, kLongestConstant));
    }
    for (const auto& [region, id] : node.regions) {
      StrAppend(&details, "\n", region, ": ", graph_.regions[id].nodes.size(), " nodes");
    }
    AddBox(node.op, name, details, reads, node.outputs);
  }

  void AddBox(const std::string& op, const std::string& name, const std::string& details,
              const std::vector<ValueId>& reads, const std::vector<ValueId>& results) {
    constexpr size_t kLongestName = 26;
    const std::string shown = Shortened(name, kLongestName);
    const int index = static_cast<int>(boxes_.size());
    LayoutNode place{.width = BoxWidth(op, shown), .sinks = op == "input"};
    for (ValueId id : reads) {
      if (box_of_[id] >= 0) place.reads.push_back(box_of_[id]);
    }
    for (ValueId id : results) {
      if (id.valid()) box_of_[id] = index;
    }
    boxes_.push_back({{"op", op}, {"name", shown}, {"details", details}});
    places_.push_back(std::move(place));
  }

  Json Finish(size_t node_count) {
    const LayeredLayout layout = LayOut(places_);
    for (size_t i = 0; i < boxes_.size(); ++i) {
      boxes_[i]["x"] = Rounded(layout.nodes[i].x);
      boxes_[i]["y"] = Rounded(layout.nodes[i].y);
      boxes_[i]["width"] = Rounded(places_[i].width);
    }
    Json lines = Json::array();
    for (const LayoutLine& line : layout.lines) {
      lines.push_back(
          {Rounded(line.from.x), Rounded(line.from.y), Rounded(line.to.x), Rounded(line.to.y)});
    }
    return {{"nodes", node_count},
            {"width", Rounded(layout.width)},
            {"height", Rounded(layout.height)},
            {"box_height", kLayoutNodeHeight},
            {"boxes", std::move(boxes_)},
            {"lines", std::move(lines)}};
  }

  const Graph& graph_;
  IdVector<ValueId, int> box_of_;
  Json boxes_ = Json::array();
  std::vector<LayoutNode> places_;
};

// The imported graph with the types that could be inferred.
Graph WithTypes(const Graph& graph, const Graph& typed) {
  std::map<std::string, ValueType> types;
  for (const Value& value : typed.values) types.emplace(value.name, value.type);
  Graph result = graph;
  for (Value& value : result.values) {
    const auto found = types.find(value.name);
    if (found != types.end()) value.type = found->second;
  }
  return result;
}

Json Kernels(const Program& program) {
  Json list = Json::array();
  const IdVector<KernelId, int64_t> launches = LaunchCounts(program);
  for (KernelId id : program.kernels.ids()) {
    const ProgramKernel& kernel = program.kernels[id];
    Json variants = Json::array();
    for (const KernelVariant& variant : kernel.variants) {
      const std::string feature = variant.feature.empty() ? "" : StrCat(" on ", variant.feature);
      variants.push_back(StrCat(variant.schedule.empty() ? variant.realisation : variant.schedule,
                                feature,
                                variant.reason.empty() ? "" : StrCat(": ", variant.reason)));
    }
    list.push_back({{"name", kernel.kernel.name},
                    {"ops", kernel.kernel.sources},
                    {"launches", launches[id]},
                    {"flops", KernelFlops(kernel.kernel)},
                    {"bytes", KernelBytes(kernel.kernel)},
                    {"realisation", kernel.variants.empty() ? "" : kernel.variants[0].realisation},
                    {"variants", std::move(variants)}});
  }
  return list;
}

Json Arena(const Program& program) {
  Json buffers = Json::array(), steps = Json::array(), pools = Json::array();
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kArena || buffer.first_step < 0) continue;
    buffers.push_back({{"name", buffer.value.empty() ? buffer.name : buffer.value},
                       {"offset", buffer.offset},
                       {"bytes", buffer.bytes},
                       {"first", buffer.first_step},
                       {"last", buffer.last_step}});
  }
  for (const Step& step : program.steps) steps.push_back(StepName(program, step));
  for (const Pool& pool : program.pools) {
    pools.push_back({{"name", pool.name},
                     {"offset", pool.offset},
                     {"bytes", pool.bytes},
                     {"lower_bound", pool.lower_bound}});
  }
  return {{"bytes", program.arena_bytes},
          {"lower_bound", program.lower_bound},
          {"pools", std::move(pools)},
          {"steps", std::move(steps)},
          {"buffers", std::move(buffers)}};
}

Json Values(const Graph& graph, const std::vector<ValueId>& ids) {
  Json list = Json::array();
  for (ValueId id : ids) {
    list.push_back(StrCat(graph.values[id].name, ": ", PrintType(graph.values[id].type)));
  }
  return list;
}

}  // namespace

Json PageData(const PageInput& input) {
  const Graph before = WithTypes(input.inspection.graph, input.inspection.typed);
  Json data = {{"title", input.title},
               {"target", input.target},
               {"findings", FindingsToJson(input.diagnostics)},
               {"inputs", Values(before, before.main_region().inputs)},
               {"outputs", Values(before, before.main_region().outputs)},
               {"weight_bytes", input.inspection.constant_bytes},
               {"before", Drawing(before).Run()}};
  if (input.compiled == nullptr) return data;
  data["after"] = Drawing(input.compiled->graph).Run();
  data["kernels"] = Kernels(input.compiled->program);
  data["arena"] = Arena(input.compiled->program);
  return data;
}

std::string ScriptJson(const Json& json) {
  // With all but ASCII escaped, `<` is the one character that an HTML parser may take for an end.
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string InspectionPage(const PageInput& input) {
  std::string page(kPageTemplate);
  page.replace(page.find(kPageDataMark), kPageDataMark.size(), ScriptJson(PageData(input)));
  return page;
}

}  // namespace aotc
