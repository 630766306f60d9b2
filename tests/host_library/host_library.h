// What the host's compilers build, loaded into a test.
//
//   AOTC_RETURN_IF_ERROR(RunTool({"g++", "-shared", ..., "-o", path}).status());
//   AOTC_ASSIGN_OR_RETURN(HostLibrary library, HostLibrary::Load(path));
//   auto run = library.Find<void (*)(int)>("run");
#ifndef AOTC_TESTS_HOST_LIBRARY_HOST_LIBRARY_H_
#define AOTC_TESTS_HOST_LIBRARY_HOST_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

// What the command printed. Error: it failed; the command and what it printed.
absl::StatusOr<std::string> RunTool(const std::vector<std::string>& argv);

// Stays loaded as long as a copy of it lives.
class HostLibrary {
 public:
  HostLibrary() = default;  // none
  // Error: what the loader says.
  static absl::StatusOr<HostLibrary> Load(const std::string& path);

  // Null where it has no such function.
  template <class Function>
  Function Find(const std::string& name) const {
    return reinterpret_cast<Function>(Symbol(name));
  }

 private:
  void* Symbol(const std::string& name) const;

  std::shared_ptr<void> handle_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_HOST_LIBRARY_HOST_LIBRARY_H_
