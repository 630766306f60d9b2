#include "compiler/emit/host_decode.h"

#include <algorithm>

#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool IsSize(const EmitContext& context, const Step& step) {
  return context.program.buffers[step.args[1]].dtype == DType::kI64;
}

}  // namespace

bool DecodesImages(const Program& program) {
  return std::ranges::any_of(program.steps,
                             [](const Step& step) { return step.kind == StepKind::kDecode; });
}

void EmitDecode(const EmitContext& context, const Step& step, CodeWriter& w) {
  const std::string given =
      StrCat(BufferPointer(context, step.args[0], false), ", (size_t)(",
             ActualBytes(context, step.args[0]), "), ", QuotedText(step.pixel_format), ", ",
             BufferPointer(context, step.args[1], true));
  const std::string one = context.HasThreads() ? "if (worker == 0) " : "";
  if (IsSize(context, step)) {
    w.Line(StrCat(one, "aotc_image_size(", given, ");"));
    return;
  }
  const auto block = w.Block(one + "{");
  w.Line(StrCat("const aotc_status status = aotc_image_pixels(", given, ", (size_t)(",
                ActualBytes(context, step.args[1]), "));"));
  w.Line("if (status != AOTC_OK) self->status = status;");
}

void EmitDecodeOnHost(CodeWriter& w) {
  w.Emit(R"(
    // Decodes on the host what lies on the device, in memory of the host that it takes meanwhile.
    aotc_status decode_image(void *to, size_t room, bool is_size, const void *from, size_t bytes,
                             const char *pixel_format, struct CUstream_st *stream) {
      const size_t start = (bytes + sizeof(int64_t)) / sizeof(int64_t) * sizeof(int64_t);
      uint8_t *memory = (uint8_t *)malloc(start + room);
      if (memory == nullptr) return AOTC_ERROR_CAPACITY;
      uint8_t *made = memory + start;
      aotc_status status = read_back(memory, from, bytes, stream);
      if (status == AOTC_OK && is_size) {
        aotc_image_size(memory, bytes, pixel_format, (int64_t *)made);
      } else if (status == AOTC_OK) {
        status = aotc_image_pixels(memory, bytes, pixel_format, made, room);
      }
      if (status == AOTC_OK) status = read_back(to, made, room, stream);
      free(memory);
      return status;
    }
    )");
  w.Line();
}

void EmitCallOfDecode(const EmitContext& context, const Step& step, CodeWriter& w) {
  w.Emit(R"(
    status = decode_image($to$, (size_t)($room$), $is_size$, $from$, (size_t)($bytes$),
                          $format$, stream);
    if (status != AOTC_OK) return status;)",
         {{"to", BufferPointer(context, step.args[1], true)},
          {"room", ActualBytes(context, step.args[1])},
          {"is_size", IsSize(context, step) ? "true" : "false"},
          {"from", BufferPointer(context, step.args[0], false)},
          {"bytes", ActualBytes(context, step.args[0])},
          {"format", QuotedText(step.pixel_format)}});
}

}  // namespace aotc
