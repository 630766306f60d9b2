// The parts of a CUDA model's host program that are about its weights.
#include "compiler/emit/host_parts.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

// Lines of create() that leave the data of the weights in `blob`.
std::string FindBlob(const EmitContext& context) {
  CodeWriter w;
  if (context.LoadsWeights()) {
    w.Emit(R"(
      if (given.weights == nullptr || given.weights->data == nullptr) return AOTC_ERROR_WEIGHTS;
      const uint8_t *blob = (const uint8_t *)given.weights->data;)");
  } else {
    w.Emit(R"(
      const uint8_t *blob = $name$_weights_blob;
      if (!aotc_weights_match(blob, $size$, $hash$)) return AOTC_ERROR_WEIGHTS;)",
           {{"name", context.interface.prefix},
            {"size", StrCat(context.program.weights.size(), "u")},
            {"hash", HashLiteral(context.weights_hash)}});
  }
  std::string text = w.Take();
  text.pop_back();
  return text;
}

}  // namespace

void EmitCudaLoad(const EmitContext& context, CodeWriter& w) {
  w.Emit(R"(
    aotc_status $name$_load($name$_weights *weights, const void *data, size_t bytes) {
      if (weights == nullptr) return AOTC_ERROR_POINTER;
      const aotc_status status = aotc_weights_check(data, bytes, $size$, $hash$);
      weights->data = status == AOTC_OK ? data : nullptr;
      return status;
    })",
         {{"name", context.interface.prefix},
          {"size", StrCat(context.program.weights.size(), "u")},
          {"hash", HashLiteral(context.weights_hash)}});
  w.Line();
}

std::string BringCudaWeights(const EmitContext& context) {
  if (!context.HasWeights()) return "";
  CodeWriter w;
  w.Emit(R"(
    if (given.share_weights != nullptr) {
      self->device_weights = given.share_weights->device_weights;
    } else {
      $find$
      status = $name$_device_allocate(&self->device_weights, $size$);
      if (status == AOTC_OK) {
        self->owns_weights = 1;
        status = $name$_device_copy(self->device_weights, blob + AOTC_WEIGHTS_HEADER_BYTES, $size$,
                                    nullptr);
      }
      if (status == AOTC_OK) status = $name$_device_wait(nullptr);
    })",
         {{"name", context.interface.prefix},
          {"find", FindBlob(context)},
          {"size", StrCat(context.program.weights.size(), "u")}});
  std::string text = w.Take();
  text.pop_back();
  return text;
}

}  // namespace aotc
