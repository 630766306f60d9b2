// Inputs and outputs of a CUDA model that are host memory: their copies on the device.
#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

class TransferWriter {
 public:
  TransferWriter(const EmitContext& context, CodeWriter& w)
      : context_(context), m_(context.interface), w_(w) {}

  // Where inputs and outputs that are host memory are mirrored on the device.
  void Staging() {
    w_.Line(
        "// Where the device's copies of inputs and outputs lie, for those that are host memory.");
    const auto block = w_.Block("namespace staged {", "}  // namespace staged\n");
    w_.Line("constexpr size_t padded(size_t bytes) { return (bytes + 255) / 256 * 256; }");
    std::string end = "0";
    const auto stage = [&](const std::string& name, const TensorPort& port) {
      w_.Line(StrCat("constexpr size_t ", name, " = ", end, ";"));
      end = StrCat(name, " + padded(", port.macro, ")");
    };
    for (size_t i = 0; i < m_.inputs.size(); ++i) {
      const TensorPort& port = m_.inputs[i];
      if (m_.AliasOfInput(i) == nullptr) stage("in_" + port.member, port);
    }
    for (const TensorPort& port : m_.outputs) stage("out_" + port.member, port);
    w_.Line(StrCat("constexpr size_t bytes = ", end, ";"));
  }

  // Functions that replace host pointers by staged ones, and bring results back.
  void Transfers() {
    const std::string dims = m_.HasSymbols() ? "const symbols &dims, " : "";
    w_.Line(
        "// Copies inputs that are host memory to the device; `in` and `out` point there "
        "afterwards.");
    {
      const auto block = w_.Block(
          StrCat("aotc_status stage(const ", m_.prefix, "_instance *self, ", m_.inputs_type,
                 " *in, ", m_.outputs_type, " *out, ", dims, "struct CUstream_st *stream) {"),
          "}\n");
      w_.Line("uint8_t *staging = (uint8_t *)self->staging;");
      w_.Line("(void)staging, (void)in, (void)out, (void)stream;");
      if (m_.HasSymbols()) w_.Line("(void)dims;");
      for (size_t i = 0; i < m_.inputs.size(); ++i) {
        if (m_.AliasOfInput(i) == nullptr) StageInput(i);
      }
      for (size_t i = 0; i < m_.outputs.size(); ++i) StageOutput(i);
      w_.Line("return AOTC_OK;");
    }
    w_.Line("// Copies outputs from where stage() put them to host memory.");
    const auto block = w_.Block(
        StrCat("aotc_status unstage(const ", m_.prefix, "_instance *self, const ", m_.outputs_type,
               " *from, const ", m_.outputs_type, " *to, ", dims, "struct CUstream_st *stream) {"),
        "}\n");
    w_.Line("(void)self, (void)from, (void)to, (void)stream;");
    if (m_.HasSymbols()) w_.Line("(void)dims;");
    for (size_t i = 0; i < m_.outputs.size(); ++i) {
      const TensorPort& port = m_.outputs[i];
      Transfer(OutputOnHost(i), "to->" + port.member, "from->" + port.member, BytesOf(i));
    }
    w_.Line("return AOTC_OK;");
  }

 private:
  // What is true where an input (output) is host memory, as parts of values always are.
  std::string InputOnHost(size_t index) const {
    if (m_.inputs[index].bundle >= 0) return "true";
    return StrCat("self->inputs_on_host[", m_.GivenOf(index), "]");
  }
  std::string OutputOnHost(size_t index) const {
    if (m_.outputs[index].bundle >= 0) return "true";
    return StrCat("self->outputs_on_host[", m_.TakenOf(index), "]");
  }

  void Transfer(const std::string& condition, const std::string& to, const std::string& from,
                const std::string& bytes) {
    const auto block = w_.Block(StrCat("if (", condition, ") {"));
    w_.Line(StrCat("const aotc_status status = ", m_.prefix, "_device_copy(", to, ", ", from,
                   ", (size_t)(", bytes, "), stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  // Of an output; where it shares its memory, all of that.
  std::string BytesOf(size_t output) const {
    const TensorPort& port = m_.outputs[output];
    return m_.AliasOfOutput(output) == nullptr ? ActualBytes(context_, port.id) : port.macro;
  }

  // What an output shares with an input goes to the device as a whole.
  void StageOutput(size_t index) {
    const TensorPort& port = m_.outputs[index];
    const std::string on_host = OutputOnHost(index);
    const std::string copy = StrCat("(", port.type, " *)(staging + staged::out_", port.member, ")");
    const AliasPort* alias = m_.AliasOfOutput(index);
    if (alias == nullptr) {
      w_.Line(StrCat("if (", on_host, ") out->", port.member, " = ", copy, ";"));
      return;
    }
    w_.Line(StrCat("if (", InputOnHost(static_cast<size_t>(alias->input)), " != ", on_host,
                   ") return AOTC_ERROR_POINTER;"));
    Transfer(on_host, copy, "out->" + port.member, port.macro);
    w_.Line(StrCat("if (", on_host, ") out->", port.member, " = ", copy, ";"));
  }

  void StageInput(size_t index) {
    const TensorPort& port = m_.inputs[index];
    const auto block = w_.Block(StrCat("if (", InputOnHost(index), ") {"));
    w_.Line(
        StrCat(port.type, " *copy = (", port.type, " *)(staging + staged::in_", port.member, ");"));
    w_.Line(StrCat("const aotc_status status = ", m_.prefix, "_device_copy(copy, in->", port.member,
                   ", (size_t)(", ActualBytes(context_, port.id), "), stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
    w_.Line(StrCat("in->", port.member, " = copy;"));
  }

  const EmitContext& context_;
  const ModelInterface& m_;
  CodeWriter& w_;
};

}  // namespace

void EmitStaging(const EmitContext& context, CodeWriter& w) {
  TransferWriter(context, w).Staging();
}

void EmitTransfers(const EmitContext& context, CodeWriter& w) {
  TransferWriter(context, w).Transfers();
}

}  // namespace aotc
