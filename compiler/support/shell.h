// Commands as a user pastes them into a shell.
//
//   ShellCommand({"aotc", "my net.onnx", "--dim", "n=1..8"})   // aotc 'my net.onnx' --dim n=1..8
#ifndef AOTC_COMPILER_SUPPORT_SHELL_H_
#define AOTC_COMPILER_SUPPORT_SHELL_H_

#include <string>
#include <string_view>
#include <vector>

namespace aotc {

// One word of a POSIX shell: in single quotes where a shell would read more into it than the text.
std::string ShellWord(std::string_view text);
std::string ShellCommand(const std::vector<std::string>& words);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_SHELL_H_
