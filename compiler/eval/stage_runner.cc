#include "compiler/eval/stage_runner.h"

#include <algorithm>

#include "compiler/ir/small_float.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// Where lanes go: cells `step` apart.
struct LaneCells {
  uint8_t* data;
  int64_t offset;
  int64_t step;
  int count;
};

template <class T, class Lane, class F>
void StoreLanes(const LaneCells& to, RowOperand<Lane> lanes, F convert) {
  if (to.step == 1 && !lanes.uniform) {
    for (int i = 0; i < to.count; ++i)
      WriteCell<T>(to.data, to.offset + i, convert(lanes.lanes[i]));
    return;
  }
  for (int i = 0; i < to.count; ++i) {
    WriteCell<T>(to.data, to.offset + i * to.step, convert(lanes.lanes[lanes.uniform ? 0 : i]));
  }
}

}  // namespace

absl::Status StageRunner::Run() {
  if (plan_.empty_output) return absl::OkStatus();
  RowCompiler compiler(plan_.vars, plan_.row, tensors_);
  AOTC_RETURN_IF_ERROR(Compile(compiler));
  program_ = compiler.Take();
  machine_ = std::make_unique<RowMachine>(program_, tensors_, plan_.row);
  if (plan_.empty_reduction && stage_.IsReduction()) {
    machine_->Run(program_.levels[0], 0, 1);
    Begin();
    Store();
    return absl::OkStatus();
  }
  return RunLevel(0) ? absl::OkStatus() : machine_->error();
}

bool StageRunner::RunLevel(int level) {
  if (!machine_->Run(program_.levels[static_cast<size_t>(level)], 0, lanes_)) return false;
  if (level == plan_.reduce_begin) {
    if (stage_.IsReduction()) {
      Begin();
      if (!RunLoop(level)) return false;
    }
    Store();
    return true;
  }
  return RunLoop(level);
}

// The loop over variable `level`, or what is inside the innermost one.
bool StageRunner::RunLoop(int level) {
  if (level == static_cast<int>(plan_.vars.size())) return Accumulate();
  int64_t extent = plan_.vars[static_cast<size_t>(level)].extent;
  int64_t& value = machine_->vars()[level];
  if (level == plan_.row) {
    for (value = 0; value < extent; value += kRowLanes) {
      lanes_ = static_cast<int>(std::min<int64_t>(kRowLanes, extent - value));
      if (!RunLevel(level + 1)) return false;
    }
    lanes_ = 1;
    return true;
  }
  for (value = 0; value < extent; ++value) {
    if (!RunLevel(level + 1)) return false;
  }
  return true;
}

void StageRunner::Begin() {
  int lanes = plan_.RowIsReduced() ? 1 : lanes_;
  for (Component& component : components_) {
    machine_->Copy(component.identity, component.accumulator, 0, lanes);
  }
}

bool StageRunner::Accumulate() {
  return plan_.RowIsReduced() ? FoldRow() : machine_->Run(combine_, 0, lanes_);
}

// Combines neighbours until one value is left, so that the order of the operands is kept.
bool StageRunner::FoldRow() {
  if (sums_floats_ && !components_[0].body.uniform) {
    const double* lanes = machine_->Floats(components_[0].body);
    machine_->Floats(components_[0].accumulator)[0] += SumOfLanes(lanes, lanes_);
    return true;
  }
  for (Component& component : components_) machine_->Copy(component.body, component.row, 0, lanes_);
  for (int count = lanes_; count > 1; count = (count + 1) / 2) {
    if (!FoldStep(count)) return false;
  }
  for (Component& component : components_) {
    machine_->Copy(component.accumulator, component.earlier, 0, 1);
    machine_->Copy(component.row, component.later, 0, 1);
  }
  if (!machine_->Run(combine_, 0, 1)) return false;
  for (Component& component : components_) {
    machine_->Copy(component.combined, component.accumulator, 0, 1);
  }
  return true;
}

// row[i] = combine(row[2i], row[2i + 1]); a last one without a partner moves down.
bool StageRunner::FoldStep(int count) {
  int pairs = count / 2;
  auto split = [pairs](const auto* row, auto* earlier, auto* later) {
    for (int i = 0; i < pairs; ++i) {
      earlier[i] = row[2 * i];
      later[i] = row[2 * i + 1];
    }
  };
  for (Component& c : components_) {
    if (c.row.is_float) {
      split(machine_->Floats(c.row), machine_->Floats(c.earlier), machine_->Floats(c.later));
    } else {
      split(machine_->Ints(c.row), machine_->Ints(c.earlier), machine_->Ints(c.later));
    }
  }
  if (!machine_->Run(combine_, 0, pairs)) return false;
  for (Component& c : components_) {
    machine_->Copy(c.combined, c.row, 0, pairs);
    if (count % 2 == 0) continue;
    if (c.row.is_float) {
      machine_->Floats(c.row)[pairs] = machine_->Floats(c.row)[count - 1];
    } else {
      machine_->Ints(c.row)[pairs] = machine_->Ints(c.row)[count - 1];
    }
  }
  return true;
}

void StageRunner::Store() {
  for (size_t k = 0; k < components_.size(); ++k) {
    const Component& component = components_[k];
    bool stored = std::all_of(component.zero_vars.begin(), component.zero_vars.end(),
                              [&](int position) { return machine_->vars()[position] == 0; });
    TensorData& tensor = tensors_[static_cast<size_t>(stage_.results[k].tensor.index())];
    if (stored) StoreComponent(component, tensor);
  }
}

void StageRunner::StoreComponent(const Component& component, TensorData& tensor) {
  const int64_t step = component.store.Coefficient(plan_.row);
  const LaneCells to = {.data = tensor.cells.data(),
                        .offset = component.store.At(machine_->vars()),
                        .step = step,
                        .count = step == 0 ? 1 : lanes_};
  const DType dtype = tensor.dtype;
  WithCell(tensor.cell, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_floating_point_v<T>) {
      StoreLanes<T>(to, machine_->IntOperand(component.accumulator, 0),
                    [](int64_t x) { return static_cast<T>(x); });
    } else if (SmallFloatOf(dtype) == nullptr) {
      StoreLanes<T>(to, machine_->FloatOperand(component.accumulator, 0),
                    [](double x) { return static_cast<T>(x); });
    } else {
      StoreLanes<T>(to, machine_->FloatOperand(component.accumulator, 0),
                    [dtype](double x) { return static_cast<T>(RoundToDType(dtype, x)); });
    }
  });
}

}  // namespace aotc
