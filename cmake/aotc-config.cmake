# find_package(aotc) gives AOTC_EXECUTABLE and
#
#   aotc_add_model(TARGET kws MODEL kws.onnx [FLAGS --cpu x86-64-v3 --dim batch=1..8 ...])
#
# which compiles the model into the build folder and adds the library `kws`, also called aotc::kws:
# who links it includes "kws.h". TARGET is the prefix of the model's functions, so a name of C.
# CMake configures anew when a file that the compile read changes (the model, its external data,
# what flags name), or aotc itself; the model is compiled anew where their bytes or the flags have
# changed, and files of the folder are written where theirs have. Paths are relative to the current
# source folder, in FLAGS too.
get_filename_component(AOTC_EXECUTABLE "${CMAKE_CURRENT_LIST_DIR}/../../../bin/aotc" ABSOLUTE)
if(NOT EXISTS "${AOTC_EXECUTABLE}")
  set(aotc_FOUND FALSE)
  set(aotc_NOT_FOUND_MESSAGE "there is no ${AOTC_EXECUTABLE}")
  return()
endif()

# The files of a depfile that aotc wrote: "list: file file", blanks in names behind a backslash.
function(_aotc_files_read depfile result)
  file(READ "${depfile}" text)
  string(REGEX REPLACE "^([^\\:]|\\.)*: *" "" text "${text}")
  string(STRIP "${text}" text)
  string(REPLACE ";" "\\;" text "${text}")
  string(REPLACE "\\ " "<blank>" text "${text}")
  string(REPLACE " " ";" files "${text}")
  set(found)
  foreach(file IN LISTS files)
    string(REPLACE "<blank>" " " file "${file}")
    string(REPLACE "\\#" "#" file "${file}")
    string(REPLACE "$$" "$" file "${file}")
    list(APPEND found "${file}")
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# What decides the output: the flags and the bytes of the files.
function(_aotc_stamp flags files result)
  set(stamp "${flags}")
  foreach(file IN LISTS files)
    set(hash "none")
    if(EXISTS "${file}")
      file(SHA256 "${file}" hash)
    endif()
    string(APPEND stamp "\n${hash} ${file}")
  endforeach()
  set(${result} "${stamp}" PARENT_SCOPE)
endfunction()

function(aotc_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;MODEL" "FLAGS")
  if(NOT arg_TARGET OR NOT arg_MODEL OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "aotc_add_model(TARGET name MODEL file [FLAGS ...])")
  endif()
  if(NOT arg_TARGET MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    message(FATAL_ERROR "aotc_add_model: TARGET ${arg_TARGET} is no name of C")
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/aotc/${arg_TARGET}")
  set(depfile "${folder}.d")
  set(files "${model}")
  if(EXISTS "${depfile}")
    _aotc_files_read("${depfile}" files)
  endif()
  _aotc_stamp("${model};${arg_FLAGS}" "${AOTC_EXECUTABLE};${files}" stamp)
  set(before "")
  if(EXISTS "${folder}.stamp")
    file(READ "${folder}.stamp" before)
  endif()
  if(NOT before STREQUAL stamp OR NOT EXISTS "${folder}/CMakeLists.txt")
    message(STATUS "aotc: compiling ${arg_TARGET}")
    execute_process(
      COMMAND "${AOTC_EXECUTABLE}" "${model}" -o "${folder}" --name ${arg_TARGET} --force --quiet
              --depfile "${depfile}" ${arg_FLAGS}
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      RESULT_VARIABLE code
      ERROR_VARIABLE findings)
    if(findings)
      message(STATUS "aotc: ${arg_TARGET}\n${findings}")
    endif()
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "aotc_add_model: ${arg_TARGET} was not compiled")
    endif()
    _aotc_files_read("${depfile}" files)
    _aotc_stamp("${model};${arg_FLAGS}" "${AOTC_EXECUTABLE};${files}" stamp)
    file(WRITE "${folder}.stamp" "${stamp}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${AOTC_EXECUTABLE}" ${files})
  add_subdirectory("${folder}" "${folder}-build")
endfunction()
