// Places the nodes of a directed acyclic graph for drawing, in layers from top to bottom: the
// method of Sugiyama, Tagawa and Toda ("Methods for visual understanding of hierarchical system
// structures", 1981). Layers by the longest path, order within a layer by barycentres, a dummy node
// wherever an edge crosses a layer.
//
//   LayeredLayout layout = LayOut({{.width = 60}, {.width = 80, .reads = {0}}});
//   layout.nodes[1].y   // below nodes[0]
#ifndef AOTC_COMPILER_REPORT_LAYERED_LAYOUT_H_
#define AOTC_COMPILER_REPORT_LAYERED_LAYOUT_H_

#include <vector>

namespace aotc {

struct LayoutNode {
  double width = 0;
  std::vector<int> reads = {};  // nodes before this one, from which an edge comes
  bool sinks = false;           // stands right above its first reader: an input
};

struct LayoutPoint {
  double x = 0;
  double y = 0;
};

// A piece of an edge between two neighbouring layers; edges of one source share their pieces.
struct LayoutLine {
  LayoutPoint from = {};
  LayoutPoint to = {};
};

struct LayeredLayout {
  std::vector<LayoutPoint> nodes = {};  // centres
  std::vector<LayoutLine> lines = {};
  double width = 0;
  double height = 0;
};

inline constexpr double kLayoutNodeHeight = 34;

LayeredLayout LayOut(const std::vector<LayoutNode>& nodes);

}  // namespace aotc

#endif  // AOTC_COMPILER_REPORT_LAYERED_LAYOUT_H_
