// Index maps of reshapes and places of resizes, against counting and arithmetic in doubles.
#include "compiler/ops/index_map.h"
#include "compiler/ops/resize_geometry.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

std::vector<int64_t> Values(const std::vector<Expr>& exprs,
                            const std::map<std::string, int64_t, std::less<>>& values) {
  std::vector<int64_t> result;
  for (const Expr& e : exprs) result.push_back(EvaluateInt(e, values).value_or(-1));
  return result;
}

int64_t Flat(const std::vector<int64_t>& indices, const std::vector<int64_t>& dims) {
  int64_t flat = 0;
  for (size_t d = 0; d < dims.size(); ++d) flat = flat * dims[d] + indices[d];
  return flat;
}

// Element k of `to` must be element k of `from`, for all k.
void ExpectSameOrder(const Shape& from, const Shape& to, int64_t n) {
  std::map<std::string, int64_t, std::less<>> values = {{"n", n}};
  Bounds bounds;
  bounds.Add("n", 1, 16);
  Indices i;
  for (size_t d = 0; d < to.size(); ++d) {
    i.push_back(Var("i" + std::to_string(d)));
    bounds.Add(i[d]->name, 0, to[d] - 1);
  }
  Indices map = ReshapeIndices(from, to, i, bounds);
  std::vector<int64_t> from_dims = Values(from, values), to_dims = Values(to, values);
  int64_t count = 1;
  for (int64_t dim : to_dims) count *= dim;
  for (int64_t k = 0; k < count; ++k) {
    int64_t rest = k;
    for (size_t d = to.size(); d-- > 0; rest /= to_dims[d]) values[i[d]->name] = rest % to_dims[d];
    EXPECT_EQ(Flat(Values(map, values), from_dims), k) << "at element " << k;
  }
}

TEST(ReshapeIndices, KeepTheOrderOfElements) {
  Expr n = Var("n");
  for (int64_t size : {1, 2, 5}) {
    ExpectSameOrder({n, 6, 4}, {n, 24}, size);
    ExpectSameOrder({n, 24}, {n, 2, 3, 4}, size);
    ExpectSameOrder({6, n, 4}, {2, 3, n * 4}, size);
    ExpectSameOrder({n, 1, 4}, {4, n}, size);
    ExpectSameOrder({n * 2, 3}, {1, n, 6, 1}, size);
    ExpectSameOrder({1, 1}, {1}, size);
    ExpectSameOrder({}, {1, 1}, size);
    ExpectSameOrder({8, 9}, {6, 12}, size);
  }
}

TEST(ReshapeIndices, PassMatchingDimsThrough) {
  Bounds bounds;
  bounds.Add("n", 1, 16);
  Expr n = Var("n");
  Indices i = {Var("a"), Var("b"), Var("c")};
  Indices map = ReshapeIndices({n, 4, 6}, {n, 24, 1}, i, bounds);
  EXPECT_TRUE(Same(map[0], i[0]));
  map = ReshapeIndices({n, 5}, {n, 1, 5}, i, bounds);
  EXPECT_TRUE(Same(map, {i[0], i[2]}));
}

TEST(SimplestFraction, RecoversWhatAUserWrote) {
  auto expect = [](float value, int64_t numerator, int64_t denominator) {
    Fraction f = SimplestFraction(value);
    EXPECT_TRUE(f.numerator.IsInt(numerator)) << value;
    EXPECT_TRUE(f.denominator.IsInt(denominator)) << value;
  };
  expect(2.0F, 2, 1);
  expect(0.6F, 3, 5);
  expect(1.0F / 3, 1, 3);
  expect(0.0F, 0, 1);
  expect(-0.25F, -1, 4);
  expect(2.5F, 5, 2);
  expect(800.0F / 640, 5, 4);
}

}  // namespace
}  // namespace aotc
