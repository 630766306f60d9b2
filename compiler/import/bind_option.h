// The flag that gives a value to an input or an initializer.
//
//   *ParseBindOption("anchors=data/anchors.npy");    // {"anchors", "data/anchors.npy"}
//
// Names may contain anything but `=`.
#ifndef AOTC_COMPILER_IMPORT_BIND_OPTION_H_
#define AOTC_COMPILER_IMPORT_BIND_OPTION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace aotc {

struct BindOption {
  std::string name = {};  // of an input or an initializer of the graph
  std::string path = {};  // ending in .pb: a serialized TensorProto; else in numpy's format
};

// The error names the flag and its grammar.
absl::StatusOr<BindOption> ParseBindOption(std::string_view text);

// The same text with the file's name in place of its path: what outputs say of the flag.
std::string WithoutFolder(const BindOption& option);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_BIND_OPTION_H_
