// Text of the CUDA target's kernel files.
#include <set>

#include "compiler/emit/c_expr.h"
#include "compiler/emit/c_loops.h"
#include "compiler/emit/kernel_comment.h"
#include "compiler/support/rounding.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/cuda/tiles.h"

namespace aotc {
namespace {

// Parameters of the kernel, and of its launcher as C sees them; the lines in the kernel that give
// small floats their types.
struct Signature {
  std::string kernel_params;
  std::string launch_params;
  std::string args;  // of the kernel, in its launcher
  std::string prologue;
  int64_t dynamic_bytes = 0;  // of shared memory that the launch asks for
};

int64_t SharedBytesOf(const LoopBuffer& buffer) {
  return RoundUp(buffer.elements * ByteWidth(buffer.dtype), kSharedAlign);
}

std::string SharedBuffer(const LoopBuffer& buffer, bool dynamic, int64_t offset) {
  const std::string type = CElementType(buffer.dtype);
  if (!dynamic)
    return StrCat("AOTC_SHARED(", type, ", ", buffer.name, ", ", buffer.elements, ");\n");
  return StrCat("AOTC_SHARED_POINTER(", type, ") const ", buffer.name, " = aotc_shared_cast<", type,
                ">(shared_memory + ", offset, ");\n");
}

// The parameters of symbols, which all launchers take as int64_t and kernels as they count.
void AddSymbols(const LoopFunction& function, Signature& signature) {
  const std::string type = CValueType(function.index);
  const std::string cast = function.index == DType::kI64 ? "" : StrCat("(", type, ")");
  for (const Symbol& symbol : function.symbols) {
    StrAppend(&signature.kernel_params, type, " ", symbol.var, ", ");
    StrAppend(&signature.launch_params, "int64_t ", symbol.var, ", ");
    StrAppend(&signature.args, cast, symbol.var, ", ");
    StrAppend(&signature.prologue, "(void)", symbol.var, ";\n");
  }
}

Signature SignatureOf(const LoopFunction& function) {
  Signature signature;
  for (TensorId id : function.params) {
    const LoopBuffer& buffer = function.buffers[id];
    const char* constness = buffer.written ? "" : "const ";
    const bool small = CInterfaceType(buffer.dtype) != CElementType(buffer.dtype);
    const std::string outside = small ? buffer.name + "_bits" : buffer.name;
    StrAppend(&signature.kernel_params, constness, CInterfaceType(buffer.dtype), " *", outside,
              ", ");
    StrAppend(&signature.args, outside, ", ");
    if (!small) continue;
    const std::string type = StrCat(constness, CElementType(buffer.dtype), " *");
    StrAppend(&signature.prologue, type, buffer.name, " = (", type, ")", outside, ";\n");
  }
  signature.launch_params = signature.kernel_params;
  AddSymbols(function, signature);
  for (TensorId id : UnusedParams(function))
    StrAppend(&signature.prologue, "(void)", function.buffers[id].name, ";\n");
  const int64_t shared = SharedBytes(function);
  if (shared > kSharedOfEveryBlock) {
    signature.dynamic_bytes = shared;
    StrAppend(&signature.prologue, "AOTC_DYNAMIC_SHARED(unsigned char, shared_memory);\n");
  }
  int64_t offset = 0;  // of the next buffer in the dynamic block
  for (const LoopBuffer& buffer : function.buffers) {
    if (buffer.elements == 0) continue;
    const std::string type = CElementType(buffer.dtype);
    if (buffer.place == BufferPlace::kLocal) {
      StrAppend(&signature.prologue, type, " ", buffer.name, "[", buffer.elements, "] = {};\n");
    }
    if (buffer.place == BufferPlace::kShared) {
      StrAppend(&signature.prologue, SharedBuffer(buffer, signature.dynamic_bytes > 0, offset));
      offset += SharedBytesOf(buffer);
    }
  }
  return signature;
}

// Loops that are dealt out to threads name `thread`, those over the grid `task` too.
bool Uses(const LoopFunction& function, std::string_view name) {
  bool uses = false;
  VisitExprs(function.body, [&](const Expr& e) { uses |= UsesVar(e, name); });
  VisitStmts(function.body, [&](const Stmt& stmt) {
    if (stmt.kind() != StmtKind::kFor || stmt->loop == LoopKind::kSerial) return;
    uses |= stmt->loop == LoopKind::kGrid || (stmt->loop == LoopKind::kThread && name == "thread");
  });
  return uses;
}

std::string EmitKernel(const ProgramKernel& kernel, const KernelVariant& variant,
                       std::string_view symbol, std::set<std::string>& headers) {
  const LoopFunction& function = variant.loops;
  const CKernelText text = EmitTaskBody(
      function,
      {.object_qualifier = "AOTC_MEMBER", .barrier = "aotc_syncthreads()", .tiles = CudaTiles()});
  headers.insert(text.headers.begin(), text.headers.end());
  Signature s = SignatureOf(function);
  std::string kernel_params = s.kernel_params.substr(0, s.kernel_params.size() - 2),
              kernel_args = s.args.substr(0, s.args.size() - 2);
  std::string result = KernelComment(kernel, variant);
  if (!text.objects.empty())
    StrAppend(&result, "namespace {\n", text.objects, "}  // namespace\n\n");
  StrAppend(&result, "static __global__ void __launch_bounds__(", function.threads, ") ", symbol,
            "_kernel(", kernel_params, ") {\n", s.prologue);
  const std::string index = CValueType(function.index);
  for (const auto& [name, number] : {std::pair("task", "blockIdx.x"), {"thread", "threadIdx.x"}}) {
    if (!Uses(function, name)) continue;
    const std::string cast = function.index == DType::kI64 ? "" : StrCat("(", index, ")");
    StrAppend(&result, "const ", index, " ", name, " = ", cast, number, ";\n");
  }
  StrAppend(&result, text.body, "}\n\n");
  const std::string params = StrCat(s.launch_params, "int64_t tasks, struct CUstream_st *stream");
  StrAppend(&result, "extern \"C\" __attribute__((visibility(\"hidden\"))) aotc_status ", symbol,
            "(", params, ") {\n", "const aotc_launch_config config = {{(uint32_t)tasks, 1, 1}, {",
            function.threads, ", 1, 1}, ", s.dynamic_bytes, ", stream, \"", symbol, "\"};\n",
            "return aotc_cuda_status(aotc_launch(config, ", symbol, "_kernel, ", kernel_args,
            "));\n}\n\n");
  return result;
}

}  // namespace

int64_t SharedBytes(const LoopFunction& function) {
  int64_t bytes = 0;
  for (const LoopBuffer& buffer : function.buffers) {
    if (buffer.place == BufferPlace::kShared) bytes += SharedBytesOf(buffer);
  }
  return bytes;
}

std::string CudaSymbol(std::string_view prefix, const ProgramKernel& kernel,
                       const KernelVariant& variant) {
  const bool alone = kernel.variants.size() == 1;
  return StrCat(prefix, "_", alone ? kernel.kernel.name : variant.loops.name);
}

std::string EmitCudaKernels(const std::vector<const ProgramKernel*>& kernels,
                            std::string_view prefix) {
  std::set<std::string> headers;
  std::string bodies;
  for (const ProgramKernel* kernel : kernels) {
    for (const KernelVariant& variant : kernel->variants) {
      StrAppend(&bodies,
                EmitKernel(*kernel, variant, CudaSymbol(prefix, *kernel, variant), headers));
    }
  }
  std::string text = StrCat("// CUDA kernels of ", prefix,
                            ".\n#include \"aotc/cuda.h\"\n#include \"aotc/scalar_math.h\"\n");
  for (const std::string& header : headers) StrAppend(&text, "#include \"aotc/", header, "\"\n");
  StrAppend(&text, "\n", bodies);
  return text;
}

std::vector<KernelFile> CudaKernelFiles(const Program& program) {
  constexpr size_t kKernelsPerFile = 20;
  std::vector<KernelFile> files;
  std::vector<const ProgramKernel*> kernels;
  for (KernelId id : program.kernels.ids()) {
    kernels.push_back(&program.kernels[id]);
    const bool last = static_cast<size_t>(id.index()) + 1 == program.kernels.size();
    if (kernels.size() < kKernelsPerFile && !last) continue;
    files.push_back({StrCat(program.name, "_kernels_", files.size(), ".cu"),
                     EmitCudaKernels(kernels, program.name)});
    kernels.clear();
  }
  return files;
}

}  // namespace aotc
