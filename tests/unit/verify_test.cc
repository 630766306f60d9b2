#include "compiler/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/import/npy.h"
#include "compiler/import/onnx_proto.h"
#include "compiler/support/files.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Constant Floats(std::vector<int64_t> dims, const std::vector<double>& values,
                DType dtype = DType::kF32) {
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(ByteWidth(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(dtype, bytes.data(), static_cast<int64_t>(i), values[i]);
  }
  return Constant::Dense(dtype, std::move(dims), std::move(bytes));
}

TEST(Difference, TellsTheElementThatIsFurthestOff) {
  const Constant expected = Floats({2, 3}, {1, 2, 3, 4, 5, 8});
  const Difference same = Compare(expected, expected);
  EXPECT_EQ(same.error, 0);
  EXPECT_EQ(same.ulp, 0);
  const Difference other = Compare(Floats({2, 3}, {1, 2, 3, 4, 7, 8.5}), expected);
  EXPECT_DOUBLE_EQ(other.error, 2.0 / 8);
  EXPECT_THAT(other.index, ElementsAre(1, 1));
  EXPECT_EQ(other.actual, 7);
  EXPECT_EQ(other.expected, 5);
  EXPECT_DOUBLE_EQ(other.ulp, 2 / std::ldexp(1.0, 2 - 23));
  EXPECT_THAT(other.Text(1e-4), HasSubstr("at [1, 1] 7, not 5"));
}

TEST(Difference, IntegersNanAndTypesAreExact) {
  EXPECT_TRUE(std::isinf(Compare(Constant::Ints({1, 2}), Constant::Ints({1, 3})).error));
  EXPECT_EQ(Compare(Constant::Ints({1, 2}), Constant::Ints({1, 2})).error, 0);
  const Constant nan = Floats({2}, {NAN, 1});
  EXPECT_EQ(Compare(nan, nan).error, 0);
  const Difference gone = Compare(Floats({2}, {0, 1}), nan);
  EXPECT_TRUE(std::isinf(gone.error));
  EXPECT_THAT(gone.index, ElementsAre(0));
  const Difference dims = Compare(Floats({2}, {0, 1}), Floats({2, 1}, {0, 1}));
  EXPECT_FALSE(dims.error <= 1e9);
  EXPECT_EQ(dims.Text(1e-4), "f32[2], not f32[2, 1]");
}

TEST(Npy, RoundTripsEveryKindOfType) {
  const std::vector<int64_t> shapes[] = {{}, {3}, {2, 3}, {2, 0}};
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI64, DType::kU8, DType::kBool,
                      DType::kF8E5M2}) {
    for (const std::vector<int64_t>& dims : shapes) {
      const Constant tensor = Constant::Random(dtype, dims, 7);
      absl::StatusOr<Constant> back = ParseNpy(ToNpy(tensor), dtype, {});
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_TRUE(back->SameValue(tensor)) << TypeText(tensor);
    }
  }
}

TEST(Npy, RefusesWhatItCannotMean) {
  const std::string good = ToNpy(Floats({2}, {1, 2}));
  EXPECT_FALSE(ParseNpy("no file", DType::kF32, {}).ok());
  EXPECT_FALSE(ParseNpy(good, DType::kF64, {}).ok());
  EXPECT_FALSE(ParseNpy(good.substr(0, good.size() - 1), DType::kF32, {}).ok());
  EXPECT_FALSE(ParseNpy(good.substr(0, 40), DType::kF32, {}).ok());
  std::string fortran = good;
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_FALSE(ParseNpy(fortran, DType::kF32, {}).ok());
}

TEST(FirstDifference, IsTheFirstInTheOrderOfExecution) {
  const std::vector<KeptValue> kept = {
      {.value = "a", .output = 1}, {.value = "b", .output = 2}, {.value = "y", .output = 0}};
  const Constant good = Floats({1}, {1}), bad = Floats({1}, {2});
  EXPECT_EQ(FirstDifference(kept, {good, good, good}, {good, good, good}, 1e-4), std::nullopt);
  EXPECT_EQ(FirstDifference(kept, {bad, good, bad}, {good, good, good}, 1e-4), 1u);
  EXPECT_EQ(FirstDifference(kept, {bad, good, good}, {good, good, good}, 1e-4), 2u);
}

// relu(x a) b: two kernels, each with a weight.
class VerifyModel : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("verify_test");
    ASSERT_TRUE(folder.ok());
    folder_ = std::make_unique<TemporaryFolder>(*std::move(folder));
    pb::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    pb::GraphProto& graph = *model.mutable_graph();
    AddFloats(*graph.add_input(), "x", 3, 8);
    AddFloats(*graph.add_output(), "y", 3, 4);
    AddWeight(graph, "a", 8, 16);
    AddWeight(graph, "b", 16, 4);
    AddNode(graph, "MatMul", {"x", "a"}, "p");
    AddNode(graph, "Relu", {"p"}, "r");
    AddNode(graph, "MatMul", {"r", "b"}, "y");
    ASSERT_TRUE(WriteFileIfChanged(Path(), model.SerializeAsString()).ok());
  }

  static void AddFloats(pb::ValueInfoProto& info, const char* name, int rows, int columns) {
    info.set_name(name);
    pb::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(pb::TensorProto::FLOAT);
    for (int dim : {rows, columns}) type.mutable_shape()->add_dim()->set_dim_value(dim);
  }

  static void AddWeight(pb::GraphProto& graph, const char* name, int rows, int columns) {
    pb::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(pb::TensorProto::FLOAT);
    for (int dim : {rows, columns}) tensor.add_dims(dim);
    for (int i = 0; i < rows * columns; ++i) {
      tensor.add_float_data(static_cast<float>(i * 37 % 19 - 9) / 9);
    }
  }

  static void AddNode(pb::GraphProto& graph, const char* op, std::vector<std::string> inputs,
                      const std::string& output) {
    pb::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.set_name("make_" + output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
  }

  std::string Path() const { return folder_->path() + "/net.onnx"; }

  VerifyOptions Options() const {
    VerifyOptions options;
    options.compile.model_path = Path();
    options.compile.cpu = "x86-64";
    options.build.compiler = "c++";
    return options;
  }

  // What is found when the first element of a weight is not what the model states.
  std::string FindingsWithBroken(const std::string& weight) {
    Diagnostics diagnostics;
    CompileOptions options = Options().compile;
    options.keep_values = options.example = true;
    absl::StatusOr<CompileResult> compiled = Compile(options, diagnostics);
    if (!compiled.ok()) return compiled.status().ToString();
    for (const Buffer& buffer : compiled->program.buffers) {
      if (buffer.kind == BufferKind::kWeights && buffer.value == weight) {
        std::string& blob = compiled->files.at("net_weights.bin");
        const size_t header = blob.size() - compiled->program.weights.size();
        StoreElement(DType::kF32, reinterpret_cast<uint8_t*>(blob.data()) + header + buffer.offset,
                     0, 100.0);
      }
    }
    const Constant x = Constant::Random(DType::kF32, {3, 8}, 1);
    const absl::Status status = ReportFirstDifference(*compiled, Options().build, {x}, diagnostics);
    return status.ok() ? diagnostics.Render() : status.ToString();
  }

  std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(VerifyModel, ASoundModelAgrees) {
  Diagnostics diagnostics;
  absl::StatusOr<VerifyReport> report = Verify(Options(), diagnostics);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(diagnostics.error_count(), 0) << diagnostics.Render();
  ASSERT_EQ(report->results.size(), 1u);
  EXPECT_EQ(report->results[0].tensor, "output 'y'");
  EXPECT_LT(report->results[0].difference.error, 1e-5);
}

TEST_F(VerifyModel, ABrokenWeightIsFoundAtTheNodeThatReadsIt) {
  EXPECT_THAT(FindingsWithBroken("a"), HasSubstr("error: node 'make_r' (Relu, opset 17): its "
                                                 "result 'r'"));
  EXPECT_THAT(FindingsWithBroken("b"), HasSubstr("error: node 'make_y' (MatMul, opset 17): its "
                                                 "result 'y'"));
}

TEST_F(VerifyModel, ACompilerThatFailsIsAnErrorWithItsOutput) {
  VerifyOptions options = Options();
  options.build.compiler = "c++ --no-such-flag";
  Diagnostics diagnostics;
  absl::StatusOr<VerifyReport> report = Verify(options, diagnostics);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("no-such-flag"));
  options.build.compiler = "no-such-compiler";
  report = Verify(options, diagnostics);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("no-such-compiler"));
}

}  // namespace
}  // namespace aotc
