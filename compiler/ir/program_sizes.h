// What of the sizes of a run is known where in a Program.
//
//   const SizeSteps known(program);
//   known.StepOf("n")             // 3: the step of kind kSizes behind which n is known
//   SizesOf(program, step)        // {"n"}: symbols without which the step cannot run
#ifndef AOTC_COMPILER_IR_PROGRAM_SIZES_H_
#define AOTC_COMPILER_IR_PROGRAM_SIZES_H_

#include <map>
#include <set>
#include <string>

#include "compiler/ir/program.h"

namespace aotc {

inline constexpr int kBeforeAnyStep = -1;

// When each symbol becomes known. Steps of kind kSizes stay in their order, so that what follows
// from two of them is known behind the later one.
class SizeSteps {
 public:
  explicit SizeSteps(const Program& program);

  // kBeforeAnyStep for all that inputs state, and what follows from that.
  int StepOf(const std::string& var) const;
  // The latest of those of the symbols that it names.
  int StepOf(const Expr& e) const;
  int StepOf(const Shape& shape) const;
  // No step defines any.
  bool empty() const { return steps_.empty(); }

 private:
  std::map<std::string, int> steps_;  // of symbols that a step defines
};

// The symbols that a launch takes, and those that say where its arguments lie, how much is copied,
// or how often a loop runs.
std::set<std::string> SizesOf(const Program& program, const Step& step);

// Leaves out symbols that branches and bodies compute which are not there, and what follows from
// them.
void DropUndefinedSizes(Program& program);

// Every step of kind kSizes defines symbols of its own and has one argument with as many elements;
// steps use what is known. Error: what a verifier of programs says.
absl::Status CheckSizes(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_PROGRAM_SIZES_H_
