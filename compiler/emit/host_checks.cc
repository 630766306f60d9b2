// Checks of pointers and dims, and the binding of the table to the structs of the public header.
#include "absl/functional/function_ref.h"
#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// "1, 3, 224": one end of the ranges of a port.
std::string Ends(const TensorPort& port, bool upper) {
  return StrJoin(port.ranges, ", ",
                 [&](const Interval& range) { return StrCat(upper ? range.max : range.min); });
}

class ChecksWriter {
 public:
  ChecksWriter(const EmitContext& context, CodeWriter& w)
      : context_(context),
        m_(context.interface),
        program_(context.program),
        w_(w),
        bounds_(BoundsOf(context.program.symbols)),
        ranges_(RangesOf(context.program)) {}

  void CheckRun() {
    w_.Line("// What the caller must get right; fills in the sizes where they vary.");
    const std::string dims = m_.HasSymbols() ? ", symbols *sizes" : "";
    const auto block =
        w_.Block(StrCat("aotc_status check_run(const ", m_.prefix, "_inputs *in, const ", m_.prefix,
                        "_outputs *out", dims, ") {"),
                 "}\n");
    w_.Line("if (in == nullptr || out == nullptr) return AOTC_ERROR_POINTER;");
    for (const DimPort& dim : m_.dims) CheckDim(dim);
    for (const TensorPort& port : m_.inputs) {
      if (port.is_read_by_host) CheckPointer("in", port);
    }
    const auto element = [&](size_t input, size_t index) {
      return StrCat("in->", m_.inputs[input].member, "[", index, "]");
    };
    for (const ElementPort& port : m_.elements) ReadElement(port, element, "sizes->");
    WorkOut("sizes");
    if (m_.HasSymbols()) {
      w_.Line("const symbols &dims = *sizes;");
      w_.Line("(void)dims;");
    }
    CompareElements(element);
    for (const TensorPort& port : m_.inputs) {
      if (!port.is_read_by_host) CheckPointer("in", port);
    }
    for (const TensorPort& port : m_.outputs) CheckPointer("out", port);
    for (const AliasPort& alias : m_.aliases) CheckSame(alias);
    w_.Line("return AOTC_OK;");
  }

  void Binding() {
    Infos("input_infos", m_.inputs);
    Infos("output_infos", m_.outputs);
    w_.Line("// From the table's values to the structs of the header.");
    const auto block =
        w_.Block(StrCat("aotc_status bind(const aotc_value *inputs, aotc_value *outputs, ",
                        m_.prefix, "_inputs *in, ", m_.prefix, "_outputs *out) {"),
                 "}\n");
    if (m_.inputs.empty()) w_.Line("(void)inputs;");
    if (m_.outputs.empty()) w_.Line("(void)outputs;");
    if (!m_.inputs.empty()) BindInputs();
    w_.Line("*in = {};");
    w_.Line("*out = {};");
    BindDims();
    for (size_t i = 0; i < m_.inputs.size(); ++i) {
      const TensorPort& port = m_.inputs[i];
      w_.Line(StrCat("in->", port.member, " = (", m_.AliasOfInput(i) == nullptr ? "const " : "",
                     port.type, " *)inputs[", i, "].tensor.data;"));
    }
    for (size_t i = 0; i < m_.outputs.size(); ++i) BindOutput(i);
    for (const AliasPort& alias : m_.aliases) CheckRoom(alias);
    w_.Line("return AOTC_OK;");
  }

  std::string Info(const TensorPort& port) const {
    const Buffer& buffer = program_.buffers[port.id];
    const auto dim_name = [&](const Expr& dim) { return DimName(dim); };
    return StrCat("{", StringLiteral(port.name), ", AOTC_TENSOR, 0, nullptr, 0, ",
                  static_cast<int>(port.dtype), ", ", buffer.shape.size(), ", {", Ends(port, false),
                  "}, {", Ends(port, true), "}, {", StrJoin(buffer.shape, ", ", dim_name), "}, ",
                  port.macro, "}");
  }

 private:
  // Nothing is divided or multiplied before the bounds are known to hold.
  void CheckDim(const DimPort& dim) {
    const Symbol& symbol = dim.symbol;
    const std::string given = StrCat("in->dims.", dim.member);
    std::string wrong = StrCat(given, " < ", symbol.min * symbol.step, " || ", given, " > ",
                               symbol.max * symbol.step);
    if (symbol.step != 1) StrAppend(&wrong, " || ", given, " % ", symbol.step, " != 0");
    w_.Line(StrCat("if (", wrong, ") return AOTC_ERROR_DIM;"));
    const std::string unit = symbol.step == 1 ? "" : StrCat(" / ", symbol.step);
    w_.Line(StrCat("sizes->", symbol.var, " = ", given, unit, ";"));
  }

  using ElementText = absl::FunctionRef<std::string(size_t input, size_t element)>;

  void ReadElement(const ElementPort& port, ElementText element, std::string_view into) {
    EmitReadElement(port, element(static_cast<size_t>(port.input), port.element), into, w_);
  }

  void WorkOut(std::string_view sizes) {
    if (!WorksOutSizes(m_)) return;
    w_.Line(StrCat("const aotc_status worked_out = work_out(", sizes, ");"));
    w_.Line("if (worked_out != AOTC_OK) return worked_out;");
  }

  // Elements that state no symbol themselves are what the symbols make of them.
  void CompareElements(ElementText element) {
    for (size_t i = 0; i < m_.inputs.size(); ++i) {
      const std::vector<Expr>& elements = program_.buffers[m_.inputs[i].id].elements;
      for (size_t e = 0; e < elements.size(); ++e) {
        if (m_.ElementAt(i, e) != nullptr) continue;
        w_.Line(StrCat("if (", Differs(element(i, e), elements[e]), ") return ",
                       Disagrees("AOTC_ERROR_VALUE", m_.AgreementOf(i, false, e)), ";"));
      }
    }
  }

  // A tensor without elements may have no memory.
  void CheckPointer(const std::string& from, const TensorPort& port) {
    const Expr elements = ElementCount(program_.buffers[port.id].shape);
    const Interval range = RangeOf(elements, bounds_);
    if (range.max == 0) return;
    // Of which it is not known yet whether it has any, it is to have memory.
    const std::string when = range.min > 0 || port.is_late
                                 ? ""
                                 : StrCat(HostExpr(context_, Lt(0, elements), bounds_), " && ");
    w_.Line(StrCat("if (", when, "!aotc_usable(", from, "->", port.member, ", ", port.element_align,
                   ")) return AOTC_ERROR_POINTER;"));
  }

  // Input and output of a pair are one memory.
  void CheckSame(const AliasPort& alias) {
    const TensorPort& input = m_.inputs[static_cast<size_t>(alias.input)];
    const TensorPort& output = m_.outputs[static_cast<size_t>(alias.output)];
    w_.Line(StrCat("if (in->", input.member, " != out->", output.member,
                   ") return AOTC_ERROR_POINTER;"));
  }

  void Infos(const std::string& name, const std::vector<TensorPort>& ports) {
    if (ports.empty()) return;
    w_.Line(
        "// Name, kind, no children, type and rank, least and largest dims, their names, bytes.");
    const auto block = w_.Block(StrCat("const aotc_value_info ", name, "[] = {"), "};\n");
    for (const TensorPort& port : ports) w_.Line(StrCat(Info(port), ","));
  }

  // The user's dim where it is just that.
  std::string DimName(const Expr& dim) const {
    for (const DimPort& port : m_.dims) {
      if (ProveEqual(dim, Var(port.symbol.var) * port.symbol.step, ranges_)) {
        return StringLiteral(port.symbol.name);
      }
    }
    return "nullptr";
  }

  // Strides reach beyond what the dims alone would need, also of an input without elements.
  void CheckRoom(const AliasPort& alias) {
    const std::string macro = m_.outputs[static_cast<size_t>(alias.output)].macro;
    for (const std::string& value :
         {StrCat("inputs[", alias.input, "]"), StrCat("outputs[", alias.output, "]")}) {
      w_.Line(StrCat("if (", value, ".tensor.capacity_bytes < ", macro,
                     ") return AOTC_ERROR_CAPACITY;"));
    }
  }

  void BindInputs() {
    w_.Emit(R"(
      for (int32_t i = 0; i < $count$; ++i) {
        const aotc_status status = aotc_check_input(&inputs[i], &input_infos[i]);
        if (status != AOTC_OK) return status;
      })",
            {{"count", StrCat(m_.inputs.size())}});
  }

  // Reads each symbol where the interface found it, then holds all dims and elements against the
  // symbols.
  void BindDims() {
    const auto element = [&](size_t input, size_t index) {
      return StrCat("((const ", m_.inputs[input].type, " *)inputs[", input, "].tensor.data)[",
                    index, "]");
    };
    if (m_.HasSymbols()) w_.Line("symbols dims;");
    if (m_.HasLateSymbols()) w_.Line("(void)dims;");
    for (const ElementPort& port : m_.elements) ReadElement(port, element, "dims.");
    for (const DimPort& dim : m_.dims) {
      std::string value = StrCat("inputs[", dim.input, "].tensor.dims[", dim.axis, "]");
      if (dim.offset != 0) value = StrCat("(", value, " - ", dim.offset, ")");
      if (dim.scale != 1) StrAppend(&value, " / ", dim.scale);
      w_.Line(StrCat("dims.", dim.symbol.var, " = ", value, ";"));
      w_.Line(StrCat("in->dims.", dim.member, " = dims.", dim.symbol.var,
                     dim.symbol.step == 1 ? "" : StrCat(" * ", dim.symbol.step), ";"));
    }
    WorkOut("&dims");
    for (size_t i = 0; i < m_.inputs.size(); ++i) {
      const Shape& shape = program_.buffers[m_.inputs[i].id].shape;
      for (size_t axis = 0; axis < shape.size(); ++axis) CompareDim(i, axis, shape[axis]);
    }
    CompareElements(element);
  }

  void CompareDim(size_t input, size_t axis, const Expr& dim) {
    if (FreeVars(dim).empty()) return;
    for (const DimPort& port : m_.dims) {
      const bool defines =
          port.input == static_cast<int>(input) && port.axis == static_cast<int>(axis);
      if (defines && dim.IsVar()) return;
    }
    const std::string given = StrCat("inputs[", input, "].tensor.dims[", axis, "]");
    w_.Line(StrCat("if (", Differs(given, dim), ") return ",
                   Disagrees("AOTC_ERROR_DIM", m_.AgreementOf(input, true, axis)), ";"));
  }

  // The status, with the check that has a sentence for it where there is one.
  static std::string Disagrees(std::string_view status, int check) {
    return check < 0 ? std::string(status) : StrCat("aotc_failed(", status, ", ", check, ")");
  }

  // "given != dims.n", with parentheses where the size takes some.
  std::string Differs(const std::string& given, const Expr& size) const {
    return HostExpr(context_, Ne(Var(given), size), bounds_, {given});
  }

  // Lines that refuse memory which is not there.
  static std::string LateMemoryCheck(size_t index) {
    const std::string tensor = StrCat("outputs[", index, "].tensor");
    return StrCat("if (", tensor, ".capacity_bytes == 0) return AOTC_ERROR_CAPACITY;\n",
                  "if (!aotc_usable(", tensor, ".data, 64)) return AOTC_ERROR_POINTER;");
  }

  // What it is; its dims come when the run is over.
  void BindLateOutput(size_t index) {
    const TensorPort& port = m_.outputs[index];
    const Shape& shape = program_.buffers[port.id].shape;
    const bool may_have_elements = RangeOf(ElementCount(shape), bounds_).max != 0;
    w_.Emit(R"(
      const int64_t output$i$_dims[AOTC_MAX_RANK] = {};
      const aotc_status status$i$ =
          aotc_describe_output(&outputs[$i$], &output_infos[$i$], output$i$_dims);
      if (status$i$ != AOTC_OK) return status$i$;
      $check$
      out->$capacity$ = outputs[$i$].tensor.capacity_bytes;
      out->$member$ = ($type$ *)outputs[$i$].tensor.data;)",
            {{"i", StrCat(index)},
             {"check", may_have_elements ? LateMemoryCheck(index) : ""},
             {"capacity", port.capacity_member},
             {"member", port.member},
             {"type", port.type}});
  }

  void BindOutput(size_t index) {
    const TensorPort& port = m_.outputs[index];
    if (port.is_late) return BindLateOutput(index);
    const Shape& shape = program_.buffers[port.id].shape;
    const auto print = [&](const Expr& dim) { return HostExpr(context_, dim, bounds_); };
    std::string dims = shape.empty() ? "nullptr" : StrCat("output", index, "_dims");
    if (!shape.empty()) {
      w_.Line(StrCat("const int64_t ", dims, "[] = {", StrJoin(shape, ", ", print), "};"));
    }
    w_.Emit(R"(
      const aotc_status status$i$ = aotc_describe_output(&outputs[$i$], &output_infos[$i$], $dims$);
      if (status$i$ != AOTC_OK) return status$i$;
      out->$member$ = ($type$ *)outputs[$i$].tensor.data;)",
            {{"i", StrCat(index)}, {"dims", dims}, {"member", port.member}, {"type", port.type}});
  }

  const EmitContext& context_;
  const ModelInterface& m_;
  const Program& program_;
  CodeWriter& w_;
  const Bounds bounds_;
  const Bounds ranges_;
};

}  // namespace

void EmitCheckRun(const EmitContext& context, CodeWriter& w) {
  EmitWorkOut(context, w);
  ChecksWriter(context, w).CheckRun();
  EmitReportSizes(context, w);
}

std::string TensorInfo(const EmitContext& context, const TensorPort& port) {
  CodeWriter unused;
  return ChecksWriter(context, unused).Info(port);
}

void EmitTableBinding(const EmitContext& context, CodeWriter& w) {
  ChecksWriter(context, w).Binding();
}

}  // namespace aotc
