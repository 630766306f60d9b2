// TfIdfVectorizer, opset 9: how often the n-grams of a pool occur in rows of tokens.
//
// Each n-gram is looked for at every place, with every number of tokens skipped between its own:
// for P n-grams, C tokens and S skips P * C * S comparisons of n tokens.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// x: i32 or i64 [c] or [n, c]; terms: i64 [n-grams, longest]; lengths: i64 [n-grams], 0 where there
// is none; -> i64 [n-grams] or [n, n-grams]. Attribute `skips` is the most that may be skipped.
absl::Status CountTerms(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor terms, TypedInput(op, 1, DType::kI64, 2));
  AOTC_ASSIGN_OR_RETURN(const Tensor lengths, TypedInput(op, 2, DType::kI64, 1));
  if (!IsInteger(x.dtype())) return AOTC_REFUSAL(InvalidArgument, "needs integers");
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1, 2));
  const std::optional<int64_t> longest = terms.dim(1).AsInt();
  if (!longest) return absl::InternalError("needs n-grams of known length");
  const Expr& row_length = x.dim(-1);
  Shape dims = x.shape();
  dims.back() = terms.dim(0);
  const Shape places = {row_length, Expr(op.attributes().Int("skips") + 1)};
  auto body = [&](const Indices& i, const Indices& r) {
    const Expr length = lengths({i.back()}), stride = r[1] + 1;
    // What one token has nothing to skip between counts once.
    Expr found = And(Lt(0, length), Or(Eq(r[1], 0), Lt(1, length)));
    found = And(found, Lt(r[0] + (length - 1) * stride, row_length));
    for (int64_t k = 0; k < *longest; ++k) {
      Indices at = i;
      at.back() = Clamp(r[0] + k * stride, 0, row_length - 1);
      const Expr same = Eq(Cast(DType::kI64, x(at)), terms({i.back(), k}));
      found = Select(found, Select(Le(length, k), Bool(true), same), Bool(false));
    }
    return Cast(DType::kI64, found);
  };
  op.SetOutput(0, op.b().Reduce("sum", DType::kI64, dims, places, body));
  return absl::OkStatus();
}

// The n-grams of the attributes, one for each column of the result.
struct Terms {
  int64_t columns = 0, longest = 1;
  std::vector<int64_t> tokens = {};   // [columns, longest]
  std::vector<int64_t> lengths = {};  // [columns]
  std::vector<double> weights = {};   // [columns]
};

// Where the n-grams of length k + 1 begin and end in the pool.
absl::StatusOr<std::pair<int64_t, int64_t>> PoolPart(const std::vector<int64_t>& begins, size_t k,
                                                     int64_t pool_size) {
  const int64_t begin = begins[k];
  const int64_t end = k + 1 < begins.size() ? begins[k + 1] : pool_size;
  const int64_t length = static_cast<int64_t>(k) + 1;
  if (begin < 0 || end < begin || end > pool_size || (end - begin) % length != 0) {
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("ngram_counts do not divide the pool into n-grams of length ", length));
  }
  return std::pair(begin, end);
}

absl::Status AddTerm(const std::vector<int64_t>& pool, int64_t begin, int64_t length,
                     int64_t column, Terms& terms) {
  const auto place = static_cast<size_t>(column);
  if (terms.lengths[place] != 0) {
    return AOTC_REFUSAL(Unimplemented, "two n-grams have one place in the result");
  }
  terms.lengths[place] = length;
  std::copy_n(pool.begin() + begin, length, terms.tokens.begin() + column * terms.longest);
  return absl::OkStatus();
}

// Columns for those indexes, and no n-gram in them yet.
absl::StatusOr<Terms> EmptyTerms(const std::vector<int64_t>& indexes,
                                 const std::vector<int64_t>& begins, int64_t most) {
  if (indexes.empty() || begins.empty() || *std::ranges::min_element(indexes) < 0) {
    return AOTC_REFUSAL(InvalidArgument, "ngram_indexes or ngram_counts are missing, or negative");
  }
  constexpr int64_t kMostColumns = 1 << 20;
  Terms terms;
  terms.columns = *std::ranges::max_element(indexes) + 1;
  if (terms.columns > kMostColumns) return AOTC_REFUSAL(Unimplemented, "has too many columns");
  terms.longest = std::max<int64_t>(1, std::min(most, static_cast<int64_t>(begins.size())));
  const auto columns = static_cast<size_t>(terms.columns);
  terms.lengths.assign(columns, 0);
  terms.tokens.assign(columns * static_cast<size_t>(terms.longest), 0);
  terms.weights.assign(columns, 1);
  return terms;
}

absl::StatusOr<Terms> ReadTerms(const Attributes& attributes, const std::vector<int64_t>& pool) {
  const std::vector<int64_t> begins = attributes.Ints("ngram_counts");
  const std::vector<int64_t> indexes = attributes.Ints("ngram_indexes");
  const std::vector<float> weights = attributes.Floats("weights");
  const int64_t least = attributes.Int("min_gram_length", 1);
  const int64_t most = attributes.Int("max_gram_length", 1);
  AOTC_ASSIGN_OR_RETURN(Terms terms, EmptyTerms(indexes, begins, most));
  size_t number = 0;  // of the n-gram
  for (size_t k = 0; k < begins.size(); ++k) {
    const int64_t length = static_cast<int64_t>(k) + 1;
    AOTC_ASSIGN_OR_RETURN(const auto part, PoolPart(begins, k, static_cast<int64_t>(pool.size())));
    const auto count = static_cast<size_t>((part.second - part.first) / length);
    if (count > indexes.size() - number) {
      return AOTC_REFUSAL(InvalidArgument, "has more n-grams than ngram_indexes");
    }
    for (int64_t begin = part.first; begin < part.second; begin += length, ++number) {
      if (length < least || length > most) continue;
      AOTC_RETURN_IF_ERROR(AddTerm(pool, begin, length, indexes[number], terms));
      if (number < weights.size()) {
        terms.weights[static_cast<size_t>(indexes[number])] = weights[number];
      }
    }
  }
  return terms;
}

// The tokens as integers, and the pool as such: strings become their places in a list.
struct Tokens {
  ValueId x = {};
  std::vector<int64_t> pool = {};
};

absl::StatusOr<Tokens> TokensOf(Expansion& e) {
  if (!e.attributes().Has("pool_strings")) {
    return Tokens{e.Input(0), e.attributes().Ints("pool_int64s")};
  }
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  std::vector<std::string> words;
  std::map<std::string, int64_t> places;
  Tokens tokens;
  for (const std::string& word : e.attributes().Strings("pool_strings")) {
    const auto [found, is_new] = places.emplace(word, static_cast<int64_t>(words.size()));
    if (is_new) words.push_back(word);
    tokens.pool.push_back(found->second);
  }
  AOTC_ASSIGN_OR_RETURN(const Automaton automaton, DictionaryAutomaton(words));
  AOTC_ASSIGN_OR_RETURN(tokens.x, EmitAutomaton(e, StringInput(e, 0), automaton));
  return tokens;
}

absl::Status TfIdfVectorizer(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const std::string mode = e.attributes().String("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return AOTC_REFUSAL(InvalidArgument, "mode is not TF, IDF or TFIDF");
  }
  const int64_t skips = e.attributes().Int("max_skip_count");
  if (skips < 0) return AOTC_REFUSAL(InvalidArgument, "max_skip_count is negative");
  AOTC_ASSIGN_OR_RETURN(const Tokens tokens, TokensOf(e));
  AOTC_ASSIGN_OR_RETURN(const Terms terms, ReadTerms(e.attributes(), tokens.pool));
  const ValueId list =
      e.Add("terms", Constant::Ints(terms.tokens).Reshaped({terms.columns, terms.longest}));
  ValueId counts =
      e.Emit("CountTerms", {tokens.x, list, e.Ints("lengths", terms.lengths)}, {{"skips", skips}});
  if (mode == "IDF") counts = e.Emit("Min", {counts, e.Number("one", DType::kI64, 1)});
  counts = e.Emit("Cast", {counts}, {{"to", static_cast<int64_t>(DType::kF32)}});
  if (mode != "TF") {
    counts =
        e.Emit("Mul", {counts, e.Numbers("weights", DType::kF32, {terms.columns}, terms.weights)});
  }
  e.SetOutput(0, counts);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "CountTerms",
     .compute = CountTerms,
     .summary = "how often n-grams occur in rows of tokens",
     .traits = kOwn},
    {.name = "TfIdfVectorizer",
     .expand = TfIdfVectorizer,
     .summary = "how often n-grams occur, weighted"},
};

}  // namespace

std::span<const OpDef> TfIdfOps() { return kOps; }

}  // namespace aotc
