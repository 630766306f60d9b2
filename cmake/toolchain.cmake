# Compiler cache, linker and warnings.

find_program(AOTC_CCACHE ccache)
if(AOTC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the tree, so that every clone of it shares what one of them compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  ${AOTC_CCACHE})
endif()

# The first of these linkers that is installed links faster than the default one.
foreach(linker mold lld)
  find_program(AOTC_LINKER_${linker} NAMES ld.${linker} ${linker})
  if(AOTC_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# Interface target with the warnings that hold for our own code.
add_library(aotc_warnings INTERFACE)
target_compile_options(aotc_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 with optimisation blames moves of std::variant, std::optional and std::string in the
  # standard library's own headers. Clang's flow-sensitive warnings cover ours.
  target_compile_options(aotc_warnings INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()

if(AOTC_SANITIZE)
  # Abseil and protobuf come compiled without the sanitizers: containers that cross that border
  # are not annotated alike, which is why scripts/test runs with detect_container_overflow=0.
  add_compile_options(-fsanitize=${AOTC_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${AOTC_SANITIZE})
endif()
