// CMakeLists.txt of the output: a library that builds alone or in a parent project, and installs.
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
  if (!context.options.example) return;
  w.Emit(R"(

    if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      add_executable($name$_example example/main.cpp)
      target_link_libraries($name$_example PRIVATE $name$)
      set_target_properties($name$_example PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
    endif())",
         {{"name", name}});
}

// As a package of its own; in a parent project where that asks for it.
void EmitInstall(const EmitContext& context, const std::vector<std::string>& headers,
                 CodeWriter& w) {
  w.Emit(R"(

    # Behind cmake --install, find_package($name$) gives aotc::$name$ too.
    set(is_alone OFF)
    if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
      set(is_alone ON)
    endif()
    option($name$_INSTALL "Install the model $name$ as a package" $${is_alone})
    if($name$_INSTALL)
      include(GNUInstallDirs)
      set(package $${CMAKE_INSTALL_LIBDIR}/cmake/$name$)
      set(config $${CMAKE_CURRENT_BINARY_DIR}/$name$-config.cmake)
      set(threads "")
      if(Threads_FOUND)
        set(threads "find_dependency(Threads)\n")
      endif()
      file(WRITE $${config} "include(CMakeFindDependencyMacro)\n$${threads}"
        "include(\"\$${CMAKE_CURRENT_LIST_DIR}/$name$-targets.cmake\")\n")
      install(FILES $${config} DESTINATION $${package})
      install(EXPORT $name$-targets NAMESPACE aotc:: DESTINATION $${package})
      install(TARGETS $name$ EXPORT $name$-targets)
      install(FILES $name$.h DESTINATION include)
      install(FILES $headers$ DESTINATION include/aotc))",
         {{"name", context.interface.prefix}, {"headers", StrJoin(headers, " ")}});
  if (context.LoadsWeights()) {
    w.Emit(R"(
      install(FILES $name$_weights.bin DESTINATION $${CMAKE_INSTALL_DATADIR}/$name$))",
           {{"name", context.interface.prefix}});
  }
  w.Line("endif()");
}

}  // namespace

std::string EmitBuildFile(const EmitContext& context, const std::vector<std::string>& sources,
                          const std::vector<std::string>& headers) {
  const HostWriter& host = context.options.host;
  const bool assembly = context.LinksWeights() && context.options.weights == WeightsForm::kIncbin;
  CodeWriter w;
  w.Emit(R"(
    # The model $name$ as a library, a shared one with BUILD_SHARED_LIBS.
    # It needs a C++17 compiler$toolkit$ and nothing else.
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

    add_library($name$
      $sources$)
    add_library(aotc::$name$ ALIAS $name$)
    target_include_directories($name$ PUBLIC
      $$<BUILD_INTERFACE:$${CMAKE_CURRENT_SOURCE_DIR}> $$<INSTALL_INTERFACE:include>)
    set_target_properties($name$ PROPERTIES
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
      POSITION_INDEPENDENT_CODE ON WINDOWS_EXPORT_ALL_SYMBOLS ON))",
         {{"name", context.interface.prefix}, {"sources", StrJoin(sources, "\n")}});
  EmitLinkage(context, w);
  EmitInstall(context, headers, w);
  return w.Take();
}

}  // namespace aotc
