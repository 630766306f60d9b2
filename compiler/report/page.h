// The page of `aotc inspect --html`: one file that needs no other, with the graph before and after
// the passes, the kernels, and the arena over the steps.
//
//   std::string html = InspectionPage(inspection, compiled, diagnostics);
//
// All that the model says reaches the page as JSON in one script element and is shown as text: no
// name can become markup.
#ifndef AOTC_COMPILER_REPORT_PAGE_H_
#define AOTC_COMPILER_REPORT_PAGE_H_

#include <string>
#include <string_view>

#include "compiler/driver/compile.h"
#include "compiler/driver/inspect.h"

namespace aotc {

struct PageInput {
  std::string title = {};  // the file's name without folders
  std::string target = {};
  const Inspection& inspection;
  // Planned; null where the model does not compile.
  const CompileResult* compiled = nullptr;
  const Diagnostics& diagnostics;
};

std::string InspectionPage(const PageInput& input);

// What the script of the page reads.
Json PageData(const PageInput& input);

// JSON fit for a script element: without `<`, so that it cannot end it.
std::string ScriptJson(const Json& json);

// The page around the data, in whose place it has kPageDataMark.
extern const std::string_view kPageTemplate;
inline constexpr std::string_view kPageDataMark = "@DATA@";

}  // namespace aotc

#endif  // AOTC_COMPILER_REPORT_PAGE_H_
