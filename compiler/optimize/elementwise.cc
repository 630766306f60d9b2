#include "compiler/optimize/elementwise.h"

#include <algorithm>
#include <iterator>

namespace aotc {
namespace {

constexpr std::string_view kElementwise[] = {
    "Abs",         "Add",       "And",  "Cast", "Ceil",     "Clip",       "Cos",     "Div",
    "Elu",         "Equal",     "Erf",  "Exp",  "Floor",    "Gelu",       "Greater", "HardSwish",
    "HardSigmoid", "LeakyRelu", "Less", "Log",  "Max",      "Mean",       "Min",     "Mish",
    "Mul",         "Neg",       "Not",  "Or",   "Pow",      "Reciprocal", "Relu",    "Round",
    "Selu",        "Sigmoid",   "Sign", "Sin",  "Softplus", "Softsign",   "Sqrt",    "Sub",
    "Sum",         "Swish",     "Tanh", "Where"};
constexpr std::string_view kContractions[] = {"Conv", "Gemm", "MatMul"};

}  // namespace

bool IsElementwise(std::string_view op) {
  return std::ranges::find(kElementwise, op) != std::end(kElementwise);
}

bool IsContractionOp(std::string_view op) {
  return std::ranges::find(kContractions, op) != std::end(kContractions);
}

}  // namespace aotc
