#include "compiler/eval/image_decoder.h"

#include <string>
#include <utility>

#include "compiler/ir/image_decoder.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

ImageDecoder& Registered() {
  static ImageDecoder decoder = nullptr;
  return decoder;
}

absl::Status NoImage() {
  return absl::FailedPreconditionError("the bytes are no image that is decoded");
}

}  // namespace

void RegisterImageDecoder(ImageDecoder decoder) { Registered() = decoder; }

absl::StatusOr<std::vector<Constant>> EvaluateHostOp(
    const Node& node, const std::vector<std::optional<Constant>>& inputs) {
  const ImageDecoder decode = Registered();
  if (decode == nullptr) {
    return AOTC_REFUSAL(Unimplemented, StrCat("aotc itself decodes no images: the program that "
                                              "runs the model links ",
                                              kDecodeImage));
  }
  const Constant bytes = inputs[0]->Expanded();
  const size_t size = bytes.bytes().size();
  const std::string format = node.attributes.String(kPixelFormat, "RGB");
  int64_t dims[3] = {};
  if (decode(bytes.bytes().data(), size, format.c_str(), nullptr, 0, dims) != 0) return NoImage();
  if (node.op == kImageSize) return std::vector<Constant>{Constant::Ints({dims[0], dims[1]})};
  std::vector<uint8_t> pixels(static_cast<size_t>(dims[0] * dims[1] * ChannelsOf(format)));
  const int32_t failed =
      decode(bytes.bytes().data(), size, format.c_str(), pixels.data(), pixels.size(), dims);
  if (failed != 0 || dims[2] != ChannelsOf(format)) return NoImage();
  return std::vector<Constant>{
      Constant::Dense(DType::kU8, {dims[0], dims[1], dims[2]}, std::move(pixels))};
}

}  // namespace aotc
