// The memory of one run of a call: operands where their strides say and poison around them, and the
// comparison of what the call wrote with what the row's text says.
//
//   RowMemory memory(of, sizes, random);
//   function(memory.pointers().data(), ...);
//   std::string complaint = memory.Compare();       // "" where all of it is as it must be
#ifndef AOTC_TESTS_TILES_ROW_MEMORY_H_
#define AOTC_TESTS_TILES_ROW_MEMORY_H_

#include <string>
#include <vector>

#include "tests/tiles/row_case.h"

namespace aotc {

class RowMemory {
 public:
  RowMemory(const RowCase& of, const RowSizes& sizes, Random& random);

  // Of the call's buffers, in order.
  std::vector<void*> pointers();
  std::string Compare() const;

 private:
  struct Tensor {
    DType dtype = DType::kF32;
    std::vector<int64_t> dims = {};
    std::vector<int64_t> places = {};  // of elements, in order
    std::vector<uint8_t> bytes = {};
  };
  Tensor Lay(size_t operand) const;
  static void Poison(Tensor& tensor);
  static void Fill(Tensor& tensor, DType text, Random& random);
  // What the text does not read is 0 (TileRow::zero_where_unread).
  void ClearUnread(size_t operand);
  static void Hide(Tensor& tensor, Random& random);
  // What is due of each element of the result, in order.
  absl::StatusOr<std::vector<double>> Expected() const;

  const RowCase& of_;
  const RowSizes sizes_;
  std::vector<Tensor> tensors_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_TILES_ROW_MEMORY_H_
