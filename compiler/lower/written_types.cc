#include "compiler/lower/written_types.h"

#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status NotWritten(const Kernel& kernel, std::string_view name, DType dtype) {
  return absl::UnimplementedError(StrCat(StrJoin(kernel.sources, " + "), ": '", name,
                                         "' has elements of type ", DTypeName(dtype),
                                         ", which compiled models read, but do not write"));
}

}  // namespace

absl::Status CheckWrittenTypes(const Kernel& kernel) {
  for (const KernelTensor& tensor : kernel.tensors) {
    if (tensor.role != TensorRole::kOutput || !IsSubByte(tensor.dtype)) continue;
    return NotWritten(kernel, tensor.name, tensor.dtype);
  }
  return absl::OkStatus();
}

absl::Status CheckWrittenTypes(const ProgramKernel& kernel) {
  absl::Status status;
  for (const KernelVariant& variant : kernel.variants) {
    VisitStmts(variant.loops.body, [&](const Stmt& stmt) {
      if (stmt.kind() != StmtKind::kStore) return;
      const LoopBuffer& buffer = variant.loops.buffers[stmt->buffer];
      if (!IsSubByte(buffer.dtype)) return;
      status = NotWritten(kernel.kernel, buffer.name, buffer.dtype);
    });
  }
  return status;
}

}  // namespace aotc
