#include "compiler/lower/name_buffers.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(NameBuffers, KeepsBuffersApartFromVariables) {
  LoopFunction function{.name = "f"};
  for (const char* name : {"r1", "x", "task", "epilogue0", "v", "r1_data"}) {
    function.buffers.Add({.name = name});
  }
  TileObject epilogue{.name = "epilogue"};
  epilogue.methods.push_back({.params = {{"v", DType::kI64}}});
  function.body = Block({For("r1", 0, 3, {Let("k", 1)}), Tile({.operands = {epilogue}})});
  NameBuffers(function);
  std::vector<std::string> names;
  for (const LoopBuffer& buffer : function.buffers) names.push_back(buffer.name);
  EXPECT_EQ(names, (std::vector<std::string>{"r1_data", "x", "task_data", "epilogue0_data",
                                             "v_data", "r1_data_data"}));
}

}  // namespace
}  // namespace aotc
