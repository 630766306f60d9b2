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

const std::string* MemberOf(const std::vector<TensorPort>& ports, BufferId id) {
  const auto found = std::find_if(ports.begin(), ports.end(),
                                  [&](const TensorPort& port) { return port.id == id; });
  return found == ports.end() ? nullptr : &found->member;
}

}  // namespace

std::string HostExpr(const Expr& e, const Bounds& bounds, const std::set<std::string>& locals) {
  Substitution members;
  for (const std::string& name : FreeVars(e)) {
    if (!locals.contains(name)) members.emplace(name, Var("dims." + name));
  }
  const Expr plain = UsePlainDivision(Simplify(e, bounds), bounds);
  return CExprPrinter([](TensorId) { return std::string(); }).Print(Substitute(plain, members));
}

std::string ArenaPlace(const Program& program, const Buffer& buffer) {
  if (program.pools.empty()) return StrCat("arena + at::", buffer.name);
  return StrCat("(uint8_t *)pools.", program.pools[buffer.pool].name, " + at::", buffer.name);
}

std::string BufferPointer(const Program& program, const ModelInterface& interface, BufferId id,
                          bool written) {
  const BufferId base_id = BaseOf(program, id);
  const Buffer& base = program.buffers[base_id];
  const std::string type = StrCat(written ? "" : "const ", CInterfaceType(base.dtype), " *");
  std::string place;
  if (base.kind == BufferKind::kHost) {
    place = StrCat("&", base.name);
  } else if (const std::string* input = MemberOf(interface.inputs, base_id)) {
    place = StrCat("in->", *input);
  } else if (const std::string* output = MemberOf(interface.outputs, base_id)) {
    place = StrCat("out->", *output);
  } else if (base.kind == BufferKind::kWeights && program.weights.empty()) {
    place = "nullptr";  // a model whose only constants have no elements
  } else if (base.kind == BufferKind::kWeights) {
    place = StrCat("(", type, ")(weights + packed::", base.name, ")");
  } else {
    place = StrCat("(", type, ")(", ArenaPlace(program, base), ")");
  }
  const Expr offset = ElementOffset(program.buffers[id]);
  if (offset.IsInt(0)) return place;
  if (offset.IsConst()) return StrCat(place, " + ", HostExpr(offset, {}));
  std::set<std::string> counters;
  for (const Step& step : program.steps) counters.insert(step.counter);
  return StrCat(place, " + ", HostExpr(offset, BoundsOf(program), counters));
}

}  // namespace aotc
