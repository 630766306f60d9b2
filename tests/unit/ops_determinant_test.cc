// Det against the expansion by rows.
#include "compiler/eval/evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

using Matrix = std::vector<std::vector<double>>;

double Expansion(const Matrix& a) {
  if (a.empty()) return 1;
  double sum = 0;
  for (size_t column = 0; column < a.size(); ++column) {
    Matrix minor;
    for (size_t row = 1; row < a.size(); ++row) {
      minor.push_back(a[row]);
      minor.back().erase(minor.back().begin() + static_cast<long>(column));
    }
    sum += (column % 2 == 0 ? 1 : -1) * a[0][column] * Expansion(minor);
  }
  return sum;
}

Matrix MatrixOf(const Constant& x, int64_t number, int64_t size) {
  Matrix result(static_cast<size_t>(size));
  for (int64_t i = 0; i < size * size; ++i) {
    result[static_cast<size_t>(i / size)].push_back(x.FloatAt(number * size * size + i));
  }
  return result;
}

std::vector<double> Determinants(const Constant& x) {
  OpCase op("Det");
  op.Input(x.dtype(), MakeShape(x.dims()));
  absl::StatusOr<NodeKernel> built = op.Build();
  EXPECT_TRUE(built.ok()) << built.status();
  auto result = EvaluateKernel(built->kernel, {x});
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<double> values;
  for (int64_t i = 0; i < (*result)[0].element_count(); ++i)
    values.push_back((*result)[0].FloatAt(i));
  return values;
}

TEST(Det, IsTheExpansionByRows) {
  for (int64_t size : {1, 2, 3, 5, 6}) {
    const Constant x = Constant::Random(DType::kF64, {3, size, size}, 1);
    const std::vector<double> y = Determinants(x);
    ASSERT_EQ(y.size(), 3);
    for (int64_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(y[static_cast<size_t>(k)], Expansion(MatrixOf(x, k, size)), 1e-9) << size;
    }
  }
}

TEST(Det, ZeroPivotsChangePlaces) {
  const std::vector<int64_t> swap = {0, 1, 0, 0, 0, 2, 3, 0, 0}, singular = {1, 2, 2, 4};
  auto floats = [](const std::vector<int64_t>& values, std::vector<int64_t> dims) {
    std::vector<uint8_t> bytes(values.size() * 4);
    for (size_t i = 0; i < values.size(); ++i)
      StoreElement(DType::kF32, bytes.data(), static_cast<int64_t>(i),
                   static_cast<double>(values[i]));
    return Constant::Dense(DType::kF32, std::move(dims), std::move(bytes));
  };
  EXPECT_EQ(Determinants(floats(swap, {3, 3})), std::vector<double>{6});
  EXPECT_EQ(Determinants(floats(singular, {2, 2})), std::vector<double>{0});
  EXPECT_EQ(Determinants(floats(std::vector<int64_t>(9), {3, 3})), std::vector<double>{0});
}

TEST(Det, RefusesWhatIsNotSquare) {
  OpCase oblong("Det");
  oblong.Input(DType::kF32, {3, 4});
  EXPECT_THAT(oblong.OutputType(), testing::HasSubstr("square matrices"));
}

}  // namespace
}  // namespace aotc
