#include "compiler/emit/host_expr.h"

#include <algorithm>
#include <set>

#include "compiler/emit/c_expr.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// floor_div and mod as C's operators where both operands are known not to be negative.
Expr UsePlainDivision(const Expr& e, const Bounds& bounds) {
  return Transform(e, [&](const Expr& node) {
    const bool divides = node.op() == ExprOp::kFloorDiv || node.op() == ExprOp::kMod;
    if (!divides || RangeOf(node.arg(0), bounds).min < 0) return node;
    if (node.arg(1).AsInt().value_or(0) <= 0) return node;
    const ExprOp plain = node.op() == ExprOp::kFloorDiv ? ExprOp::kDiv : ExprOp::kTruncMod;
    return Binary(plain, node.arg(0), node.arg(1));
  });
}

// Of what is no view; ports may be views of it.
const std::string* MemberOf(const Program& program, const std::vector<TensorPort>& ports,
                            BufferId id) {
  const auto found = std::ranges::find_if(
      ports, [&](const TensorPort& port) { return BaseOf(program, port.id) == id; });
  return found == ports.end() ? nullptr : &found->member;
}

using Spelling = std::string (CExprPrinter::*)(const Expr&) const;

std::string Spell(const EmitContext& context, const Expr& e, const Bounds& bounds,
                  const std::set<std::string>& locals, Spelling spelling) {
  const Expr plain = UsePlainDivision(Simplify(e, bounds), bounds);
  Substitution members;
  for (const std::string& name : FreeVars(plain)) {
    if (!locals.contains(name)) members.emplace(name, Var("dims." + name));
  }
  context.uses.dims |= !members.empty();
  const CExprPrinter printer([](TensorId) { return std::string(); });
  std::string text = (printer.*spelling)(Substitute(plain, members));
  context.uses.functions |= printer.uses().functions;
  return text;
}

}  // namespace

std::string HostExpr(const EmitContext& context, const Expr& e, const Bounds& bounds,
                     const std::set<std::string>& locals) {
  return Spell(context, e, bounds, locals, &CExprPrinter::Print);
}

Bounds RangesOf(const Program& program) {
  std::vector<Symbol> symbols = program.symbols;
  for (Symbol& symbol : symbols) symbol.checks.clear();
  return BoundsOf(symbols);
}

bool MayOverflow(const Expr& node, const Bounds& bounds) {
  const ExprOp op = node.op();
  const bool adds = op == ExprOp::kAdd || op == ExprOp::kSub || op == ExprOp::kMul;
  if (!adds || node.dtype() != DType::kI64) return false;
  const Interval range = RangeOf(node, bounds);
  return range.min == INT64_MIN || range.max == INT64_MAX;
}

std::string ArenaPlace(const EmitContext& context, const Buffer& buffer) {
  const IdVector<PoolId, Pool>& pools = context.program.pools;
  if (pools.empty()) {
    context.uses.arena = true;
    return StrCat("arena + at::", buffer.name);
  }
  context.uses.pools = true;
  return StrCat("(uint8_t *)pools.", pools[buffer.pool].name, " + at::", buffer.name);
}

namespace {

// Of the first element of a buffer that is no view.
std::string PlaceOf(const EmitContext& context, BufferId id, const std::string& type) {
  const Buffer& buffer = context.program.buffers[id];
  if (buffer.kind == BufferKind::kHost) return StrCat(buffer.shape.empty() ? "&" : "", buffer.name);
  if (const std::string* output = MemberOf(context.program, context.interface.outputs, id)) {
    context.uses.outputs = true;
    return StrCat("out->", *output);
  }
  if (const std::string* input = MemberOf(context.program, context.interface.inputs, id)) {
    context.uses.inputs = true;
    return StrCat("in->", *input);
  }
  if (buffer.kind != BufferKind::kWeights) {
    return StrCat("(", type, ")(", ArenaPlace(context, buffer), ")");
  }
  // A model whose only constants have no elements has none.
  if (!context.HasWeights()) return "nullptr";
  context.uses.weights = true;
  return StrCat("(", type, ")(weights + packed::", buffer.name, ")");
}

}  // namespace

std::string BufferPointer(const EmitContext& context, BufferId id, bool written) {
  const Program& program = context.program;
  const BufferId base = BaseOf(program, id);
  const DType dtype = program.buffers[base].dtype;
  const std::string type = StrCat(written ? "" : "const ", CInterfaceType(dtype), " *");
  std::string place = PlaceOf(context, base, type);
  const Expr offset = ElementOffset(program.buffers[id]);
  if (offset.IsInt(0)) return place;
  std::set<std::string> counters;
  for (const Step& step : program.steps) counters.insert({step.counter, step.rounds});
  const Bounds bounds = BoundsOf(program);
  return StrCat(place, " + ", Spell(context, offset, bounds, counters, &CExprPrinter::Term));
}

}  // namespace aotc
