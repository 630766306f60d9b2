// Executes programs on bytes, kernels being hashes of what they read, for tests of the planner.
//
//   EXPECT_EQ(Simulator(given, false).Run(), Simulator(planned, true).Run());
//
// In the arena, what is not alive is poisoned after every step. A flag is the first byte of its
// buffer: mostly true.
#ifndef AOTC_TESTS_UNIT_PROGRAM_SIMULATOR_H_
#define AOTC_TESTS_UNIT_PROGRAM_SIMULATOR_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"

namespace aotc {

inline uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 1;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9u;
}

// Memory of a buffer: in the shared arena, or its own.
class Simulator {
 public:
  Simulator(const Program& program, bool in_arena)
      : program_(program), in_arena_(in_arena), arena_(in_arena ? program.arena_bytes : 0, 0xAA) {
    for (const Construct& of : Constructs(program)) constructs_.emplace(of.begin, of);
    for (BufferId id : program.buffers.ids()) {
      own_[id] = std::vector<uint8_t>(program.buffers[id].bytes, 0xAA);
      const bool given = program.buffers[id].kind == BufferKind::kInput;
      if (given) std::fill(own_[id].begin(), own_[id].end(), static_cast<uint8_t>(id.index() + 1));
    }
  }

  std::vector<std::vector<uint8_t>> Run() {
    RunSteps(0, static_cast<int>(program_.steps.size()));
    std::vector<std::vector<uint8_t>> outputs;
    for (BufferId id : program_.outputs) outputs.push_back(own_[id]);
    return outputs;
  }

  // The steps that were run, in order; the head of a loop once for each round that it begins.
  const std::vector<int>& path() const { return path_; }

 private:
  void RunSteps(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const auto construct = constructs_.find(i);
      if (construct == constructs_.end()) {
        Execute(program_.steps[i]);
        Pass(i);
        continue;
      }
      const Construct& of = construct->second;
      of.is_loop ? RunLoop(of) : RunBranch(of);
      Pass(i = of.end);
    }
  }

  void Pass(int step) {
    path_.push_back(step);
    if (in_arena_) Poison(step);
  }

  bool Flag(const Step& step) { return step.args.empty() || Memory(step.args[0])[0] % 4 != 0; }

  void RunBranch(const Construct& of) {
    const bool taken = Flag(program_.steps[of.begin]);
    const int middle = of.middle.value_or(of.end);
    Pass(of.begin);
    if (taken) RunSteps(of.begin + 1, middle);
    if (!taken && of.middle) RunSteps(middle + 1, of.end);
  }

  void RunLoop(const Construct& of) {
    const Step& head = program_.steps[of.begin];
    const int64_t trip = head.trip.valid() ? *head.trip.AsInt() : kMostRounds;
    for (int64_t round = 0; round < trip; ++round) {
      const bool goes_on = Flag(head);
      Pass(of.begin);
      if (!goes_on) return;
      RunSteps(of.begin + 1, of.end);
    }
  }

  uint8_t* Memory(BufferId id) {
    const BufferId base = BaseOf(program_, id);
    const bool shared = in_arena_ && program_.buffers[base].kind == BufferKind::kArena;
    uint8_t* start = shared ? arena_.data() + program_.buffers[base].offset : own_[base].data();
    return start + *ElementOffset(program_.buffers[id]).AsInt();
  }

  // Scratch and plain outputs are written before the inputs are read, so that any overlap shows; an
  // output computed in place is a function of the same element of its input.
  void Execute(const Step& step) {
    const size_t input_count = InputCount(step);
    std::map<int, int> in_place(step.in_place.begin(), step.in_place.end());
    if (step.scratch.valid()) Fill(step.scratch, 0x55);
    for (size_t i = input_count; i < step.args.size(); ++i) {
      if (!in_place.count(static_cast<int>(i))) Fill(step.args[i], 0x33);
    }
    uint64_t seed = static_cast<uint64_t>(step.kernel.index());
    for (size_t i = 0; i < input_count; ++i) {
      const bool elementwise = std::any_of(in_place.begin(), in_place.end(), [&](const auto& pair) {
        return pair.second == static_cast<int>(i);
      });
      if (!elementwise) seed = Mix(seed, Digest(step.args[i]));
    }
    for (size_t i = input_count; i < step.args.size(); ++i) {
      const auto pair = in_place.find(static_cast<int>(i));
      const uint8_t* from = pair == in_place.end() ? nullptr : Memory(step.args[pair->second]);
      uint8_t* to = Memory(step.args[i]);
      for (int64_t k = 0; k < program_.buffers[step.args[i]].bytes; ++k) {
        to[k] = static_cast<uint8_t>(Mix(seed + i, from ? from[k] : k) >> 40);
      }
    }
  }

  size_t InputCount(const Step& step) const {
    const std::vector<BufferAccess> accesses = StepAccesses(program_, step);
    return std::count_if(accesses.begin(), accesses.end(),
                         [](const BufferAccess& access) { return !access.written; });
  }

  void Fill(BufferId id, uint8_t value) {
    std::fill_n(Memory(id), program_.buffers[id].bytes, value);
  }

  uint64_t Digest(BufferId id) {
    uint64_t digest = 0;
    const uint8_t* bytes = Memory(id);
    for (int64_t k = 0; k < program_.buffers[id].bytes; ++k) digest = Mix(digest, bytes[k]);
    return digest;
  }

  void Poison(int step) {
    std::vector<char> alive(arena_.size(), 0);
    for (const Buffer& buffer : program_.buffers) {
      const bool lives = buffer.first_step <= step && step < buffer.last_step;
      if (buffer.kind != BufferKind::kArena || buffer.first_step < 0 || !lives) continue;
      std::fill_n(alive.begin() + buffer.offset, buffer.bytes, 1);
    }
    for (size_t i = 0; i < arena_.size(); ++i) {
      if (!alive[i]) arena_[i] = 0xCC;
    }
  }

  static constexpr int64_t kMostRounds = 5;  // of loops that only their flag ends

  const Program& program_;
  const bool in_arena_;
  std::map<int, Construct> constructs_;  // by their first step
  std::vector<int> path_;
  std::vector<uint8_t> arena_;
  std::map<BufferId, std::vector<uint8_t>> own_;
};

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_PROGRAM_SIMULATOR_H_
