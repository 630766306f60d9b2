// NAME.h: the public header, C99 and C++.
#include <algorithm>

#include "compiler/emit/bundles.h"
#include "compiler/emit/host_decode.h"
#include "compiler/emit/host_parts.h"
#include "compiler/emit/parts.h"
#include "compiler/ir/shape.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/literals.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kDecoderInclude =
    "#include \"aotc/decode_image.h\" /* aotc_decode_image is yours to link */";

class HeaderWriter {
 public:
  explicit HeaderWriter(const EmitContext& context)
      : context_(context), m_(context.interface), host_(context.options.host) {}

  std::string Run() {
    Opening();
    Sizes();
    Dims();
    Ports("inputs", m_.inputs, /*constant=*/true);
    Ports("outputs", m_.outputs, /*constant=*/false);
    if (context_.LoadsWeights()) LoadedWeights();
    if (host_.functions) host_.functions(context_, w_);
    if (context_.options.profile) ProfiledRun();
    w_.Emit(R"(
      /* The same by table, for hosts that load models by name. Never NULL. */
      const aotc_model *$name$_model(void);

      #ifdef __cplusplus
      }
      #endif

      #endif /* $NAME$_H_ */)",
            {{"name", m_.prefix}, {"NAME", m_.macro}});
    return w_.Take();
  }

 private:
  void Opening() {
    const Provenance& from = context_.options.provenance;
    const std::string model = from.model_name.empty() ? m_.prefix : from.model_name;
    w_.Emit(R"(
      /* $name$: the model $model$, compiled by aotc $version$ for $target$.
       *
       * The caller owns all memory: inputs, outputs and arena. Every call returns a status, 0 for
       * success; aotc/model.h lists the others.
       $usage$
       */
      #ifndef $NAME$_H_
      #define $NAME$_H_

      #include <stddef.h>
      #include <stdint.h>

      $decoder$
      #include "aotc/model.h"
      $profile$

      #ifdef __cplusplus
      extern "C" {
      #endif
      )",
            {{"name", m_.prefix},
             {"NAME", m_.macro},
             {"model", CommentText(model)},
             {"version", from.aotc_version},
             {"target", host_.machines},
             {"usage", host_.usage ? host_.usage(context_) : ""},
             {"profile", context_.options.profile ? host_.profile_header : ""},
             {"decoder", DecodesImages(context_.program) ? kDecoderInclude : ""}});
    w_.Line();
  }

  void Sizes() {
    const std::string kind = host_.has_device ? "DEVICE_ARENA" : "ARENA";
    w_.Emit(R"(
      /* The arena, in bytes: $what$. */
      #define $NAME$_$kind$_BYTES $bytes$
      #define $NAME$_$kind$_ALIGN $align$)",
            {{"NAME", m_.macro},
             {"kind", kind},
             {"what", StrCat(host_.has_device ? "device " : "",
                             "memory for all that lies between the steps")},
             {"bytes", Bytes(context_.program.arena_bytes)},
             {"align", StrCat(context_.program.arena_align, "u")}});
    w_.Line();
    PoolSizes();
    if (host_.sizes) host_.sizes(context_, w_);
    w_.Emit(R"(

      /* Inputs and outputs at their largest, in bytes. */)");
    for (const auto* ports : {&m_.inputs, &m_.outputs}) {
      for (const TensorPort& port : *ports) {
        w_.Line(StrCat("#define ", port.macro, " ", Bytes(port.bytes)));
      }
    }
    w_.Line();
  }

  void PoolSizes() {
    const IdVector<PoolId, Pool>& pools = context_.program.pools;
    if (pools.empty()) return;
    w_.Line(
        "/* The pools that the arena is made of, in bytes, in the order in which they lie there. "
        "*/");
    for (const Pool& pool : pools) {
      w_.Line(StrCat("#define ", m_.macro, "_POOL_", MacroCase(pool.name), "_BYTES ",
                     Bytes(pool.bytes)));
    }
    w_.Line();
  }

  static std::string Bytes(int64_t bytes) { return UnsignedLiteral(static_cast<uint64_t>(bytes)); }

  void Dims() {
    if (m_.dims.empty()) return;
    w_.Line("/* The sizes of one run. */");
    auto block = w_.Block("typedef struct {", StrCat("} ", m_.prefix, "_dims;\n"));
    for (const DimPort& dim : m_.dims) {
      w_.Line(StrCat("int64_t ", dim.member, "; /* ", Range(dim.symbol), " */"));
    }
  }

  // As the user gives the symbol: "32 to 960, a multiple of 32".
  static std::string Range(const Symbol& symbol) {
    if (symbol.clamps) return "any";
    std::string range = StrCat(symbol.min * symbol.step, " to ", symbol.max * symbol.step);
    if (symbol.step != 1) StrAppend(&range, ", a multiple of ", symbol.step);
    return range;
  }

  void Ports(const std::string& what, const std::vector<TensorPort>& ports, bool constant) {
    const bool dims = constant && !m_.dims.empty();
    auto block = w_.Block("typedef struct {", StrCat("} ", m_.prefix, "_", what, ";\n"));
    for (size_t i = 0; i < ports.size(); ++i) {
      const TensorPort& port = ports[i];
      const Bundle* bundle = BundleOf(context_.bundles, !constant, i);
      if (bundle != nullptr && bundle->first == i) {
        w_.Line(StrCat("/* ", CommentText(StrCat("'", bundle->name, "'")), " by its parts, as ",
                       PartsHeader(bundle->kind), " says; the table has it whole. */"));
      }
      const AliasPort* alias = constant ? m_.AliasOfInput(i) : m_.AliasOfOutput(i);
      if (alias != nullptr) w_.Line(Shared(*alias, constant));
      if (constant && port.is_read_by_host) w_.Line(Elements(i));
      w_.Line(StrCat(constant && alias == nullptr ? "const " : "", port.type, " *", port.member,
                     "; /* ", CommentText(StrCat("'", port.name, "', ", port.text)), " */"));
      if (port.is_late) {
        w_.Line(StrCat("size_t ", port.capacity_member, "; /* its room in bytes; 0: the most */"));
      }
      if (!port.reports_dims) continue;
      const size_t rank = context_.program.buffers[port.id].shape.size();
      w_.Line(StrCat("int64_t ", port.dims_member, "[", rank,
                     "]; /* written by a run: the dims of ",
                     CommentText(StrCat("'", port.name, "'")), " */"));
    }
    if (dims) w_.Line(StrCat(m_.prefix, "_dims dims;"));
    const bool tells = constant && context_.options.profile;
    if (tells) {
      w_.Line(StrCat("const aotc_profile *", m_.profile_member,
                     "; /* told of each step; NULL: nobody is */"));
    }
    if (ports.empty() && !dims && !tells) w_.Line("char unused_;");
  }

  // What is said of an input whose elements sizes depend on.
  std::string Elements(size_t input) const {
    const TensorPort& port = m_.inputs[input];
    const Buffer& buffer = context_.program.buffers[port.id];
    std::vector<std::string> texts;
    for (size_t e = 0; e < buffer.elements.size(); ++e) {
      const ElementPort* stated = m_.ElementAt(input, e);
      const std::string name = ElementName(port.name, buffer.shape.size(), e);
      texts.push_back(StrCat(name, " ",
                             stated == nullptr
                                 ? PrintUserDim(buffer.elements[e], context_.program.symbols)
                                 : Range(stated->symbol)));
    }
    return StrCat("/* In host memory, as sizes depend on it: ", CommentText(StrJoin(texts, ", ")),
                  ". */");
  }

  // What is said of a tensor that shares its memory with another.
  std::string Shared(const AliasPort& alias, bool is_input) const {
    const TensorPort& input = m_.inputs[static_cast<size_t>(alias.input)];
    const TensorPort& output = m_.outputs[static_cast<size_t>(alias.output)];
    return StrCat("/* The memory of ", is_input ? "the output " : "the input ",
                  CommentText(StrCat("'", is_input ? output.name : input.name, "'")),
                  ": one pointer for both, to ", output.macro,
                  " bytes. Strides in elements: ", alias.text, ". */");
  }

  void LoadedWeights() {
    w_.Emit(R"(
      /* The weights, once $name$_load has verified them. */
      typedef struct {
        const void *data;
      } $name$_weights;

      /* Verifies the contents of $name$_weights.bin, which the caller read or mapped at an address
       * aligned to 64 bytes and keeps for as long as the model runs. */
      aotc_status $name$_load($name$_weights *weights, const void *data, size_t bytes);)",
            {{"name", m_.prefix}});
    w_.Line();
  }

  void ProfiledRun() {
    w_.Emit(R"(
      /* The table's run, which tells `profile` of each step. */
      aotc_status $name$_run_profiled(void *instance, const aotc_value *inputs, aotc_value *outputs,
                                      void *arena, const aotc_parallel *parallel,
                                      const aotc_profile *profile);)",
            {{"name", m_.prefix}});
    w_.Line();
  }

  const EmitContext& context_;
  const ModelInterface& m_;
  const HostWriter& host_;
  CodeWriter w_;
};

}  // namespace

std::string EmitHeader(const EmitContext& context) { return HeaderWriter(context).Run(); }

}  // namespace aotc
