#include "compiler/support/embedded_files.h"

namespace aotc {

const EmbeddedFile* FindEmbeddedFile(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

}  // namespace aotc
