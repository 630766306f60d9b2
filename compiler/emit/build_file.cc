// CMakeLists.txt of the output: a static library that builds alone or in a parent project.
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

void EmitLinkage(const EmitContext& context, CodeWriter& w) {
  const std::string& name = context.interface.prefix;
  if (context.LinksWeights() && context.options.weights == WeightsForm::kIncbin) {
    w.Emit(R"(
      # The assembler copies the blob: a new one means a new object.
      set_source_files_properties($name$_weights.S
        PROPERTIES OBJECT_DEPENDS $${CMAKE_CURRENT_SOURCE_DIR}/$name$_weights.bin))",
           {{"name", name}});
  }
  if (context.options.host.properties) context.options.host.properties(context, w);
  w.Emit(R"(
    find_package(Threads REQUIRED)
    target_link_libraries($name$ PUBLIC Threads::Threads))",
         {{"name", name}});
  if (!context.options.example) return;
  w.Emit(R"(

    if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      add_executable($name$_example example/main.cpp)
      target_link_libraries($name$_example PRIVATE $name$)
      set_target_properties($name$_example PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
    endif())",
         {{"name", name}});
}

}  // namespace

std::string EmitBuildFile(const EmitContext& context, const std::vector<std::string>& sources) {
  const HostWriter& host = context.options.host;
  const bool assembly = context.LinksWeights() && context.options.weights == WeightsForm::kIncbin;
  CodeWriter w;
  w.Emit(R"(
    # The model $name$ as a static library. It needs a C++17 compiler$toolkit$ and nothing else.
    cmake_minimum_required(VERSION 3.18)
    project($name$ LANGUAGES CXX$assembly$)

    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
      set(CMAKE_BUILD_TYPE Release)
    endif())",
         {{"name", context.interface.prefix},
          {"toolkit", host.toolkit},
          {"assembly", assembly ? " ASM" : ""}});
  if (host.language) host.language(sources, w);
  w.Emit(R"(

    add_library($name$ STATIC
      $sources$)
    target_include_directories($name$ PUBLIC $${CMAKE_CURRENT_SOURCE_DIR})
    set_target_properties($name$ PROPERTIES
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
      POSITION_INDEPENDENT_CODE ON))",
         {{"name", context.interface.prefix}, {"sources", StrJoin(sources, "\n")}});
  EmitLinkage(context, w);
  return w.Take();
}

}  // namespace aotc
