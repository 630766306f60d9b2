/* Images that a model decodes (ONNX ImageDecoder), by a function of its user.
 *
 *   int32_t aotc_decode_image(...) { ... libjpeg, FreeImage, what you have ... }
 */
#ifndef AOTC_DECODE_IMAGE_H_
#define AOTC_DECODE_IMAGE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "aotc/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* You write and link this one, for all models of a program. It decodes the file of `size` bytes.
 *
 * pixel_format: "RGB", "BGR" (3 channels) or "Grayscale" (1).
 * dims: set to height, width and channels, in each call.
 * pixels: NULL where only dims are asked for; else room for `capacity` bytes, which get the rows
 *     from the top, each pixel its channels, one byte per channel.
 *
 * Returns 0, or another number where the bytes are no image that it knows or the pixels do not fit:
 * the run then ends with AOTC_ERROR_VALUE. Several threads may call it at once. */
int32_t aotc_decode_image(const void *bytes, size_t size, const char *pixel_format, void *pixels,
                          size_t capacity, int64_t dims[3]);

#ifdef __cplusplus
}
#endif

static inline int64_t aotc_image_channels(const char *pixel_format) {
  return strcmp(pixel_format, "Grayscale") == 0 ? 1 : 3;
}

/* height_width: -1 and -1 where the bytes are no image. */
static inline void aotc_image_size(const void *bytes, size_t size, const char *pixel_format,
                                   int64_t *height_width) {
  int64_t dims[3] = {-1, -1, -1};
  const int32_t failed = aotc_decode_image(bytes, size, pixel_format, NULL, 0, dims);
  const int good = failed == 0 && dims[2] == aotc_image_channels(pixel_format);
  height_width[0] = good ? dims[0] : -1;
  height_width[1] = good ? dims[1] : -1;
}

/* `capacity` is what the size that was found before takes. */
static inline aotc_status aotc_image_pixels(const void *bytes, size_t size,
                                            const char *pixel_format, void *pixels,
                                            size_t capacity) {
  int64_t dims[3] = {-1, -1, -1};
  if (capacity == 0) return AOTC_OK;
  const int32_t failed = aotc_decode_image(bytes, size, pixel_format, pixels, capacity, dims);
  const int same = dims[0] > 0 && dims[1] > 0 && dims[2] > 0 &&
                   (size_t)dims[0] * (size_t)dims[1] * (size_t)dims[2] == capacity;
  return failed == 0 && same ? AOTC_OK : AOTC_ERROR_VALUE;
}

#endif /* AOTC_DECODE_IMAGE_H_ */
