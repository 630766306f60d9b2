// What differs between the host programs of targets. Each target makes one; the rest of emit/ asks
// it and knows no target by name.
//
//   EmitOptions options{.host = CpuHost()};
//   OutputFiles files = *EmitOutput(program, options);
#ifndef AOTC_COMPILER_EMIT_HOST_WRITER_H_
#define AOTC_COMPILER_EMIT_HOST_WRITER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/support/code_writer.h"

namespace aotc {

struct EmitContext;  // parts.h

// Contents by path, relative to the output folder.
using OutputFiles = std::map<std::string, std::string>;

struct HostWriter {
  using Part = std::function<void(const EmitContext& context, CodeWriter& w)>;

  std::string target = {};    // its name, for metadata.json
  std::string machines = {};  // what the model is compiled for: "CPUs"
  // Kernels and arena are those of a device, and the host waits where it needs what lies there.
  bool has_device = false;

  // Of NAME.h: how to use it, as lines of its first comment; macros behind the arena's sizes; the
  // functions.
  std::function<std::string(const EmitContext& context)> usage = {};
  Part sizes = {};
  Part functions = {};

  // Of NAME.h where runs tell of their steps: the line that includes what that takes.
  std::string profile_header = {};

  // NAME.cpp and what else is the host's, not laid out yet.
  std::function<absl::StatusOr<OutputFiles>(const EmitContext& context)> sources = {};

  // Of CMakeLists.txt: what it takes besides a C++17 compiler (", the CUDA toolkit,"), lines in
  // front of the library for these sources, and lines behind it.
  std::string toolkit = {};
  std::function<void(const std::vector<std::string>& sources, CodeWriter& w)> language = {};
  Part properties = {};
};

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_HOST_WRITER_H_
