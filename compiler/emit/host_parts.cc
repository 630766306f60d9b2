#include "compiler/emit/host_parts.h"

#include <algorithm>
#include <set>

#include "compiler/emit/bundles.h"
#include "compiler/emit/c_expr.h"
#include "compiler/emit/host_control.h"
#include "compiler/emit/host_expr.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::set<BufferId> UsedBuffers(const Program& program, BufferKind kind) {
  std::set<BufferId> used;
  for (const Step& step : program.steps) {
    for (const BufferAccess& access : StepAccesses(program, step)) {
      const BufferId base = BaseOf(program, access.buffer);
      if (program.buffers[base].kind == kind) used.insert(base);
    }
  }
  return used;
}

std::string DescribeBuffer(const Buffer& buffer, const std::vector<Symbol>& symbols) {
  const auto print = [&](const Expr& dim) { return PrintUserDim(dim, symbols); };
  std::string text = StrCat(DTypeName(buffer.dtype), "[", StrJoin(buffer.shape, ", ", print), "]");
  const std::string layout = PrintLayout(buffer.layout);
  if (!layout.empty()) StrAppend(&text, " ", layout);
  return text;
}

std::string StepTitle(const Program& program, size_t index) {
  const Step& step = program.steps[index];
  if (IsControl(step)) return ControlTitle(program, index);
  if (step.kind == StepKind::kCopy) {
    return StrCat("Step ", index, ": copy of ", program.buffers[step.args[0]].name, ".");
  }
  if (step.kind == StepKind::kCheck) {
    return StrCat("Step ", index, ": an index out of range is an error of the run.");
  }
  if (step.kind == StepKind::kDecode) {
    return StrCat("Step ", index, ": ", CommentText(StrJoin(step.sources, ", ")),
                  ", which the user's function decodes.");
  }
  if (step.kind == StepKind::kSizes || step.kind == StepKind::kSetSizes) {
    const auto print = [&](const Expr& e) { return PrintUserDim(e, program.symbols); };
    const std::string what = step.kind == StepKind::kSizes ? " known from here on." : " set.";
    return StrCat("Step ", index, ": ", CommentText(StrJoin(step.elements, ", ", print)),
                  step.elements.size() == 1 ? " is" : " are", what);
  }
  const std::string sources =
      step.sources.empty() ? program.kernels[step.kernel].kernel.name : StrJoin(step.sources, ", ");
  return StrCat("Step ", index, ": ", CommentText(sources), ".");
}

// Nothing where no value has its parts from that header.
std::string IncludeOfParts(const EmitContext& context, std::string_view header) {
  const bool used = std::ranges::any_of(
      context.bundles, [&](const Bundle& bundle) { return PartsHeader(bundle.kind) == header; });
  return used ? StrCat("#include \"", header, "\"") : "";
}

}  // namespace

std::string EmitHostOpening(const EmitContext& context, const HostOpening& opening) {
  CodeWriter w;
  w.Emit(R"(
    // $name$: $title$
    #include "$name$.h"

    #include <stddef.h>
    #include <stdint.h>
    $system$

    #include "aotc/check.h"
    $own$
    $items$
    $maps$
    $math$
    #include "aotc/status.h"
    $strings$
    $weights$

    // Shared between the files of this model, and invisible outside it.
    #define $NAME$_LOCAL extern "C" __attribute__((visibility("hidden"))))",
         {{"name", context.interface.prefix},
          {"NAME", context.interface.macro},
          {"title", opening.title},
          {"system", opening.system_header},
          {"own", opening.own_header},
          {"items", IncludeOfParts(context, "aotc/items.h")},
          {"maps", IncludeOfParts(context, "aotc/maps.h")},
          {"math", context.uses.functions ? "#include \"aotc/scalar_math.h\"" : ""},
          {"strings", IncludeOfParts(context, "aotc/strings.h")},
          {"weights", context.HasWeights() ? "#include \"aotc/weights.h\"" : ""}});
  w.Line();
  return w.Take();
}

void DeclareWeights(const EmitContext& context, CodeWriter& w) {
  if (!context.LinksWeights()) return;
  w.Emit(R"(
    // The packed weights, header first.
    $NAME$_LOCAL const uint8_t $name$_weights_blob[];)",
         {{"name", context.interface.prefix}, {"NAME", context.interface.macro}});
  w.Line();
}

void EmitPlaces(const EmitContext& context, CodeWriter& w) {
  const Program& program = context.program;
  const std::set<BufferId> arena = UsedBuffers(program, BufferKind::kArena);
  if (!arena.empty()) {
    const bool pooled = !program.pools.empty();
    w.Line(StrCat("// Where buffers lie in ", pooled ? "their pools" : "the arena",
                  ", in bytes, and the steps during which they do."));
    const auto block = w.Block("namespace at {", "}  // namespace at\n");
    for (BufferId id : arena) {
      const Buffer& buffer = program.buffers[id];
      const Pool pool = pooled ? program.pools[buffer.pool] : Pool();
      w.Line(StrCat("constexpr size_t ", buffer.name, " = ", buffer.offset - pool.offset, ";  // ",
                    pool.name, pooled ? ", " : "", buffer.first_step, " to ", buffer.last_step,
                    ": ", DescribeBuffer(buffer, program.symbols)));
    }
  }
  if (!context.HasWeights()) return;
  const std::set<BufferId> weights = UsedBuffers(program, BufferKind::kWeights);
  w.Line("// Where constants lie in the packed weights, in bytes.");
  const auto block = w.Block("namespace packed {", "}  // namespace packed\n");
  for (BufferId id : weights) {
    const Buffer& buffer = program.buffers[id];
    w.Line(StrCat("constexpr size_t ", buffer.name, " = ", buffer.offset, ";  // ",
                  DescribeBuffer(buffer, program.symbols)));
  }
}

void EmitSymbols(const EmitContext& context, CodeWriter& w) {
  if (!context.interface.HasSymbols()) return;
  w.Line("// The sizes of one run.");
  const auto block = w.Block("struct symbols {", "};\n");
  for (const Symbol& symbol : context.program.symbols) {
    const std::string unit = symbol.step == 1 ? "" : StrCat(", in units of ", symbol.step);
    w.Line(StrCat("int64_t ", symbol.var, ";  // ", CommentText(symbol.name), unit));
  }
}

size_t CheckCount(const Program& program) {
  return static_cast<size_t>(
      std::count_if(program.steps.begin(), program.steps.end(),
                    [](const Step& step) { return step.kind == StepKind::kCheck; }));
}

std::string HashLiteral(uint64_t hash) {
  return StrCat("0x", absl::Hex(hash, absl::kZeroPad16), "u");
}

absl::Status WriteTitled(const Program& program, size_t index, CodeWriter& w,
                         absl::FunctionRef<absl::Status()> write) {
  const bool titled_within = program.steps[index].kind == StepKind::kElse;
  if (!titled_within) w.Comment(StepTitle(program, index));
  AOTC_RETURN_IF_ERROR(write());
  if (titled_within) w.Comment(StepTitle(program, index));
  return absl::OkStatus();
}

std::string ActualBytes(const EmitContext& context, BufferId id) {
  const Buffer& buffer = context.program.buffers[id];
  const Expr elements = StorageElements(buffer.layout, buffer.shape);
  const Expr bytes = IsSubByte(buffer.dtype) ? CeilDiv(elements * BitWidth(buffer.dtype), 8)
                                             : elements * ByteWidth(buffer.dtype);
  return HostExpr(context, bytes, BoundsOf(context.program.symbols));
}

namespace {

// Variants may call a parameter by other names: "r1" is "r1_data" beside a loop over r1.
bool TakeTheSame(const LoopFunction& a, const LoopFunction& b) {
  return a.params == b.params &&
         std::ranges::equal(a.symbols, b.symbols, {}, &Symbol::var, &Symbol::var);
}

}  // namespace

absl::StatusOr<std::string> KernelArguments(const EmitContext& context, const Step& step) {
  const Program& program = context.program;
  std::string text;
  const std::vector<BufferAccess> accesses = StepAccesses(program, step);
  for (size_t i = 0; i < step.args.size(); ++i) {
    StrAppend(&text, BufferPointer(context, step.args[i], accesses[i].written), ", ");
  }
  const std::vector<KernelVariant>& variants = program.kernels[step.kernel].variants;
  for (const Symbol& symbol : variants[0].loops.symbols) {
    context.uses.dims = true;
    StrAppend(&text, "dims.", symbol.var, ", ");
  }
  for (const KernelVariant& variant : variants) {
    if (TakeTheSame(variant.loops, variants[0].loops)) continue;
    return absl::InternalError(StrCat("variants of kernel ",
                                      program.kernels[step.kernel].kernel.name,
                                      " take different parameters"));
  }
  return text;
}

std::string KernelParameters(const KernelVariant& variant) {
  std::string text;
  for (TensorId id : variant.loops.params) {
    const LoopBuffer& buffer = variant.loops.buffers[id];
    StrAppend(&text, buffer.written ? "" : "const ", CInterfaceType(buffer.dtype), " *",
              buffer.name, ", ");
  }
  for (const Symbol& symbol : variant.loops.symbols) StrAppend(&text, "int64_t ", symbol.var, ", ");
  return text;
}

}  // namespace aotc
