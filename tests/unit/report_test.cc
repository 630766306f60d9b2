#include <cmath>
#include <set>

#include "compiler/ir/graph_text.h"
#include "compiler/report/layered_layout.h"
#include "compiler/report/page.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// No reader is above what it reads; boxes of a layer keep apart; all is within the picture.
void CheckLayout(const std::vector<LayoutNode>& nodes, const LayeredLayout& layout) {
  ASSERT_EQ(layout.nodes.size(), nodes.size());
  std::map<double, std::set<std::pair<double, double>>> layers;  // y: left and right ends
  for (size_t i = 0; i < nodes.size(); ++i) {
    const LayoutPoint& at = layout.nodes[i];
    for (int read : nodes[i].reads) {
      EXPECT_GT(at.y, layout.nodes[static_cast<size_t>(read)].y + kLayoutNodeHeight);
    }
    layers[at.y].emplace(at.x - nodes[i].width / 2, at.x + nodes[i].width / 2);
    EXPECT_GE(at.x - nodes[i].width / 2, 0);
    EXPECT_LE(at.x + nodes[i].width / 2, layout.width);
    EXPECT_LE(at.y + kLayoutNodeHeight / 2, layout.height);
  }
  for (const auto& [y, ends] : layers) {
    double last = -1;
    for (const auto& [left, right] : ends) {
      EXPECT_GT(left, last) << "boxes overlap at height " << y;
      last = right;
    }
  }
}

TEST(LayeredLayout, PutsReadersBelowAndKeepsBoxesApart) {
  std::vector<LayoutNode> nodes = {{.width = 60, .sinks = true}};
  for (int i = 1; i < 200; ++i) {
    LayoutNode node{.width = 40.0 + i % 7 * 10};
    node.reads.push_back(i - 1 - (i * 7) % std::min(i, 5));
    if (i % 3 == 0) node.reads.push_back(i / 2);
    nodes.push_back(node);
  }
  const LayeredLayout layout = LayOut(nodes);
  CheckLayout(nodes, layout);
  const LayeredLayout again = LayOut(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(layout.nodes[i].x, again.nodes[i].x);
}

TEST(LayeredLayout, ChainsAreStraightAndInputsStandAboveTheirReaders) {
  const std::vector<LayoutNode> nodes = {{.width = 60, .sinks = true},
                                         {.width = 80, .sinks = true},
                                         {.width = 60, .reads = {0}},
                                         {.width = 60, .reads = {2}},
                                         {.width = 60, .reads = {3, 1}}};
  const LayeredLayout layout = LayOut(nodes);
  CheckLayout(nodes, layout);
  EXPECT_EQ(layout.nodes[0].x, layout.nodes[2].x);
  EXPECT_EQ(layout.nodes[1].y, layout.nodes[3].y);
  EXPECT_EQ(layout.lines.size(), 4u);
}

// An edge past other nodes bends around them; edges of one source share their way.
TEST(LayeredLayout, LongEdgesPassBesideBoxes) {
  const std::vector<LayoutNode> nodes = {{.width = 60},
                                         {.width = 60, .reads = {0}},
                                         {.width = 60, .reads = {1}},
                                         {.width = 60, .reads = {2, 0}},
                                         {.width = 60, .reads = {3, 0}}};
  const LayeredLayout layout = LayOut(nodes);
  CheckLayout(nodes, layout);
  EXPECT_EQ(layout.lines.size(), 9u);  // 4 short edges, a shared way past 3 layers, 2 ends
  EXPECT_NE(layout.nodes[1].x, layout.nodes[0].x);
}

TEST(LayeredLayout, TakesNothingAndManyLayers) {
  EXPECT_TRUE(LayOut({}).nodes.empty());
  std::vector<LayoutNode> nodes = {{.width = 60}};
  for (int i = 1; i < 3000; ++i) nodes.push_back({.width = 60, .reads = {i - 1, 0}});
  EXPECT_LT(LayOut(nodes).lines.size(), 10000u);
}

constexpr std::string_view kHostile = "</script><script>alert(1)</script>";

std::string PageOf(const std::string& name) {
  absl::StatusOr<Graph> graph = ParseGraph(R"air(
    graph @main(%x: f32[2]) -> (%z) {
      %y: f32[2] = Neg(%x) loc("neg1 (Neg)")
      %z: f32[2] = Relu(%y)
    })air");
  EXPECT_TRUE(graph.ok()) << graph.status();
  NodeId first = graph->main_region().nodes[0];
  graph->nodes[first].locations[0].node = name;
  graph->Rename(graph->main_region().inputs[0], name);
  const Inspection inspection{.graph = *graph, .typed = *graph};
  Diagnostics diagnostics;
  diagnostics.Fault({}, name);
  return InspectionPage({.title = name, .inspection = inspection, .diagnostics = diagnostics});
}

TEST(InspectionPage, NamesCannotBecomeMarkup) {
  const std::string page = PageOf(std::string(kHostile));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  const std::string plain = PageOf("conv1");
  const auto count = [](const std::string& text, const std::string& word) {
    int found = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++found;
    return found;
  };
  for (const char* tag : {"<script", "</script>", "<"})
    EXPECT_EQ(count(page, tag), count(plain, tag));
}

TEST(InspectionPage, NeedsNothingFromOutside) {
  const std::string page = PageOf("conv1");
  for (const char* word : {"src=", "@import", "url(", "fetch(", "XMLHttp", "import("}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
  EXPECT_THAT(page, Not(HasSubstr(std::string(kPageDataMark))));
  // The name space of SVG is a name, no address to load from.
  EXPECT_EQ(page.find("http"), page.find("http://www.w3.org/2000/svg"));
  EXPECT_EQ(page.find("http"), page.rfind("http"));
}

TEST(InspectionPage, JsonOfAnyBytesIsAscii) {
  const Json json = {{"name",
                      "gr\xc3\xb6\xc3\x9f"
                      "e \xff <b> \xe2\x80\xa8"}};
  const std::string text = ScriptJson(json);
  EXPECT_EQ(text, "{\"name\":\"gr\\u00f6\\u00dfe \\ufffd \\u003cb> \\u2028\"}");
}

}  // namespace
}  // namespace aotc
