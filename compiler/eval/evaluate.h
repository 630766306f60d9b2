// The reference evaluator: executes kernels and graphs on constants. The oracle of every test, the
// engine of constant folding and of weight packing.
//
//   std::vector<Constant> y = *EvaluateKernel(kernel, {x, w}, {{"m", 7}});
//
// Floats are computed in f64 and rounded where a tensor is stored (to its dtype); integers wrap as
// their type does. The innermost output axis is evaluated a row at a time.
#ifndef AOTC_COMPILER_EVAL_EVALUATE_H_
#define AOTC_COMPILER_EVAL_EVALUATE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// Adds the values of symbols that are worked out of others, and limits those that clamp. Error: a
// value beyond its range, or a check that refuses the sizes.
absl::Status WorkOutSizes(const std::vector<Symbol>& symbols, SymbolValues& values);

// `inputs` one per input and constant param, in order, row-major; the result one per output.
// Layouts of the kernel's tensors are ignored: values are logical. An index out of range is an
// error.
absl::StatusOr<std::vector<Constant>> EvaluateKernel(const Kernel& kernel,
                                                     const std::vector<Constant>& inputs,
                                                     const SymbolValues& symbols = {});

// Values of the outputs of one node of `graph`, in the order of its valid outputs, for its inputs
// (nothing where absent). Types and constants of the graph do not matter: those of `inputs` do. A
// node that is defined by others is expanded.
absl::StatusOr<std::vector<Constant>> EvaluateNode(
    const Graph& graph, const Node& node, const std::vector<std::optional<Constant>>& inputs,
    const SymbolValues& symbols = {});

// Values of all graph outputs for the inputs of the main region. Symbols that are dims or elements
// of an input get their values from there. Error: OutOfRange where an IndexCheck does not hold, in
// what runs, or such an element is beyond its range.
absl::StatusOr<std::vector<Constant>> EvaluateGraph(const Graph& graph,
                                                    const std::vector<Constant>& inputs,
                                                    const SymbolValues& symbols = {});

// Every value of the main region by name, for reports of the first difference.
absl::StatusOr<std::map<std::string, Constant>> EvaluateAllValues(
    const Graph& graph, const std::vector<Constant>& inputs, const SymbolValues& symbols = {});

// Each result element as an expression over the symbols, from elements of the inputs that are known
// as expressions over symbols of these bounds: shape arithmetic with symbolic dims, also by way of
// floats (floor(2.5 * n)). All integers are expressions of i64; those of the inputs are taken to
// lie in their types. Error: an element is not known, does not reduce to that or may leave its
// type, or there are too many.
absl::StatusOr<std::vector<std::vector<Expr>>> EvaluateSymbolically(
    const Kernel& kernel, const std::vector<std::vector<Expr>>& inputs, const Bounds& bounds);

// max|a - b| / max(max|b|, 1e-6); infinity where shapes, NaN or infinities differ in place, and
// where integers differ at all.
double RelativeError(const Constant& actual, const Constant& expected);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_EVALUATE_H_
