// A node for tests of op definitions: its inputs, attributes and what is known of them.
//
//   OpCase op("Slice");
//   op.Symbol("n", 1, 8).Input(DType::kF32, {Var("n"), 4});
//   op.Known(Constant::Ints({1})).Known(Constant::Ints({3}));
//   op.Build()->kernel;
#ifndef AOTC_TESTS_UNIT_OP_CASE_H_
#define AOTC_TESTS_UNIT_OP_CASE_H_

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/expr_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

class OpCase {
 public:
  explicit OpCase(std::string op, int outputs = 1) {
    node_.op = std::move(op);
    for (int i = 0; i < outputs; ++i) {
      node_.outputs.push_back(graph_.AddValue("y", TensorType(DType::kUndefined, {})));
    }
  }

  OpCase& Symbol(std::string name, int64_t min, int64_t max) {
    graph_.symbols.push_back({.name = name, .var = name, .min = min, .max = max});
    return *this;
  }
  OpCase& Input(DType dtype, Shape shape) {
    return Add(graph_.AddValue("x", TensorType(dtype, std::move(shape))));
  }
  OpCase& Known(Constant constant) { return Add(graph_.AddConstant("c", std::move(constant))); }
  // A rank-1 i64 tensor whose elements are known over the symbols.
  OpCase& Elements(std::vector<Expr> elements) {
    Shape shape = {Expr(static_cast<int64_t>(elements.size()))};
    ValueId value = graph_.AddValue("e", TensorType(DType::kI64, shape));
    graph_.values[value].elements = std::move(elements);
    return Add(value);
  }
  OpCase& Absent() { return Add(ValueId()); }
  OpCase& SameAsFirst() { return Add(node_.inputs[0]); }
  OpCase& Set(std::string name, AttributeValue value) {
    node_.attributes.Set(name, std::move(value));
    return *this;
  }

  // The kernel, and what it requires of a run, without which loads may leave their tensors.
  absl::StatusOr<NodeKernel> BuildWithChecks() const { return BuildNodeKernel(graph_, node_); }

  // The kernel, verified. What it requires of a run is an error here.
  absl::StatusOr<NodeKernel> Build() const {
    AOTC_ASSIGN_OR_RETURN(NodeKernel built, BuildWithChecks());
    if (!built.checks.empty()) {
      return absl::FailedPreconditionError(StrCat("a run requires: ", built.checks[0].text));
    }
    AOTC_RETURN_IF_ERROR(VerifyKernel(built.kernel));
    return built;
  }

  // The shape of an output as text: "f32[n, 3]", or the error.
  std::string OutputType(size_t index = 0) const {
    absl::StatusOr<NodeKernel> built = Build();
    if (!built.ok()) return StrCat("error: ", built.status().message());
    const Kernel& kernel = built->kernel;
    const KernelTensor& y = kernel.tensors[kernel.params[built->inputs.size() + index]];
    auto dim_text = [](const Expr& dim) { return PrintExpr(dim); };
    return StrCat(DTypeName(y.dtype), "[", StrJoin(y.shape, ", ", dim_text), "]");
  }

 private:
  OpCase& Add(ValueId value) {
    node_.inputs.push_back(value);
    return *this;
  }

  Graph graph_;
  Node node_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_OP_CASE_H_
