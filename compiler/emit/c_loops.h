// Statements and kernel functions as C++ text. Layout of the text is clang-format's job.
//
//   CKernelText text = EmitKernel(function, {.signature = ..., .prefix = "m_"});
//   text.objects   // function objects of tile calls, to stand before the kernel
//   text.body      // the body of one task
#ifndef AOTC_COMPILER_EMIT_C_LOOPS_H_
#define AOTC_COMPILER_EMIT_C_LOOPS_H_

#include <set>
#include <string>

#include "compiler/ir/loops.h"
#include "compiler/schedule/tile.h"

namespace aotc {

struct CKernelText {
  std::string objects = {};  // structs of the tiles' typed holes
  std::string body = {};
  std::string enter = {}, leave = {};  // before the first task and behind the last: tiles' set-up
  std::set<std::string> headers = {};  // of what the text calls and of its types
};

// How a target spells what is not plain C++.
struct CSpelling {
  std::string object_qualifier = {};  // before methods of function objects: "AOTC_MEMBER"
  std::string barrier = {};           // statement of kBarrier
  bool vectors = false;               // lanes are printed as vector types
  TileTable tiles = {};               // what calls of tile functions are written by
};

// Text of one task of `function`. Names of objects start with the function's name.
CKernelText EmitTaskBody(const LoopFunction& function, const CSpelling& spelling);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_C_LOOPS_H_
