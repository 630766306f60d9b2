// How the emulation reports an error that it finds in a kernel: one line, to a handler that a test
// may replace, and cudaErrorAssert from the launch's stream. Example:
//   aotc_emulation_on_fault = [](const char *message) { puts(message); };
#ifndef AOTC_EMULATION_FAULT_H_
#define AOTC_EMULATION_FAULT_H_

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aotc/emulation/types.h"

typedef void (*aotc_emulation_fault_handler)(const char *message);

static inline void aotc_emulation_print_fault(const char *message) {
  char line[640];
  const int size = snprintf(line, sizeof line, "aotc emulation: %s\n", message);
  const ssize_t written = write(2, line, static_cast<size_t>(size < 0 ? 0 : size));
  (void)written;  // there is no second channel to report on
}

// Called on a host thread of the emulation, once per faulty launch; of the kernels in this file.
static aotc_emulation_fault_handler aotc_emulation_on_fault AOTC_EMULATION_UNUSED =
    aotc_emulation_print_fault;

// A place in the source, as the default arguments of a collective see it.
struct aotc_emulation_site {
  const char *file;
  int line;
  const char *what;  // "barrier", "shuffle" ...
};

static inline bool aotc_emulation_same_site(const aotc_emulation_site &a,
                                            const aotc_emulation_site &b) {
  if (a.line != b.line) return false;
  return (a.file == b.file || strcmp(a.file, b.file) == 0) &&
         (a.what == b.what || strcmp(a.what, b.what) == 0);
}

// The file's name without its folders: messages do not depend on where the output lies.
static inline const char *aotc_emulation_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

#endif  // AOTC_EMULATION_FAULT_H_
