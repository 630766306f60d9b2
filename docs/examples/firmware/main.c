/* Says which word a second of sound is, of those that the model knows. */
#include <stdalign.h>

#include "net.h"
#include "semihosting.h"

enum { kFeatures = 490, kWords = 12 };

static const char* const kNames[kWords] = {"down",  "go",   "left", "no",  "off",     "on",
                                           "right", "stop", "up",   "yes", "silence", "unknown"};

static alignas(NET_ARENA_ALIGN) unsigned char arena[NET_ARENA_BYTES];
static float features[kFeatures]; /* 49 moments of 10 coefficients */
static float scores[kWords];

int main(void) {
  if (!host_transfer("input.bin", 0, features, sizeof features)) {
    host_print("no file input.bin of 490 floats\n");
    return 1;
  }
  const net_inputs in = {features};
  net_outputs out = {scores};
  const aotc_status status = net_run(&in, &out, arena);
  if (status != AOTC_OK) {
    host_print("the model did not run\n");
    return 1;
  }
  int best = 0;
  for (int i = 1; i < kWords; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  host_print(kNames[best]);
  host_print("\n");
  return host_transfer("output.bin", 1, scores, sizeof scores) ? 0 : 1;
}
