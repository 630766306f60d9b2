// What interpreted loops work on: variables by number, and the memory of buffers with its bounds.
//
//   Frame frame(/*slots=*/12, std::move(buffers));
//   frame.Fail("kernel reads beyond %x");    // remembered; the first one counts
#ifndef AOTC_TESTS_INTERPRETER_FRAME_H_
#define AOTC_TESTS_INTERPRETER_FRAME_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/dtype.h"

namespace aotc {

inline constexpr int kMostLanes = 32;

// Floats of every type are held as doubles that the type can represent, integers and bools as i64.
union Lane {
  double f;
  int64_t i;
};
using LaneValues = std::array<Lane, kMostLanes>;

struct Memory {
  std::string name = {};
  DType dtype = DType::kF32;
  uint8_t* data = nullptr;
  int64_t elements = 0;
};

class Frame {
 public:
  Frame(size_t slots, std::vector<Memory> buffers) : slots_(slots), buffers_(std::move(buffers)) {}

  LaneValues& slot(size_t i) { return slots_[i]; }
  Memory& buffer(size_t i) { return buffers_[i]; }

  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  std::vector<LaneValues> slots_;
  std::vector<Memory> buffers_;
  std::string error_ = {};
};

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_FRAME_H_
