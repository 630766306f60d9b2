// Shrinks a failing model to a small one that still fails: delta debugging over its nodes (the
// algorithm ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
// 2002), then over attributes and outputs, sizes, and the values of initializers.
//
//   AOTC_ASSIGN_OR_RETURN(Reduction reduction,
//                         Reduce("net.onnx", CompileCheck(options, 60), {}));
//   WriteFileIfChanged("small.onnx", reduction.model);
#ifndef AOTC_COMPILER_REDUCE_REDUCE_H_
#define AOTC_COMPILER_REDUCE_REDUCE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/reduce/check.h"

namespace aotc {

struct ReduceOptions {
  ImportOptions import = {};
  int most_checks = 5000;                                  // it ends there, reduced as far as it is
  std::function<void(const std::string& step)> step = {};  // "12 of 30 nodes"
};

struct Reduction {
  std::string model = {};  // bytes of the file
  std::string failure = {};
  int nodes_before = 0;
  int nodes = 0;
  int checks = 0;
  bool complete = true;  // no single node can be left out
};

// Error: the model cannot be read, it does not fail, or the check cannot be made.
absl::StatusOr<Reduction> Reduce(const std::string& path, const Check& check,
                                 const ReduceOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_REDUCE_REDUCE_H_
