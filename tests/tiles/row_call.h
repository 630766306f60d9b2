// The call of a case, written as Loops: a task for each box of the result, objects that give and
// take elements, views where the row asks for them.
//
//   BuildRowCall(drawn, "case_3");       // sets drawn.loops
#ifndef AOTC_TESTS_TILES_ROW_CALL_H_
#define AOTC_TESTS_TILES_ROW_CALL_H_

#include <string>

#include "tests/tiles/row_case.h"

namespace aotc {

// The name of the operand's stride along the axis: "a_0".
std::string StrideName(const KernelTensor& tensor, size_t axis);
// Whether a call has one: not where the axis lies dense, or is a vector's.
bool HasStride(const RowCase& of, size_t operand, size_t axis);
// Whether the extent says where a box begins, which follows from the task.
bool BeginsBox(const TileRow& row, std::string_view extent);
// The axis along which the operand is given in runs; nothing where it is not.
std::optional<size_t> RunAxis(const RowCase& of, size_t operand);

void BuildRowCall(RowCase& of, const std::string& name);

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_ROW_CALL_H_
