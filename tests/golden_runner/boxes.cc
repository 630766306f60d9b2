#include "tests/golden_runner/boxes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

// Calls `copy` with the number of each element of a box and of the whole around it.
void ForElements(const std::vector<int64_t>& dims, const LogicalBox& box,
                 const std::vector<int64_t>& whole,
                 const std::function<void(int64_t, int64_t)>& copy) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t e = 0; e < count; ++e) {
    int64_t rest = e, stride = 1, at = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      at += (box.start[d] + rest % dims[d] * box.step[d]) * stride;
      rest /= dims[d];
      stride *= whole[d];
    }
    copy(e, at);
  }
}

}  // namespace

LogicalBox LogicalBoxOf(const Graph& graph, const ValueView& box, const SymbolValues& symbols) {
  const Value& base = graph.values[box.base];
  const size_t rank = base.type.dims.size();
  LogicalBox logical;
  logical.start.assign(rank, 0);
  logical.step.assign(rank, 1);
  for (size_t i = 0; i < box.start.size(); ++i) {
    StorageAxis axis{.axis = static_cast<int>(i)};
    if (!base.layout.axes.empty()) axis = base.layout.axes[i];
    if (axis.modulus > 0) continue;
    logical.start[axis.axis] += EvaluateInt(box.start[i], symbols).value_or(0) * axis.divisor;
    if (!box.step.empty()) logical.step[axis.axis] = box.step[i];
  }
  return logical;
}

void PutBox(const Constant& part, const LogicalBox& box, Constant& whole) {
  const Constant dense = part.Expanded();
  std::vector<uint8_t> bytes(whole.Expanded().bytes().begin(), whole.Expanded().bytes().end());
  const int64_t width = ByteWidth(whole.dtype());
  ForElements(part.dims(), box, whole.dims(), [&](int64_t from, int64_t to) {
    std::copy_n(dense.bytes().begin() + from * width, width, bytes.begin() + to * width);
  });
  whole = Constant::Dense(whole.dtype(), whole.dims(), std::move(bytes));
}

Constant TakeBox(const Constant& whole, const LogicalBox& box, const std::vector<int64_t>& dims) {
  const Constant dense = whole.Expanded();
  const int64_t width = ByteWidth(whole.dtype());
  std::vector<uint8_t> bytes;
  ForElements(dims, box, whole.dims(), [&](int64_t, int64_t from) {
    const auto element = dense.bytes().begin() + from * width;
    bytes.insert(bytes.end(), element, element + width);
  });
  return Constant::Dense(whole.dtype(), dims, std::move(bytes));
}

}  // namespace aotc
