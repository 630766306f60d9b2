// Host ops (ir/image_decoder.h) in the evaluator: by a function that is registered, or not at all.
//
//   RegisterImageDecoder(aotc_decode_image);   // of tests, which link a decoder
#ifndef AOTC_COMPILER_EVAL_IMAGE_DECODER_H_
#define AOTC_COMPILER_EVAL_IMAGE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/graph.h"

namespace aotc {

// The function that programs call: docs/output-format.md.
using ImageDecoder = int32_t (*)(const void* bytes, size_t size, const char* pixel_format,
                                 void* pixels, size_t capacity, int64_t dims[3]);

// For all that is evaluated from then on; before any thread evaluates.
void RegisterImageDecoder(ImageDecoder decoder);

// The output of a host op. Unimplemented where there is no decoder, OutOfRange where it gives up on
// the bytes.
absl::StatusOr<std::vector<Constant>> EvaluateHostOp(
    const Node& node, const std::vector<std::optional<Constant>>& inputs);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_IMAGE_DECODER_H_
