// `aotc schedules`: the schedules that each kernel of a model could have, what each should cost,
// and which is chosen and why.
//
//   ScheduleListing listing{.target = target, .program = program, .kernel = "conv1_relu"};
//   PrintSchedules(listing)       // a paragraph a kernel and instruction set
#ifndef AOTC_COMPILER_DRIVER_SCHEDULES_H_
#define AOTC_COMPILER_DRIVER_SCHEDULES_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/driver/report.h"
#include "compiler/ir/program.h"
#include "compiler/targets/target.h"

namespace aotc {

struct ScheduleListing {
  const Target& target;
  const Program& program;
  std::string kernel = {};  // the one to list; "" for all
};

// Error: the program has no kernel of that name, with those that it has.
absl::Status CheckListing(const ScheduleListing& listing);
// Cheapest first. The chosen one is marked with a star.
std::string PrintSchedules(const ScheduleListing& listing);
Json SchedulesToJson(const ScheduleListing& listing);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_SCHEDULES_H_
