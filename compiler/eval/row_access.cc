// Loads and selects of the row machine.
#include <algorithm>

#include "compiler/eval/row_machine.h"

namespace aotc {
namespace {

// result[i] = cells[offset + i * step]
template <class T, class R>
void LoadLanes(const uint8_t* data, int64_t offset, int64_t step, R* result, int count) {
  if (step == 1) {
    for (int i = 0; i < count; ++i) result[i] = static_cast<R>(ReadCell<T>(data, offset + i));
  } else if (step == 0) {
    std::fill_n(result, count, static_cast<R>(ReadCell<T>(data, offset)));
  } else {
    for (int i = 0; i < count; ++i)
      result[i] = static_cast<R>(ReadCell<T>(data, offset + i * step));
  }
}

template <class T, class R>
void GatherLanes(const uint8_t* data, const int64_t* offsets, R* result, int count) {
  for (int i = 0; i < count; ++i) result[i] = static_cast<R>(ReadCell<T>(data, offsets[i]));
}

// Calls `f` with what the load reads, and a zero of the C++ type of its elements.
template <class F>
void WithElements(const TensorData& tensor, const RowLoad& load, F f) {
  const bool of_cells = load.bits == DType::kUndefined;
  const uint8_t* data = of_cells ? tensor.data : tensor.source.bytes().data();
  WithCell(of_cells ? tensor.cell : load.bits, [&](auto zero) { f(data, zero); });
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// The lanes of first..last-1 where value + lane * step >= 0, an interval.
void ClipLanes(int64_t value, int64_t step, int& first, int& last) {
  if (step == 0) {
    if (value < 0) last = first;
  } else if (step > 0) {
    int64_t lowest = -FloorDivide(value, step);  // ceil(-value / step)
    first = static_cast<int>(std::min<int64_t>(std::max<int64_t>(first, lowest), last));
  } else {
    int64_t highest = FloorDivide(value, -step);
    last = static_cast<int>(std::max<int64_t>(std::min<int64_t>(last, highest + 1), first));
  }
}

}  // namespace

bool RowMachine::InRange(TensorId tensor, int axis, int64_t index) {
  const TensorData& data = tensors_[static_cast<size_t>(tensor.index())];
  if (index >= 0 && index < data.dims[static_cast<size_t>(axis)]) return true;
  failure_ = {tensor, axis, index};
  return false;
}

bool RowMachine::Load(const RowInstruction& instruction, int first, int last) {
  const RowLoad& load = program_.loads[static_cast<size_t>(instruction.detail)];
  for (const CheckedIndex& check : load.checks) {
    int64_t value = check.form.At(vars_.data()), step = check.form.Coefficient(row_);
    if (!InRange(load.tensor, check.axis, value + first * step)) return false;
    if (!InRange(load.tensor, check.axis, value + (last - 1) * step)) return false;
  }
  Reg result = instruction.result;
  if (!load.indirect.empty()) return Gather(load, result, first, last);
  const TensorData& data = tensors_[static_cast<size_t>(load.tensor.index())];
  int64_t step = load.offset.Coefficient(row_);
  int64_t offset = load.offset.At(vars_.data()) + first * step;
  int count = last - first;
  WithElements(data, load, [&](const uint8_t* elements, auto zero) {
    using T = decltype(zero);
    if (result.is_float) {
      LoadLanes<T>(elements, offset, step, Floats(result) + first, count);
    } else {
      LoadLanes<T>(elements, offset, step, Ints(result) + first, count);
    }
  });
  return true;
}

bool RowMachine::Gather(const RowLoad& load, Reg result, int first, int last) {
  const TensorData& data = tensors_[static_cast<size_t>(load.tensor.index())];
  int64_t step = load.offset.Coefficient(row_);
  int64_t offset = load.offset.At(vars_.data()) + first * step;
  int count = last - first;
  int64_t offsets[kRowLanes];
  for (int i = 0; i < count; ++i) offsets[i] = offset + i * step;
  for (const IndirectIndex& indirect : load.indirect) {
    RowOperand<int64_t> index = IntOperand(indirect.index, first);
    int64_t extent = data.dims[static_cast<size_t>(indirect.axis)];
    int64_t stride = data.strides[static_cast<size_t>(indirect.axis)];
    for (int i = 0; i < count; ++i) {
      int64_t value = index.lanes[index.uniform ? 0 : i];
      if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(extent)) {
        return InRange(load.tensor, indirect.axis, value);
      }
      offsets[i] += value * stride;
    }
  }
  WithElements(data, load, [&](const uint8_t* elements, auto zero) {
    using T = decltype(zero);
    if (result.is_float) {
      GatherLanes<T>(elements, offsets, Floats(result) + first, count);
    } else {
      GatherLanes<T>(elements, offsets, Ints(result) + first, count);
    }
  });
  return true;
}

bool RowMachine::Select(const RowInstruction& instruction, int first, int last) {
  const RowSelect& select = program_.selects[static_cast<size_t>(instruction.detail)];
  if (!select.guards.empty()) return SelectByGuards(select, first, last);
  if (!select.condition.uniform) return SelectByLane(select, instruction.result, first, last);
  bool chosen = Ints(select.condition)[0] != 0;
  return Run(chosen ? select.if_true : select.if_false, first, last);
}

// All guards are linear in the lane: they hold in an interval of lanes.
bool RowMachine::SelectByGuards(const RowSelect& select, int first, int last) {
  int begin = first, end = last;
  for (const LinearForm& guard : select.guards) {
    ClipLanes(guard.At(vars_.data()), guard.Coefficient(row_), begin, end);
  }
  if (begin >= end) return Run(select.if_false, first, last);
  if (!Run(select.if_true, begin, end)) return false;
  if (first < begin && !Run(select.if_false, first, begin)) return false;
  return end == last || Run(select.if_false, end, last);
}

bool RowMachine::SelectByLane(const RowSelect& select, Reg result, int first, int last) {
  const int64_t* condition = Ints(select.condition);
  auto is_zero = [](int64_t value) { return value == 0; };
  if (std::none_of(condition + first, condition + last, is_zero)) {
    return Run(select.if_true, first, last);
  }
  if (std::all_of(condition + first, condition + last, is_zero)) {
    return Run(select.if_false, first, last);
  }
  return SelectBlended(select, result, first, last) || SelectInRuns(select, first, last);
}

// Both sides over all lanes: right where no load of a lane that was not chosen is out of range.
bool RowMachine::SelectBlended(const RowSelect& select, Reg result, int first, int last) {
  if (!Run(select.if_false, first, last)) return false;
  const int64_t* condition = Ints(select.condition);
  if (result.is_float) {
    double* lanes = Floats(result);
    double kept[kRowLanes];
    std::copy(lanes + first, lanes + last, kept + first);
    if (!Run(select.if_true, first, last)) return false;
    for (int i = first; i < last; ++i) lanes[i] = condition[i] != 0 ? lanes[i] : kept[i];
  } else {
    int64_t* lanes = Ints(result);
    int64_t kept[kRowLanes];
    std::copy(lanes + first, lanes + last, kept + first);
    if (!Run(select.if_true, first, last)) return false;
    for (int i = first; i < last; ++i) lanes[i] = condition[i] != 0 ? lanes[i] : kept[i];
  }
  return true;
}

bool RowMachine::SelectInRuns(const RowSelect& select, int first, int last) {
  const int64_t* condition = Ints(select.condition);
  for (int begin = first; begin < last;) {
    bool chosen = condition[begin] != 0;
    int end = begin + 1;
    while (end < last && (condition[end] != 0) == chosen) ++end;
    if (!Run(chosen ? select.if_true : select.if_false, begin, end)) return false;
    begin = end;
  }
  return true;
}

}  // namespace aotc
