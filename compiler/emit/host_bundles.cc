#include "compiler/emit/host_bundles.h"

#include "compiler/emit/host_expr.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class PackingWriter {
 public:
  PackingWriter(const EmitContext& context, CodeWriter& w)
      : context_(context),
        m_(context.interface),
        w_(w),
        bounds_(BoundsOf(context.program.symbols)) {}

  void Structs() {
    if (!m_.dims.empty()) {
      const auto block = w_.Block("struct tensor_dims {", "};\n");
      for (const DimPort& dim : m_.dims) w_.Line(StrCat("int64_t ", dim.member, ";"));
    }
    w_.Line("// The tensors that the steps read and write.");
    {
      const auto block = w_.Block("struct tensor_inputs {", "};\n");
      for (size_t i = 0; i < m_.inputs.size(); ++i) {
        const TensorPort& port = m_.inputs[i];
        w_.Line(StrCat(m_.AliasOfInput(i) == nullptr ? "const " : "", port.type, " *", port.member,
                       ";"));
      }
      if (!m_.dims.empty()) w_.Line("tensor_dims dims;");
    }
    const auto block = w_.Block("struct tensor_outputs {", "};\n");
    for (const TensorPort& port : m_.outputs) {
      w_.Line(StrCat(port.type, " *", port.member, ";"));
      if (port.is_late) w_.Line(StrCat("size_t ", port.capacity_member, ";"));
      if (port.reports_dims) {
        w_.Line(StrCat("int64_t ", port.dims_member, "[", RankOf(port), "];"));
      }
    }
  }

  void Pack() {
    w_.Line("// From the caller's values to the tensors of the steps.");
    const auto block = w_.Block(
        StrCat("aotc_status pack(const ", m_.prefix, "_inputs *in, const ", m_.prefix,
               "_outputs *out, uint8_t *parts, tensor_inputs *given, tensor_outputs *made) {"),
        "}\n");
    w_.Line("if (in == nullptr || out == nullptr) return AOTC_ERROR_POINTER;");
    w_.Line("*given = {};");
    w_.Line("*made = {};");
    w_.Line("(void)parts;");
    if (m_.HasSymbols()) w_.Line("symbols dims = {};\n(void)dims;");
    for (const DimPort& dim : m_.dims) {
      if (!dim.is_packed) TakeDim(dim);
    }
    for (size_t i = 0; i < m_.inputs.size(); ++i) PackInput(i);
    for (size_t i = 0; i < m_.outputs.size(); ++i) PrepareOutput(i);
    w_.Line("return AOTC_OK;");
  }

  void Unpack() {
    w_.Line("// Tells the caller of the results.");
    const auto block = w_.Block(
        StrCat("aotc_status unpack(const tensor_outputs *made, ", m_.prefix, "_outputs *out) {"),
        "}\n");
    w_.Line("(void)made, (void)out;");
    for (size_t i = 0; i < m_.outputs.size(); ++i) {
      if (m_.outputs[i].part > 0) continue;
      ReportDims(i);
      if (m_.outputs[i].bundle >= 0) UnpackOutput(i);
    }
    w_.Line("return AOTC_OK;");
  }

 private:
  size_t RankOf(const TensorPort& port) const {
    return context_.program.buffers[port.id].shape.size();
  }
  static std::string PartAt(const TensorPort& port) {
    return StrCat("(", port.type, " *)(parts + ", port.offset, ")");
  }

  // Before anything is computed of it.
  void TakeDim(const DimPort& dim) {
    const Symbol& symbol = dim.symbol;
    const std::string value = StrCat("in->dims.", dim.member);
    w_.Line(StrCat("if (", value, " < ", symbol.min * symbol.step, " || ", value, " > ",
                   symbol.max * symbol.step, ") return AOTC_ERROR_DIM;"));
    w_.Line(StrCat("dims.", symbol.var, " = ", value,
                   symbol.step == 1 ? "" : StrCat(" / ", symbol.step), ";"));
    w_.Line(StrCat("given->dims.", dim.member, " = ", value, ";"));
  }

  void PackInput(size_t index) {
    const TensorPort& port = m_.inputs[index];
    const std::string value = StrCat("in->", m_.given[m_.GivenOf(index)].member);
    if (port.bundle < 0) w_.Line(StrCat("given->", port.member, " = ", value, ";"));
    if (port.bundle < 0 || port.part > 0) return;
    const TensorPort &sizes = m_.inputs[index + kSizesPart], &pool = m_.inputs[index + kPoolPart];
    const Expr count = ElementCount(context_.program.buffers[port.id].shape);
    w_.Emit(R"(
      {
        const int64_t count = $count$;
        if (count > 0 && !aotc_usable($value$, alignof(aotc_string))) return AOTC_ERROR_POINTER;
        int64_t *starts = $starts_at$, *sizes = $sizes_at$, bytes = 0;
        uint8_t *pool = $pool_at$;
        const aotc_status status =
            aotc_pack_strings($value$, count, starts, sizes, pool, $room$, &bytes);
        if (status == AOTC_ERROR_CAPACITY) return aotc_failed(status, $check$);
        if (status != AOTC_OK) return status;
        given->$starts$ = starts;
        given->$sizes$ = sizes;
        given->$pool$ = pool;
        $dim$
      })",
            {{"count", HostExpr(context_, count, bounds_)},
             {"value", value},
             {"starts_at", PartAt(port)},
             {"sizes_at", PartAt(sizes)},
             {"pool_at", PartAt(pool)},
             {"room", StrCat(pool.bytes)},
             {"check", StrCat(m_.pool_checks[static_cast<size_t>(port.bundle)])},
             {"starts", port.member},
             {"sizes", sizes.member},
             {"pool", pool.member},
             {"dim", PoolDim(index + kPoolPart)}});
  }

  // The line that states how many bytes a pool has.
  std::string PoolDim(size_t pool) const {
    for (const DimPort& dim : m_.dims) {
      if (dim.is_packed && dim.input == static_cast<int>(pool)) {
        return StrCat("given->dims.", dim.member, " = bytes;");
      }
    }
    return "(void)bytes;";
  }

  void PrepareOutput(size_t index) {
    const TensorPort& port = m_.outputs[index];
    if (port.bundle >= 0) {
      w_.Line(StrCat("made->", port.member, " = ", PartAt(port), ";"));
      return;
    }
    const TensorPort& value = m_.taken[m_.TakenOf(index)];
    w_.Line(StrCat("made->", port.member, " = out->", value.member, ";"));
    if (!port.is_late) return;
    w_.Line(StrCat("made->", port.capacity_member, " = out->", value.capacity_member, ";"));
  }

  void ReportDims(size_t index) {
    const TensorPort &port = m_.outputs[index], &value = m_.taken[m_.TakenOf(index)];
    if (!value.reports_dims) return;
    for (size_t axis = 0; axis < RankOf(port); ++axis) {
      w_.Line(StrCat("out->", value.dims_member, "[", axis, "] = made->", port.dims_member, "[",
                     axis, "];"));
    }
  }

  std::string CountOf(const TensorPort& port) const {
    const Shape& shape = context_.program.buffers[port.id].shape;
    if (!port.reports_dims) return StrCat(ElementCount(shape).AsInt().value_or(0));
    std::vector<std::string> dims;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      dims.push_back(StrCat("made->", port.dims_member, "[", axis, "]"));
    }
    return StrJoin(dims, " * ");
  }

  void UnpackOutput(size_t index) {
    const TensorPort &port = m_.outputs[index], &value = m_.taken[m_.TakenOf(index)];
    const std::string capacity = StrCat("out->", value.capacity_member);
    const std::string room =
        value.is_late ? StrCat("if (", capacity, " != 0 && (size_t)count * sizeof(aotc_string) > ",
                               capacity, ") return AOTC_ERROR_CAPACITY;")
                      : "";
    w_.Emit(R"(
      {
        const int64_t count = $count$;
        $room$
        const bool usable = aotc_usable(out->$value$, alignof(aotc_string));
        if (count > 0 && !usable) return AOTC_ERROR_POINTER;
        aotc_unpack_strings(made->$starts$, made->$sizes$, made->$pool$, count, out->$value$);
      })",
            {{"count", CountOf(port)},
             {"room", room},
             {"value", value.member},
             {"starts", port.member},
             {"sizes", m_.outputs[index + kSizesPart].member},
             {"pool", m_.outputs[index + kPoolPart].member}});
  }

  const EmitContext& context_;
  const ModelInterface& m_;
  CodeWriter& w_;
  const Bounds bounds_;
};

}  // namespace

void EmitTensorStructs(const EmitContext& context, CodeWriter& w) {
  if (context.interface.HasBundles()) PackingWriter(context, w).Structs();
}

void EmitPacking(const EmitContext& context, CodeWriter& w) {
  if (!context.interface.HasBundles()) return;
  PackingWriter writer(context, w);
  writer.Pack();
  writer.Unpack();
}

}  // namespace aotc
