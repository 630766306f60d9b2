# Target aotc_clang_format_library: clang::format of LLVM 19, as static libraries.
#
# The libraries are named one by one because Debian's ClangConfig.cmake asks for every tool of
# Clang to be installed, and because the static ones start 50 ms faster than libclang-cpp.

set(AOTC_LLVM_ROOT /usr/lib/llvm-19 CACHE PATH "Where LLVM and Clang 19 are installed")
find_path(AOTC_CLANG_INCLUDE clang/Format/Format.h PATHS ${AOTC_LLVM_ROOT}/include
          NO_DEFAULT_PATH REQUIRED)
find_path(AOTC_LLVM_INCLUDE llvm/ADT/StringRef.h PATHS ${AOTC_LLVM_ROOT}/include
          NO_DEFAULT_PATH REQUIRED)

add_library(aotc_clang_format_library INTERFACE)
target_include_directories(aotc_clang_format_library SYSTEM INTERFACE
                           ${AOTC_CLANG_INCLUDE} ${AOTC_LLVM_INCLUDE})
foreach(library clangFormat clangToolingInclusions clangToolingCore clangRewrite clangLex
                clangBasic LLVMFrontendOpenMP LLVMTargetParser LLVMSupport LLVMDemangle)
  find_library(AOTC_LIBRARY_${library} ${library} PATHS ${AOTC_LLVM_ROOT}/lib
               NO_DEFAULT_PATH REQUIRED)
  target_link_libraries(aotc_clang_format_library INTERFACE ${AOTC_LIBRARY_${library}})
endforeach()
foreach(library z zstd tinfo)
  find_library(AOTC_LIBRARY_${library} ${library} REQUIRED)
  target_link_libraries(aotc_clang_format_library INTERFACE ${AOTC_LIBRARY_${library}})
endforeach()
