#include "tests/host_library/host_library.h"

#include <dlfcn.h>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"

namespace aotc {

absl::StatusOr<std::string> RunTool(const std::vector<std::string>& argv) {
  AOTC_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess({.argv = argv}));
  if (result.exit_code == 0) return result.output;
  return absl::InternalError(StrCat(StrJoin(argv, " "), ":\n", result.output));
}

absl::StatusOr<HostLibrary> HostLibrary::Load(const std::string& path) {
  HostLibrary library;
  library.handle_ =
      std::shared_ptr<void>(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
        if (handle != nullptr) dlclose(handle);
      });
  if (library.handle_ == nullptr) return absl::InternalError(dlerror());
  return library;
}

void* HostLibrary::Symbol(const std::string& name) const {
  return dlsym(handle_.get(), name.c_str());
}

}  // namespace aotc
