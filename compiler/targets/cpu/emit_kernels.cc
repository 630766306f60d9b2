// Text of the CPU target's kernel files.
#include <algorithm>
#include <set>

#include "compiler/emit/c_expr.h"
#include "compiler/emit/c_loops.h"
#include "compiler/emit/kernel_comment.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cpu/tiles.h"

namespace aotc {
namespace {

// Its elements have a type inside of kernels that C does not know.
bool IsSmallFloat(DType dtype) { return CElementType(dtype) != CInterfaceType(dtype); }

// Parameters of the kernel as the host sees them, and lines that give them their names inside.
struct Signature {
  std::string params;
  std::string prologue;
};

Signature SignatureOf(const LoopFunction& function) {
  Signature signature;
  for (TensorId id : function.params) {
    const LoopBuffer& buffer = function.buffers[id];
    const char* constness = buffer.written ? "" : "const ";
    const std::string outside = IsSmallFloat(buffer.dtype) ? buffer.name + "_bits" : buffer.name;
    StrAppend(&signature.params, constness, CInterfaceType(buffer.dtype), " *", outside, ", ");
    if (outside != buffer.name) {
      const std::string type = StrCat(constness, CElementType(buffer.dtype), " *");
      StrAppend(&signature.prologue, type, buffer.name, " = (", type, ")", outside, ";\n");
    }
  }
  for (const Symbol& symbol : function.symbols)
    StrAppend(&signature.params, "int64_t ", symbol.var, ", ");
  StrAppend(&signature.params, "int64_t task_begin, int64_t task_end, void *scratch");
  bool uses_scratch = false;
  for (const LoopBuffer& buffer : function.buffers) {
    if (buffer.place != BufferPlace::kScratch || buffer.elements == 0) continue;
    uses_scratch = true;
    const std::string type = CElementType(buffer.dtype);
    StrAppend(&signature.prologue, type, " *", buffer.name, " = (", type, " *)((char *)scratch + ",
              buffer.offset, ");\n");
  }
  if (!uses_scratch) StrAppend(&signature.prologue, "(void)scratch;\n");
  for (const Symbol& symbol : function.symbols)
    StrAppend(&signature.prologue, "(void)", symbol.var, ";\n");
  for (TensorId id : UnusedParams(function))
    StrAppend(&signature.prologue, "(void)", function.buffers[id].name, ";\n");
  return signature;
}

std::string EmitKernel(const CpuKernelRef& ref, std::string_view symbol,
                       std::set<std::string>& headers) {
  const LoopFunction& function = ref.variant->loops;
  const CKernelText text = EmitTaskBody(
      function, {.object_qualifier = "AOTC_MEMBER", .vectors = true, .tiles = CpuTiles()});
  headers.insert(text.headers.begin(), text.headers.end());
  const Signature signature = SignatureOf(function);
  std::string result = KernelComment(*ref.kernel, *ref.variant);
  if (!text.objects.empty())
    StrAppend(&result, "namespace {\n", text.objects, "}  // namespace\n\n");
  StrAppend(&result, "extern \"C\" __attribute__((visibility(\"hidden\"))) void ", symbol, "(",
            signature.params, ") {\n", signature.prologue, text.enter);
  StrAppend(&result, "for (int64_t task = task_begin; task < task_end; ++task) {\n", text.body,
            "}\n", text.leave, "}\n\n");
  return result;
}

// What tells aotc/target_begin.h and the code that uses them of the features.
std::string FeatureMacros(const Isa& isa) {
  if (isa.features.empty()) return "";
  std::string macros;
  for (const CpuFeature* feature : isa.features)
    StrAppend(&macros, "#define ", feature->macro, "\n");
  const auto name = [](const CpuFeature* feature) { return feature->name; };
  return StrCat(macros, "#define AOTC_FEATURES \"", StrJoin(isa.features, ",", name), "\"\n");
}

// The instruction sets that variants of the kernels ask for, narrowest first.
std::vector<Isa> IsasOf(const Program& program) {
  std::vector<Isa> isas;
  for (const ProgramKernel& kernel : program.kernels) {
    for (const KernelVariant& variant : kernel.variants) {
      const absl::StatusOr<Isa> isa = ParseIsa(variant.feature);
      AOTC_CHECK(isa.ok()) << variant.feature;
      if (std::ranges::count(isas, *isa) == 0) isas.push_back(*isa);
    }
  }
  std::ranges::sort(isas, ComesBefore);
  return isas;
}

}  // namespace

std::string EmitCpuKernels(const std::vector<CpuKernelRef>& kernels, const Isa& isa,
                           std::string_view prefix) {
  std::set<std::string> headers;
  std::string bodies;
  for (const CpuKernelRef& ref : kernels) {
    StrAppend(
        &bodies,
        EmitKernel(ref, StrCat(prefix, "_", ref.variant->loops.name, "_", isa.suffix), headers));
  }
  std::string text =
      StrCat("// Kernels of ", prefix, " for ", isa.name, ".\n",
             "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n", "#define ",
             isa.family->macro, "\n", FeatureMacros(isa), "#include \"aotc/target_begin.h\"\n\n",
             "#include \"aotc/half.h\"\n#include \"aotc/scalar_math.h\"\n");
  for (const std::string& header : headers) StrAppend(&text, "#include \"aotc/", header, "\"\n");
  StrAppend(&text, "\n", bodies, "#include \"aotc/target_end.h\"\n");
  return text;
}

std::vector<KernelFile> CpuKernelFiles(const Program& program) {
  constexpr size_t kKernelsPerFile = 16;
  std::vector<KernelFile> files;
  for (const Isa& isa : IsasOf(program)) {
    std::vector<CpuKernelRef> refs;
    auto flush = [&] {
      if (refs.empty()) return;
      files.push_back({StrCat(program.name, "_kernels_", files.size(), ".cpp"),
                       EmitCpuKernels(refs, isa, program.name)});
      refs.clear();
    };
    for (const ProgramKernel& kernel : program.kernels) {
      for (const KernelVariant& variant : kernel.variants) {
        if (variant.feature == isa.name) refs.push_back({&kernel, &variant});
      }
      if (refs.size() >= kKernelsPerFile) flush();
    }
    flush();
  }
  return files;
}

}  // namespace aotc
