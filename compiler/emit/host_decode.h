// Steps of kind kDecode in the text of host programs: calls of runtime-lite/aotc/decode_image.h.
//
//   if (DecodesImages(program)) w.Line("#include \"aotc/decode_image.h\"");
//   EmitDecode(context, step, w);     // a block of one worker
#ifndef AOTC_COMPILER_EMIT_HOST_DECODE_H_
#define AOTC_COMPILER_EMIT_HOST_DECODE_H_

#include "compiler/emit/parts.h"
#include "compiler/ir/program.h"
#include "compiler/support/code_writer.h"

namespace aotc {

bool DecodesImages(const Program& program);

// On the CPU: worker 0 decodes, and sets self->status where that fails.
void EmitDecode(const EmitContext& context, const Step& step, CodeWriter& w);

// On a device: decode_image(), which brings bytes to the host and pixels to the device, and a call.
void EmitDecodeOnHost(CodeWriter& w);
void EmitCallOfDecode(const EmitContext& context, const Step& step, CodeWriter& w);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_HOST_DECODE_H_
