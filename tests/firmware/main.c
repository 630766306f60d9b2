/* Runs any model on a board by its table: file input0.bin ... in, file output0.bin ... out. */
#include <stdalign.h>

#include "net.h"
#include "semihosting.h"

enum { kMost = 8 };

static alignas(64) unsigned char memory[448 * 1024]; /* less than the smallest board has */
static size_t taken;

static void* take(size_t bytes) {
  void* place = memory + taken;
  taken += (bytes + 63) / 64 * 64;
  if (taken > sizeof memory) {
    host_print("no memory left\n");
    host_exit(1);
  }
  return place;
}

static void name_of(char* name, const char* stem, int number) {
  while (*stem != '\0') *name++ = *stem++;
  *name++ = (char)('0' + number);
  for (const char* end = ".bin"; *end != '\0'; ++end) *name++ = *end;
  *name = '\0';
}

static aotc_tensor tensor_of(const aotc_value_info* info) {
  aotc_tensor tensor = {take(info->max_bytes), info->max_bytes, {0}, info->rank, info->dtype};
  for (int axis = 0; axis < info->rank; ++axis) tensor.dims[axis] = info->max_dims[axis];
  return tensor;
}

int main(void) {
  static aotc_value inputs[kMost], outputs[kMost];
  char name[16];
  const aotc_model* model = net_model();
  for (int i = 0; i < model->input_count; ++i) {
    inputs[i].tensor = tensor_of(&model->inputs[i]);
    name_of(name, "input", i);
    if (!host_transfer(name, 0, inputs[i].tensor.data, model->inputs[i].max_bytes)) return 2;
  }
  for (int i = 0; i < model->output_count; ++i) outputs[i].tensor = tensor_of(&model->outputs[i]);
  void* arena = take(model->arena_bytes);
  const aotc_status status = model->run(take(model->instance_bytes), inputs, outputs, arena, NULL);
  if (status != AOTC_OK) {
    host_print(model->status_text(status));
    host_print("\n");
    return 3;
  }
  for (int i = 0; i < model->output_count; ++i) {
    name_of(name, "output", i);
    if (!host_transfer(name, 1, outputs[i].tensor.data, model->outputs[i].max_bytes)) return 4;
  }
  return 0;
}
