// Laws that every pass keeps, on one model: its input is as it was, the result verifies, a second
// run changes nothing, and the text form reads back as it was printed.
//
//   build/tests/pass_laws mobilenet.onnx --target cpu --dim batch=1..4
//
// Exit status 0: they hold, or the model has operators that aotc does not know (which is said).
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/driver/pipeline.h"
#include "compiler/import/onnx_import.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int kConstantElements = 16;

absl::Status RoundTrip(const Graph& graph, std::string_view pass) {
  const std::string text = PrintGraph(graph, kConstantElements);
  AOTC_ASSIGN_OR_RETURN(const Graph read, ParseGraph(text));
  if (PrintGraph(read, kConstantElements) == text) return absl::OkStatus();
  return absl::InternalError(StrCat("after ", pass, ": the text reads back as another graph"));
}

// The graph after one pass.
absl::StatusOr<Graph> CheckPass(const Pass& pass, const Graph& graph, PassContext& context,
                                GraphProperties held) {
  const std::string before = PrintGraph(graph, kConstantElements);
  AOTC_ASSIGN_OR_RETURN(Graph once, RunPasses(graph, {&pass, 1}, context, held));
  if (PrintGraph(graph, kConstantElements) != before) {
    return absl::InternalError(StrCat(pass.name, " changed its input"));
  }
  AOTC_ASSIGN_OR_RETURN(const Graph twice,
                        RunPasses(once, {&pass, 1}, context, held | pass.ensures));
  if (PrintGraph(twice, kConstantElements) != PrintGraph(once, kConstantElements)) {
    return absl::InternalError(StrCat(pass.name, " changes its own result"));
  }
  AOTC_RETURN_IF_ERROR(RoundTrip(once, pass.name));
  return once;
}

absl::Status CheckModel(const CompileOptions& compile) {
  Diagnostics diagnostics;
  AOTC_ASSIGN_OR_RETURN(Graph graph,
                        ImportOnnx(compile.model_path, compile.import, diagnostics, nullptr));
  PassOptions options = compile.passes;
  options.verify_each = true;
  PassContext context(options, diagnostics, PassTargetOf(compile.target, compile.templates));
  AOTC_RETURN_IF_ERROR(RoundTrip(graph, "import"));
  GraphProperties held = 0;
  for (const Pass& pass : AllPasses()) {
    AOTC_ASSIGN_OR_RETURN(graph, CheckPass(pass, graph, context, held));
    held |= pass.ensures;
  }
  return absl::OkStatus();
}

int Run(std::vector<std::string> words) {
  words.insert(words.end(), {"-o", "unused"});
  const ParsedCommandLine parsed = ParseCommandLine(words);
  if (!parsed.command_line) {
    std::fputs(parsed.text.c_str(), stderr);
    return 2;
  }
  const absl::Status status = CheckModel(parsed.command_line->compile);
  const bool ours = status.code() == absl::StatusCode::kInternal;
  std::printf("%s\n", status.ok() ? "holds" : StrCat(status.message()).c_str());
  return status.ok() ? 0 : ours ? 3 : 1;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) { return aotc::Run({argv + 1, argv + argc}); }
