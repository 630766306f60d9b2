// Sizes that a run works out of what it is given, what has to hold of them, and what the caller is
// told of either.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/emit/c_expr.h"
#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Spells expressions before their checks: sums and products that may pass 64 bits are functions
// that note it.
class SizeSpeller {
 public:
  explicit SizeSpeller(const EmitContext& context)
      : context_(context), bounds_(RangesOf(context.program)) {}

  std::string Spell(const Expr& e) {
    const Expr guarded = Guard(Simplify(e, bounds_));
    return HostExpr(context_, guarded, bounds_, calls_);
  }
  // Whether what was spelled last may pass 64 bits.
  bool TakeGuarded() { return std::exchange(guarded_, false); }

 private:
  Expr Guard(const Expr& e) {
    const auto guard = [&](const Expr& node) { return GuardNode(node); };
    return Transform(e, guard);
  }

  // `node` has guarded operands.
  Expr GuardNode(const Expr& node) {
    if (!MayOverflow(node, bounds_)) return node;
    const std::string_view function = node.op() == ExprOp::kAdd   ? "aotc_plus"
                                      : node.op() == ExprOp::kSub ? "aotc_minus"
                                                                  : "aotc_times";
    const std::string a = HostExpr(context_, node.arg(0), bounds_, calls_);
    const std::string b = HostExpr(context_, node.arg(1), bounds_, calls_);
    guarded_ = true;
    const std::string call = StrCat(function, "(", a, ", ", b, ", &too_large)");
    calls_.insert(call);
    return Var(call);
  }

  const EmitContext& context_;
  const Bounds bounds_;
  std::set<std::string> calls_;  // names of variables that stand for calls
  bool guarded_ = false;
};

std::string LearnFunction(int step) { return StrCat("learn_sizes_", step); }

class SizesWriter {
 public:
  SizesWriter(const EmitContext& context, CodeWriter& w)
      : context_(context),
        m_(context.interface),
        known_(context.program),
        w_(w),
        speller_(context) {}

  void WorkOut() {
    w_.Line("// Sizes that follow from others, and what has to hold of all.");
    const auto block = w_.Block("aotc_status work_out(symbols *sizes) {", "}\n");
    Body(kBeforeAnyStep);
  }

  // Of a step of the program that defines sizes.
  void Learn(int step) {
    const std::vector<BufferId>& args = context_.program.steps[step].args;
    const std::string given =
        args.empty() ? ""
                     : StrCat("const ", CInterfaceType(context_.program.buffers[args[0]].dtype),
                              " *given, ");
    const bool has_outputs = std::ranges::any_of(
        m_.outputs, [&](const TensorPort& port) { return IsKnownBehind(port, step); });
    w_.Line(StrCat("// Sizes that are known behind step ", step, ", what follows from them, and",
                   " what has to hold of all."));
    const auto block =
        w_.Block(StrCat("aotc_status ", LearnFunction(step), "(symbols *sizes, ", given, "const ",
                        m_.prefix, "_outputs *", has_outputs ? "out" : "", ") {"),
                 "}\n");
    for (const ElementPort& port : m_.computed) {
      if (port.step == step)
        EmitReadElement(port, StrCat("given[", port.element, "]"), "sizes->", w_);
    }
    Body(step);
  }

 private:
  bool IsKnownBehind(const TensorPort& port, int step) const {
    return port.is_late && known_.StepOf(context_.program.buffers[port.id].shape) == step;
  }

  // What is known behind a step.
  void Body(int step) {
    CodeWriter body;
    std::swap(body, w_);
    any_guarded_ = false;
    for (const SizeStep& size : m_.sizes) {
      if (size.step == step) Step(size);
    }
    for (const TensorPort& port : m_.outputs) {
      if (IsKnownBehind(port, step)) CheckRoom(port);
    }
    std::swap(body, w_);
    w_.Line("const symbols &dims = *sizes;");
    w_.Line("(void)dims;");
    if (any_guarded_) w_.Line("bool too_large = false;");
    w_.Emit("$body$", {{"body", body.text()}});
    w_.Line("return AOTC_OK;");
  }

  // Of an output for whose greatest size the caller need not have room.
  void CheckRoom(const TensorPort& port) {
    const std::string room = StrCat("out->", port.capacity_member);
    w_.Line(StrCat("if (", room, " != 0 && (size_t)(", ActualBytes(context_, port.id), ") > ", room,
                   ") return AOTC_ERROR_CAPACITY;"));
  }

  void Step(const SizeStep& step) {
    if (step.holds.valid()) {
      const std::string wrong = speller_.Spell(Not(step.holds));
      // What it computes comes first: that sets the flag.
      Fail(Guarded() ? StrCat("(", wrong, ") || too_large") : wrong, step.check);
      return;
    }
    const Symbol& symbol = step.symbol;
    const std::string name = StrCat("sizes->", symbol.var);
    bool guarded = false;
    if (symbol.value.valid()) {
      w_.Line(StrCat(name, " = ", speller_.Spell(symbol.value), ";"));
      guarded = Guarded();
    }
    if (step.check < 0) return;
    Fail(StrCat(guarded ? "too_large || " : "", name, " < ", symbol.min, " || ", name, " > ",
                symbol.max),
         step.check);
  }

  // Whether what was spelled last has to be looked at as well.
  bool Guarded() {
    const bool guarded = speller_.TakeGuarded();
    any_guarded_ |= guarded;
    return guarded;
  }

  void Fail(const std::string& wrong, int check) {
    w_.Line(StrCat("if (", wrong, ") return aotc_failed(AOTC_ERROR_DIM, ", check, ");"));
  }

  const EmitContext& context_;
  const ModelInterface& m_;
  const SizeSteps known_;
  CodeWriter& w_;
  SizeSpeller speller_;
  bool any_guarded_ = false;
};

}  // namespace

void EmitReadElement(const ElementPort& port, std::string_view element, std::string_view into,
                     CodeWriter& w) {
  const Symbol& symbol = port.symbol;
  const std::string value = StrCat(into, symbol.var);
  w.Line(StrCat(value, " = ", element, ";"));
  if (symbol.clamps) {
    w.Line(StrCat("if (", value, " < ", symbol.min, ") ", value, " = ", symbol.min, ";"));
    w.Line(StrCat("if (", value, " > ", symbol.max, ") ", value, " = ", symbol.max, ";"));
    return;
  }
  std::string wrong =
      StrCat(value, " < ", symbol.min * port.scale, " || ", value, " > ", symbol.max * port.scale);
  if (port.scale != 1) StrAppend(&wrong, " || ", value, " % ", port.scale, " != 0");
  w.Line(StrCat("if (", wrong, ") return aotc_failed(AOTC_ERROR_VALUE, ", port.check, ");"));
  if (port.scale != 1) w.Line(StrCat(value, " /= ", port.scale, ";"));
}

bool WorksOutSizes(const ModelInterface& m) {
  return std::ranges::count(m.sizes, kBeforeAnyStep, &SizeStep::step) > 0;
}

void EmitWorkOut(const EmitContext& context, CodeWriter& w) {
  if (WorksOutSizes(context.interface)) SizesWriter(context, w).WorkOut();
}

void EmitLearnSizes(const EmitContext& context, CodeWriter& w) {
  const std::vector<Step>& steps = context.program.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == StepKind::kSizes) SizesWriter(context, w).Learn(static_cast<int>(i));
  }
}

std::string CallLearn(const EmitContext& context, size_t step, std::string_view sizes,
                      std::string_view outputs) {
  const std::vector<BufferId>& args = context.program.steps[step].args;
  const std::string given =
      args.empty() ? "" : StrCat(BufferPointer(context, args[0], false), ", ");
  return StrCat(LearnFunction(static_cast<int>(step)), "(", sizes, ", ", given, outputs, ")");
}

void EmitSetSizes(const EmitContext& context, const Step& step, std::string_view sizes,
                  CodeWriter& w) {
  const Bounds bounds = BoundsOf(context.program.symbols);
  const auto value = [&](const Expr& e) { return HostExpr(context, Simplify(e, bounds), bounds); };
  if (step.elements.size() == 1) {
    w.Line(StrCat(sizes, step.elements[0]->name, " = ", value(step.values[0]), ";"));
    return;
  }
  const auto block = w.Block("{");
  w.Line(StrCat("const int64_t next[] = {", StrJoin(step.values, ", ", value), "};"));
  for (size_t e = 0; e < step.elements.size(); ++e) {
    w.Line(StrCat(sizes, step.elements[e]->name, " = next[", e, "];"));
  }
}

bool ReportsSizes(const ModelInterface& m) {
  return std::ranges::any_of(m.outputs, &TensorPort::reports_dims);
}

void EmitReportSizes(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  if (!ReportsSizes(m)) return;
  const Bounds bounds = BoundsOf(context.program.symbols);
  w.Line("// Tells the caller the dims that depend on what the run was given.");
  CodeWriter lines;
  bool reads_sizes = false;
  for (const TensorPort& port : m.outputs) {
    if (!port.reports_dims) continue;
    const Shape& shape = context.program.buffers[port.id].shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      lines.Line(StrCat("out->", port.dims_member, "[", axis,
                        "] = ", HostExpr(context, shape[axis], bounds), ";"));
      reads_sizes |= !Simplify(shape[axis], bounds).IsConst();
    }
  }
  const auto block = w.Block(StrCat("void report_sizes(const symbols &", reads_sizes ? "dims" : "",
                                    ", ", m.prefix, "_outputs *out) {"),
                             "}\n");
  w.Emit("$lines$", {{"lines", lines.text()}});
}

std::string CallReportSizes(const ModelInterface& m, std::string_view sizes, bool late) {
  if (!ReportsSizes(m) || m.HasLateSymbols() != late) return "";
  return StrCat("report_sizes(", sizes, ", out);");
}

std::string EmitStatusText(const EmitContext& context, CodeWriter& w) {
  const std::vector<std::string>& checks = context.interface.checks;
  if (checks.empty()) return "aotc_status_text";
  // No array: Clang warns of literals in one that stand on two lines.
  w.Line("// What each check of a run says where it fails.");
  {
    const auto block = w.Block("const char *status_text(aotc_status status) {", "}");
    const auto choice = w.Block("switch ((status >> 8) - 1) {", "}");
    for (size_t i = 0; i < checks.size(); ++i) {
      w.Line(StrCat("case ", i, ": return ", StringLiteral(checks[i]), ";"));
    }
    w.Line("default: return aotc_status_text(status);");
  }
  w.Line();
  return "status_text";
}

}  // namespace aotc
