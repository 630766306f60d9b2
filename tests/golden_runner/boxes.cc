#include "tests/golden_runner/boxes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

// Calls `copy` with the number of each element of a box and of the whole around it.
void ForElements(const std::vector<int64_t>& dims, const std::vector<int64_t>& start,
                 const std::vector<int64_t>& whole,
                 const std::function<void(int64_t, int64_t)>& copy) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t e = 0; e < count; ++e) {
    int64_t rest = e, stride = 1, at = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      at += (start[d] + rest % dims[d]) * stride;
      rest /= dims[d];
      stride *= whole[d];
    }
    copy(e, at);
  }
}

}  // namespace

std::vector<int64_t> LogicalStart(const Graph& graph, const ValueView& box,
                                  const SymbolValues& symbols) {
  const Value& base = graph.values[box.base];
  std::vector<int64_t> start(base.type.dims.size(), 0);
  for (size_t i = 0; i < box.start.size(); ++i) {
    StorageAxis axis{.axis = static_cast<int>(i)};
    if (!base.layout.axes.empty()) axis = base.layout.axes[i];
    if (axis.modulus > 0) continue;
    start[axis.axis] += EvaluateInt(box.start[i], symbols).value_or(0) * axis.divisor;
  }
  return start;
}

void PutBox(const Constant& part, const std::vector<int64_t>& start, Constant& whole) {
  const Constant dense = part.Expanded();
  std::vector<uint8_t> bytes(whole.Expanded().bytes().begin(), whole.Expanded().bytes().end());
  const int64_t width = ByteWidth(whole.dtype());
  ForElements(part.dims(), start, whole.dims(), [&](int64_t from, int64_t to) {
    std::copy_n(dense.bytes().begin() + from * width, width, bytes.begin() + to * width);
  });
  whole = Constant::Dense(whole.dtype(), whole.dims(), std::move(bytes));
}

Constant TakeBox(const Constant& whole, const std::vector<int64_t>& start,
                 const std::vector<int64_t>& dims) {
  const Constant dense = whole.Expanded();
  const int64_t width = ByteWidth(whole.dtype());
  std::vector<uint8_t> bytes;
  ForElements(dims, start, whole.dims(), [&](int64_t, int64_t from) {
    const auto element = dense.bytes().begin() + from * width;
    bytes.insert(bytes.end(), element, element + width);
  });
  return Constant::Dense(whole.dtype(), dims, std::move(bytes));
}

}  // namespace aotc
