#include "compiler/emit/output.h"

#include "absl/strings/match.h"
#include "compiler/emit/bundles.h"
#include "compiler/emit/parts.h"
#include "compiler/format/clang_format.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kIncbinLimit = size_t{1} << 30;
constexpr size_t kArrayLimit = size_t{16} << 20;

absl::Status CheckWeightsFit(const EmitContext& context) {
  const size_t bytes = context.program.weights.size();
  const WeightsForm form = context.options.weights;
  const bool fits = form == WeightsForm::kFile ||
                    bytes <= (form == WeightsForm::kArray ? kArrayLimit : kIncbinLimit);
  if (fits) return absl::OkStatus();
  const bool array = form == WeightsForm::kArray && bytes <= kIncbinLimit;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("the weights have ", bytes, " bytes, more than --weights=",
                             form == WeightsForm::kArray ? "array" : "incbin",
                             " takes; hint: --weights=", array ? "incbin" : "file"));
}

// Lays out what clang-format knows; other text stays as it is.
absl::StatusOr<std::string> Formatted(const std::string& path, const std::string& text) {
  SourceKind kind = SourceKind::kCpp;
  if (absl::EndsWith(path, ".h")) {
    kind = SourceKind::kC;
  } else if (absl::EndsWith(path, ".cu")) {
    kind = SourceKind::kCuda;
  } else if (!absl::EndsWith(path, ".cpp")) {
    return text;
  }
  absl::StatusOr<std::string> formatted = FormatSource(text, kind);
  if (!formatted.ok()) return absl::InternalError(StrCat(path, ": ", formatted.status().message()));
  return formatted;
}

absl::Status AddText(OutputFiles& files, const std::string& path, const std::string& text) {
  AOTC_ASSIGN_OR_RETURN(files[path], Formatted(path, text));
  return absl::OkStatus();
}

absl::Status AddWeights(const EmitContext& context, OutputFiles& files) {
  if (!context.HasWeights()) return absl::OkStatus();
  const std::string stem = context.interface.prefix + "_weights";
  std::string blob = WeightsBlob(context.program, context.weights_hash);
  switch (context.options.weights) {
    case WeightsForm::kArray: files[stem + ".cpp"] = EmitWeightsArray(context, blob); break;
    case WeightsForm::kIncbin: files[stem + ".S"] = EmitWeightsAssembly(context); [[fallthrough]];
    case WeightsForm::kFile: files[stem + ".bin"] = std::move(blob); break;
  }
  return absl::OkStatus();
}

absl::Status AddHost(const EmitContext& context, OutputFiles& files) {
  const std::string& name = context.interface.prefix;
  AOTC_RETURN_IF_ERROR(AddText(files, name + ".h", EmitHeader(context)));
  if (!context.options.host.sources) return absl::OkStatus();
  AOTC_ASSIGN_OR_RETURN(const OutputFiles sources, context.options.host.sources(context));
  for (const auto& [path, text] : sources) AOTC_RETURN_IF_ERROR(AddText(files, path, text));
  return absl::OkStatus();
}

bool IsCompiled(const std::string& path) {
  if (absl::StartsWith(path, "example/")) return false;
  return absl::EndsWith(path, ".cpp") || absl::EndsWith(path, ".cu") || absl::EndsWith(path, ".S");
}

// What the public header includes, and the words for statuses.
absl::StatusOr<std::vector<std::string>> PublicHeaders(const EmitContext& context,
                                                       const OutputFiles& files) {
  const std::string header = context.interface.prefix + ".h";
  AOTC_ASSIGN_OR_RETURN(OutputFiles included, CollectHeaders({{header, files.at(header)}}));
  included["aotc/status.h"];
  std::vector<std::string> paths;
  for (const auto& [path, text] : included) paths.push_back(path);
  return paths;
}

// The build file and the metadata name the others.
absl::Status AddLists(const EmitContext& context, OutputFiles& files) {
  std::vector<std::string> sources;
  for (const auto& [path, content] : files) {
    if (IsCompiled(path)) sources.push_back(path);
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<std::string> headers, PublicHeaders(context, files));
  files["CMakeLists.txt"] = EmitBuildFile(context, sources, headers);
  files["metadata.json"] = EmitMetadata(context, files);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputFiles> EmitOutput(const Program& program, const EmitOptions& options) {
  return EmitOutput(program, options, {});
}

absl::StatusOr<OutputFiles> EmitOutput(const Program& program, const EmitOptions& options,
                                       const std::vector<Bundle>& bundles) {
  AOTC_ASSIGN_OR_RETURN(const ModelInterface interface, DescribeInterface(program, bundles));
  HostUses uses;
  const EmitContext context{program, options, interface, bundles, WeightsHash(program.weights),
                            uses};
  AOTC_RETURN_IF_ERROR(CheckWeightsFit(context));
  OutputFiles files;
  AOTC_RETURN_IF_ERROR(AddHost(context, files));
  for (const KernelFile& kernel : options.kernels) {
    AOTC_RETURN_IF_ERROR(AddText(files, kernel.path, kernel.text));
  }
  if (options.example && HasBundles(context)) {
    return AOTC_REFUSAL(
        Unimplemented,
        "the example program, which aotc verify runs too, reads tensors of numbers alone; hint: "
        "leave out --example, and call the functions of the header");
  }
  if (options.example)
    AOTC_RETURN_IF_ERROR(AddText(files, "example/main.cpp", EmitExample(context)));
  if (options.python && !HasNumpyTypes(context)) {
    return AOTC_REFUSAL(Unimplemented,
                        "what --python writes takes tensors of numpy's element types alone; hint: "
                        "leave it out, and call the model through aotc/model.h");
  }
  if (options.python) files[interface.prefix + ".py"] = EmitPython(context);
  AOTC_ASSIGN_OR_RETURN(OutputFiles headers, CollectHeaders(files));
  files.merge(headers);
  AOTC_RETURN_IF_ERROR(AddWeights(context, files));
  AOTC_RETURN_IF_ERROR(AddLists(context, files));
  return files;
}

}  // namespace aotc
