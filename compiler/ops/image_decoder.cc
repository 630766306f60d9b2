// ImageDecoder: an image file in memory as pixels, by a function of the user. The ops of ours that
// it is made of are host ops (ir/image_decoder.h): what is built here gives them types and sizes,
// and says that they read all bytes; it is never computed.
#include "compiler/ir/image_decoder.h"

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// [dims]: some float that depends on every byte, so that nothing is known of the result.
absl::StatusOr<Tensor> OfAllBytes(OpContext& op, const Shape& dims) {
  AOTC_ASSIGN_OR_RETURN(const Tensor bytes, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(bytes, 1, 1));
  if (bytes.dtype() != DType::kU8)
    return AOTC_REFUSAL(InvalidArgument, "decodes bytes (uint8) only");
  return op.b().Reduce(
      "sum", DType::kF32, dims, Shape(bytes.shape()),
      [&](const Indices&, const Indices& r) { return Cast(DType::kF32, bytes(r)); });
}

// bytes: u8[n] -> i64[2], height and width; -1 where the bytes are no image
absl::Status ImageSize(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor any, OfAllBytes(op, {2}));
  op.SetOutput(0, op.b().Compute(DType::kI64, {2},
                                 [&](const Indices& i) { return Cast(DType::kI64, any(i)); }));
  return absl::OkStatus();
}

// bytes: u8[n]; size: i64[2] -> u8[height, width, channels]
absl::Status ImagePixels(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> size, op.IntElements(1));
  if (size.size() != 2) return absl::InternalError("needs a height and a width");
  const Shape dims = {op.Size(Max(size[0], 0), 0, 0), op.Size(Max(size[1], 0), 0, 1),
                      ChannelsOf(op.attributes().String(kPixelFormat, "RGB"))};
  for (const Expr& extent : size) {
    AOTC_RETURN_IF_ERROR(op.Require(Le(0, extent), "the bytes are no image that is decoded"));
  }
  AOTC_ASSIGN_OR_RETURN(const Tensor any, OfAllBytes(op, dims));
  op.SetOutput(0, op.b().Compute(DType::kU8, dims,
                                 [&](const Indices& i) { return Cast(DType::kU8, any(i)); }));
  return absl::OkStatus();
}

// ONNX ImageDecoder, opset 20.
absl::Status ImageDecoder(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const std::string format = e.attributes().String(kPixelFormat, "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown pixel_format '", format, "'"));
  }
  const Expansion::NamedValues attributes = {{kPixelFormat, format}};
  const ValueId size = e.Emit(kImageSize, {e.Input(0)}, attributes);
  e.SetOutput(0, e.Emit(kImagePixels, {e.Input(0), size}, attributes));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ImageDecoder",
     .expand = ImageDecoder,
     .summary = "pixels of an image file, by a function that the user links"},
    {.name = kImagePixels,
     .compute = ImagePixels,
     .summary = "pixels of an image, from the host",
     .traits = kOwn},
    {.name = kImageSize,
     .compute = ImageSize,
     .summary = "height and width of an image, from the host",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> ImageDecoderOps() { return kOps; }

}  // namespace aotc
