#include "compiler/ir/program_control.h"

#include "absl/strings/str_cat.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <class... Parts>
absl::Status Wrong(size_t step, const Parts&... parts) {
  return absl::InternalError(absl::StrCat("program: step ", step, ": ", parts...));
}

absl::Status CheckArguments(const Program& program, size_t index) {
  const Step& step = program.steps[index];
  const size_t most = OpensBlock(step) ? 1 : 0;
  const size_t least = step.kind == StepKind::kIf || !step.trip.valid() ? most : 0;
  if (step.args.size() < least || step.args.size() > most) {
    return Wrong(index, step.args.size(), " arguments of a step of control");
  }
  for (BufferId id : step.args) {
    const Buffer& flag = program.buffers[id];
    // A view of a scalar lends it a shape of ones, where the view is what keeps the memory.
    const bool is_flag = flag.dtype == DType::kBool && ElementCount(flag.shape).IsInt(1);
    if (!is_flag) return Wrong(index, "%", flag.name, " is not one bool");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsControl(const Step& step) {
  switch (step.kind) {
    case StepKind::kIf:
    case StepKind::kElse:
    case StepKind::kLoop:
    case StepKind::kEnd: return true;
    case StepKind::kLaunch:
    case StepKind::kCopy:
    case StepKind::kCheck:
    case StepKind::kDecode:
    case StepKind::kSizes:
    case StepKind::kSetSizes: break;
  }
  return false;
}

bool OpensBlock(const Step& step) {
  return step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
}

std::vector<Construct> Constructs(const Program& program) {
  std::vector<Construct> done, open;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const int index = static_cast<int>(i);
    if (OpensBlock(step)) {
      open.push_back({.is_loop = step.kind == StepKind::kLoop, .begin = index});
    } else if (step.kind == StepKind::kElse) {
      open.back().middle = index;
    } else if (step.kind == StepKind::kEnd) {
      open.back().end = index;
      done.push_back(open.back());
      open.pop_back();
    }
  }
  return done;
}

absl::Status CheckControl(const Program& program) {
  std::vector<StepKind> open;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!IsControl(step)) continue;
    AOTC_RETURN_IF_ERROR(CheckArguments(program, i));
    if (OpensBlock(step)) {
      open.push_back(step.kind);
    } else if (step.kind == StepKind::kElse) {
      if (open.empty() || open.back() != StepKind::kIf) return Wrong(i, "an else without its if");
      open.back() = StepKind::kElse;
    } else {
      if (open.empty()) return Wrong(i, "an end of nothing");
      open.pop_back();
    }
  }
  return open.empty() ? absl::OkStatus() : Wrong(program.steps.size(), "a construct has no end");
}

absl::Status CheckDecode(const Program& program, size_t index) {
  const Step& step = program.steps[index];
  if (step.args.size() != 2) return Wrong(index, "to decode has two arguments");
  const Buffer& bytes = program.buffers[step.args[0]];
  const Buffer& to = program.buffers[step.args[1]];
  const bool is_size = to.dtype == DType::kI64 && to.shape.size() == 1 && to.shape[0].IsInt(2);
  const bool is_image = to.dtype == DType::kU8 && to.shape.size() == 3;
  const bool reads_bytes = bytes.dtype == DType::kU8 && bytes.shape.size() == 1;
  bool plain = to.kind != BufferKind::kHost;
  for (const Buffer* buffer : {&bytes, &to}) {
    plain = plain && buffer->layout.IsPlain() && buffer->start.empty();
  }
  if (plain && reads_bytes && (is_size || is_image)) return absl::OkStatus();
  return Wrong(index, "to decode takes bytes, and gives a size or an image");
}

Bounds BoundsOf(const Program& program) {
  Bounds bounds = BoundsOf(program.symbols);
  for (const Step& step : program.steps) {
    if (step.kind != StepKind::kLoop) continue;
    const bool counts = step.trip.valid();
    const Expr most = counts ? Simplify(Max(step.trip, 1), bounds) : Expr(INT64_MAX);
    if (!step.counter.empty()) bounds.Add(step.counter, 0, counts ? most - 1 : most);
    if (!step.rounds.empty()) bounds.Add(step.rounds, 0, most);
  }
  return bounds;
}

}  // namespace aotc
