#include "compiler/support/diagnostics.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(Diagnostics, AFindingIsOneLineWithItsPlace) {
  Diagnostics diagnostics;
  diagnostics.Warning(FilePlace("model.onnx"), "old\nformat");
  diagnostics.Error(NodePlace("conv1", "Conv", 13), absl::InvalidArgumentError("kernel is empty"),
                    "give kernel_shape");
  diagnostics.Error(FilePlace("a.air", 3, 7), absl::InvalidArgumentError("no such pass"));
  diagnostics.Fault({}, "no outputs");
  EXPECT_EQ(diagnostics.Render(),
            "error: node 'conv1' (Conv, opset 13): kernel is empty; hint: give kernel_shape\n"
            "error: a.air:3:7: no such pass\n"
            "error: no outputs\n"
            "warning: model.onnx: old format\n");
  EXPECT_EQ(diagnostics.error_count(), 3);
  EXPECT_EQ(diagnostics.warning_count(), 1);
}

TEST(Diagnostics, RepetitionsAreDropped) {
  Diagnostics diagnostics;
  for (int i = 0; i < 3; ++i) diagnostics.Fault(NodePlace("a", "Foo", 0), "unknown op");
  EXPECT_EQ(diagnostics.Render(), "error: node 'a' (Foo): unknown op\n");
}

TEST(Diagnostics, TheStatusHoldsAllErrors) {
  Diagnostics diagnostics;
  diagnostics.AddStatus(absl::OkStatus());
  diagnostics.Note({}, "hello");
  EXPECT_TRUE(diagnostics.ToStatus().ok());
  diagnostics.AddStatus(absl::NotFoundError("x"), FilePlace("f"));
  diagnostics.Error({}, About("y", absl::UnimplementedError("z")));
  EXPECT_EQ(diagnostics.ToStatus().message(), "f: x\ny: z");
}

}  // namespace
}  // namespace aotc
