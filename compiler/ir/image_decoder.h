// Images are decoded by a function that the user links to the program: no kernel does that.
//
//   %dims: i64[2] = ImageSize(%bytes) {pixel_format="RGB"}            height and width
//   %n: i64[2] elements(h, w) = DefineSizes(%dims)
//   %pixels: u8[h, w, 3] = ImagePixels(%bytes, %n) {pixel_format="RGB"}
//
// Both are ours, made of ONNX ImageDecoder. They are host ops: they have a type, and no text that
// says what they compute. Nothing folds or fuses them, and each is a step (kDecode) of the program,
// which calls
//
//   int32_t aotc_decode_image(const void *bytes, size_t size, const char *pixel_format,
//                             void *pixels, size_t capacity, int64_t dims[3]);
//
// docs/output-format.md has its contract.
#ifndef AOTC_COMPILER_IR_IMAGE_DECODER_H_
#define AOTC_COMPILER_IR_IMAGE_DECODER_H_

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace aotc {

inline constexpr std::string_view kImageSize = "ImageSize";
inline constexpr std::string_view kImagePixels = "ImagePixels";
inline constexpr const char kPixelFormat[] = "pixel_format";
inline constexpr std::string_view kDecodeImage = "aotc_decode_image";

// All host ops there are.
inline bool IsHostOp(const Node& node) { return node.op == kImageSize || node.op == kImagePixels; }

inline int64_t ChannelsOf(std::string_view pixel_format) {
  return pixel_format == "Grayscale" ? 1 : 3;
}

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_IMAGE_DECODER_H_
