// Which temps of a row nest need no memory.
#include "compiler/lower/row_temps.h"

#include "compiler/ir/kernel_text.h"
#include "compiler/lower/nest.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

// Stages that are left of a sum, a temp of `terms` products of elements, and what reads each once.
size_t StagesOf(int terms) {
  std::string product = "%x[i, j]";
  for (int i = 1; i < terms; ++i) product += StrCat(" * %x[i, ", i, "]");
  const absl::StatusOr<Kernel> kernel = ParseKernel(StrCat(R"air(
    kernel @scaled(in %x: f32[8, 400], out %y: f32[8, 400]) {
      temp %total: f32[8]
      temp %p: f32[8, 400]
      %total[i<8] = reduce sum(k<400) %x[i, k]
      %p[i<8, j<400] = )air",
                                                           product, R"air(
      %y[i<8, j<400] = %p[i, j] / %total[i]
    })air"));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  absl::StatusOr<Nest> nest = BuildRowNest(*kernel);
  EXPECT_TRUE(nest.ok()) << nest.status();
  KeepFewTemps(*nest);
  return nest->stages.size();
}

TEST(RowTemps, WhatIsReadOnceIsComputedThere) { EXPECT_EQ(StagesOf(8), 2u); }

// One that is read once would make a statement as long as itself, and many make one of all.
TEST(RowTemps, NoStatementBecomesLong) { EXPECT_EQ(StagesOf(100), 3u); }

}  // namespace
}  // namespace aotc
