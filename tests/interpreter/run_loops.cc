#include "tests/interpreter/run_loops.h"

#include <algorithm>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/interpreter/lane_ops.h"

namespace aotc {

absl::StatusOr<LoopRunner> LoopRunner::Make(const LoopFunction& function, TileTable tiles) {
  LoopRunner runner(function, tiles);
  runner.task_slot_ = runner.exprs_.SlotOf("task");
  runner.thread_slot_ = runner.exprs_.SlotOf("thread");
  runner.lane_slot_ = runner.exprs_.SlotOf("lane");
  for (const Symbol& symbol : function.symbols) runner.exprs_.SlotOf(symbol.var);
  runner.tasks_ = runner.exprs_.Add(function.tasks);
  AOTC_ASSIGN_OR_RETURN(runner.code_, runner.Translate(function.body));
  return runner;
}

absl::StatusOr<LoopRunner::Code> LoopRunner::Translate(const Stmt& stmt) {
  if (stmt.kind() == StmtKind::kBarrier) return absl::UnimplementedError("has barriers");
  Code code{.kind = stmt.kind(), .loop = stmt->loop};
  const auto add = [&](const Expr& e) { return e.valid() ? exprs_.Add(e) : -1; };
  code.min = add(stmt->min);
  code.extent = add(stmt->extent);
  code.value = add(stmt->value);
  code.place = add(stmt->index);
  if (stmt.kind() == StmtKind::kStore) {
    code.index = static_cast<size_t>(stmt->buffer.index());
  } else if (stmt.kind() == StmtKind::kTile) {
    AOTC_ASSIGN_OR_RETURN(code.index, AddTile(*stmt->tile));
  } else {
    code.index = exprs_.SlotOf(stmt->name);
  }
  AOTC_ASSIGN_OR_RETURN(code.body, TranslateAll(stmt->body));
  AOTC_ASSIGN_OR_RETURN(code.else_body, TranslateAll(stmt->else_body));
  return code;
}

absl::StatusOr<std::vector<LoopRunner::Code>> LoopRunner::TranslateAll(
    const std::vector<Stmt>& body) {
  std::vector<Code> codes;
  for (const Stmt& stmt : body) {
    AOTC_ASSIGN_OR_RETURN(Code code, Translate(stmt));
    codes.push_back(std::move(code));
  }
  return codes;
}

// The number of the call.
absl::StatusOr<size_t> LoopRunner::AddTile(const TileCall& call) {
  const TileRow* row = FindTile(table_, call.tile);
  if (row == nullptr) return absl::UnimplementedError(StrCat("calls the tile ", call.tile));
  absl::Status status;
  const auto translate = [&](const std::vector<Stmt>& body) {
    absl::StatusOr<std::vector<Code>> codes = TranslateAll(body);
    if (codes.ok()) {
      methods_.push_back(*std::move(codes));
    } else {
      status = codes.status();
    }
    return methods_.size() - 1;
  };
  AOTC_ASSIGN_OR_RETURN(TileRunner tile, TileRunner::Make(*row, call, exprs_, translate));
  AOTC_RETURN_IF_ERROR(status);
  tiles_.push_back(std::move(tile));
  return tiles_.size() - 1;
}

absl::Status LoopRunner::Run(const std::vector<Memory>& params, const SymbolValues& symbols) const {
  std::vector<Memory> buffers(function_->buffers.size());
  std::vector<std::vector<uint8_t>> own;  // scratch and locals, each by itself
  for (TensorId id : function_->buffers.ids()) {
    const LoopBuffer& buffer = function_->buffers[id];
    if (buffer.place == BufferPlace::kParam) continue;
    own.emplace_back(static_cast<size_t>(buffer.elements * ByteWidth(buffer.dtype)), 0xFF);
    buffers[static_cast<size_t>(id.index())] = {buffer.name, buffer.dtype, own.back().data(),
                                                buffer.elements};
  }
  for (size_t i = 0; i < params.size(); ++i) {
    buffers[static_cast<size_t>(function_->params[i].index())] = params[i];
  }
  ExprCode exprs = exprs_;
  Frame frame(exprs.slots(), std::move(buffers));
  for (const Symbol& symbol : function_->symbols) {
    frame.slot(exprs.SlotOf(symbol.var))[0].i = symbols.at(symbol.var);
  }
  const int64_t tasks = exprs_.Integer(tasks_, frame);
  for (int64_t task = 0; task < tasks && !frame.failed(); ++task) RunTask(task, frame);
  if (!frame.failed()) return absl::OkStatus();
  return absl::InternalError(StrCat(function_->name, ": ", frame.error()));
}

void LoopRunner::RunTask(int64_t task, Frame& frame) const {
  const int64_t group = function_->group > 0 ? function_->group : function_->threads;
  frame.slot(task_slot_)[0].i = task;
  for (int64_t thread = 0; thread < function_->threads && !frame.failed(); ++thread) {
    frame.slot(thread_slot_)[0].i = thread;
    frame.slot(lane_slot_)[0].i = thread % group;
    Execute(code_, frame);
  }
}

void LoopRunner::Execute(const Code& code, Frame& frame) const {
  if (frame.failed()) return;
  switch (code.kind) {
    case StmtKind::kBlock:
      for (const Code& inner : code.body) Execute(inner, frame);
      return;
    case StmtKind::kFor: return ExecuteFor(code, frame);
    case StmtKind::kIf:
      for (const Code& inner :
           exprs_.Integer(code.value, frame) != 0 ? code.body : code.else_body) {
        Execute(inner, frame);
      }
      return;
    case StmtKind::kLet:
    case StmtKind::kDeclare:
    case StmtKind::kAssign: {
      LaneValues value;
      exprs_.Evaluate(code.value, frame, value);
      std::copy_n(value.begin(), exprs_.LanesOf(code.value), frame.slot(code.index).begin());
      return;
    }
    case StmtKind::kStore: return ExecuteStore(code, frame);
    case StmtKind::kTile:
      return tiles_[code.index].Run(exprs_, frame, [&](size_t method) {
        for (const Code& inner : methods_[method]) Execute(inner, frame);
      });
    case StmtKind::kBarrier:
    case StmtKind::kComment: return;
  }
}

// Loops that are dealt out give a thread its first iteration and the distance to the next.
void LoopRunner::ExecuteFor(const Code& code, Frame& frame) const {
  const int64_t min = exprs_.Integer(code.min, frame);
  const int64_t end = min + exprs_.Integer(code.extent, frame);
  int64_t first = min, step = 1;
  if (code.loop == LoopKind::kThread) {
    const bool in_groups = function_->group > 0 && function_->group < function_->threads;
    first += frame.slot(in_groups ? lane_slot_ : thread_slot_)[0].i;
    step = in_groups ? function_->group : function_->threads;
  }
  if (code.loop == LoopKind::kGrid) {
    first += frame.slot(task_slot_)[0].i * function_->threads + frame.slot(thread_slot_)[0].i;
    step = exprs_.Integer(tasks_, frame) * function_->threads;
  }
  for (int64_t i = first; i < end && !frame.failed(); i += step) {
    frame.slot(code.index)[0].i = i;
    for (const Code& inner : code.body) Execute(inner, frame);
  }
}

void LoopRunner::ExecuteStore(const Code& code, Frame& frame) const {
  LaneValues value;
  exprs_.Evaluate(code.value, frame, value);
  const int64_t first = exprs_.Integer(code.place, frame);
  const int64_t lanes = exprs_.LanesOf(code.value);
  const int64_t count =
      code.extent < 0 ? lanes : std::min(lanes, exprs_.Integer(code.extent, frame));
  const Memory& memory = frame.buffer(code.index);
  for (int64_t l = 0; l < count; ++l) {
    if (first + l < 0 || first + l >= memory.elements) {
      return frame.Fail(
          StrCat("element ", first + l, " of ", memory.name, " is written, of ", memory.elements));
    }
    Lane lane = value[static_cast<size_t>(l)];
    if (exprs_.DTypeOf(code.value) != memory.dtype) {
      lane = CastLane(exprs_.DTypeOf(code.value), memory.dtype, lane);
    }
    StoreLane(memory, first + l, lane);
  }
}

}  // namespace aotc
