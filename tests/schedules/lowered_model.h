// A real model, compiled as far as its kernels have schedules.
//
//   AOTC_ASSIGN_OR_RETURN(CompileResult result,
//                         CompileToKernels("../tiny.onnx,batch=1..4", {.target = "cuda"}));
#ifndef AOTC_TESTS_SCHEDULES_LOWERED_MODEL_H_
#define AOTC_TESTS_SCHEDULES_LOWERED_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/driver/compile.h"

namespace aotc {

// `argument` is MODEL[,NAME=RANGE...]. Error: why a range cannot be read, or what the compile says.
absl::StatusOr<CompileResult> CompileToKernels(const std::string& argument, CompileOptions options,
                                               const PhaseHook& hook = {});

// The file's name, without its folder and the ranges.
std::string NameOfModel(const std::string& argument);

}  // namespace aotc

#endif  // AOTC_TESTS_SCHEDULES_LOWERED_MODEL_H_
