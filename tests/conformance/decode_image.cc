// aotc_decode_image by FreeImage: bmp, jpeg, jpeg 2000, png, pnm, tiff, webp and more.
#include "aotc/decode_image.h"

#include <FreeImage.h>

#include <memory>
#include <string_view>

namespace {

using Bitmap = std::unique_ptr<FIBITMAP, decltype(&FreeImage_Unload)>;

// As ITU-R 601 has it, in 16 bits, rounded.
uint8_t Grey(const RGBQUAD& color) {
  return (uint8_t)((color.rgbRed * 19595u + color.rgbGreen * 38470u + color.rgbBlue * 7471u +
                    0x8000u) >>
                   16);
}

void Write(const RGBQUAD& color, std::string_view format, uint8_t* to) {
  if (format == "Grayscale") {
    to[0] = Grey(color);
    return;
  }
  to[0] = format == "BGR" ? color.rgbBlue : color.rgbRed;
  to[1] = color.rgbGreen;
  to[2] = format == "BGR" ? color.rgbRed : color.rgbBlue;
}

Bitmap Decoded(const void* bytes, size_t size) {
  FIMEMORY* memory = FreeImage_OpenMemory((BYTE*)const_cast<void*>(bytes), (DWORD)size);
  const FREE_IMAGE_FORMAT format = FreeImage_GetFileTypeFromMemory(memory, 0);
  const int flags = format == FIF_JPEG ? JPEG_ACCURATE : 0;
  Bitmap any(format == FIF_UNKNOWN ? nullptr : FreeImage_LoadFromMemory(format, memory, flags),
             FreeImage_Unload);
  FreeImage_CloseMemory(memory);
  return Bitmap(any == nullptr ? nullptr : FreeImage_ConvertTo24Bits(any.get()), FreeImage_Unload);
}

}  // namespace

extern "C" int32_t aotc_decode_image(const void* bytes, size_t size, const char* pixel_format,
                                     void* pixels, size_t capacity, int64_t dims[3]) {
  const Bitmap image = Decoded(bytes, size);
  if (image == nullptr) return 1;
  const std::string_view format = pixel_format;
  const unsigned height = FreeImage_GetHeight(image.get()), width = FreeImage_GetWidth(image.get());
  const unsigned channels = format == "Grayscale" ? 1 : 3;
  dims[0] = height;
  dims[1] = width;
  dims[2] = channels;
  if (pixels == nullptr) return 0;
  if (capacity < (size_t)height * width * channels) return 1;
  uint8_t* to = (uint8_t*)pixels;
  for (unsigned y = height; y-- > 0;) {  // from the bottom, as FreeImage counts them
    for (unsigned x = 0; x < width; ++x, to += channels) {
      RGBQUAD color;
      if (!FreeImage_GetPixelColor(image.get(), x, y, &color)) return 1;
      Write(color, format, to);
    }
  }
  return 0;
}
