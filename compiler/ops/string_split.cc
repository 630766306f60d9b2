// StringSplit, opset 20.
//
// Where a string is cut depends on the bytes of the pool alone, not on which string it is: of every
// byte it is known where the piece that begins there ends, and where the next one begins. So
// pieces are found by jumps of 1, 2, 4 ... pieces, all at a time:
//
//   first[b]   where the first piece of a string that begins at byte b begins
//   stop[b]    where the piece that begins at b ends, if the string goes on
//   jump[b]    where the next piece begins
//   back[b]    where the last piece of a string that ends at b ends
//
// All are i64 [bytes + 2]; the last index, bytes + 1, is beyond every string.
//
// Whitespace is that of Unicode, and a string without bytes is one piece between delimiters, as in
// Python (onnxruntime takes only spaces for whitespace, and finds no piece in such a string).
// Whitespace at the end of a string is in no piece, also where `maxsplit` ends the splitting.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kNoLimit = -1;

int64_t MostSplits(const Attributes& attributes) {
  return std::max(attributes.Int("maxsplit", kNoLimit), kNoLimit);
}

// The least power of two above every number that `most` may be.
int64_t PowerAbove(const Expr& most, const Bounds& bounds) {
  int64_t power = 1;
  while (power <= RangeOf(most, bounds).max) power *= 2;
  return power;
}

// Byte `at` of the pool; 0 beyond its end.
Expr ByteOf(const Tensor& pool, const Expr& at) {
  const Expr inside = InBounds(at, pool.dim(0));
  return Select(inside, pool({Clamp(at, 0, pool.dim(0) - 1)}), IntConst(0, DType::kU8));
}

Expr Within(const Expr& byte, int first, int last) {
  return And(Le(IntConst(first, DType::kU8), byte), Le(byte, IntConst(last, DType::kU8)));
}

Expr Is(const Expr& byte, int value) { return Eq(byte, IntConst(value, DType::kU8)); }

// How many bytes the whitespace takes that begins at a byte; 0 where there is none.
Expr SpaceLength(const Tensor& pool, const Expr& at) {
  const Expr a = ByteOf(pool, at), b = ByteOf(pool, at + 1), c = ByteOf(pool, at + 2);
  const Expr one = Or(Within(a, 0x09, 0x0D), Within(a, 0x1C, 0x20));
  const Expr two = And(Is(a, 0xC2), Or(Is(b, 0x85), Is(b, 0xA0)));         // U+0085, U+00A0
  const Expr ogham = And(Is(a, 0xE1), And(Is(b, 0x9A), Is(c, 0x80)));      // U+1680
  const Expr lines = Or(Within(c, 0xA8, 0xA9), Is(c, 0xAF));               // U+2028, 2029, 202F
  const Expr spaces = And(Is(b, 0x80), Or(Within(c, 0x80, 0x8A), lines));  // U+2000 to 200A
  const Expr middle = And(Is(b, 0x81), Is(c, 0x9F));                       // U+205F
  const Expr wide = And(Is(a, 0xE3), And(Is(b, 0x80), Is(c, 0x80)));       // U+3000
  const Expr three = Or(Or(ogham, wide), And(Is(a, 0xE2), Or(spaces, middle)));
  return Select(one, Expr(1), Select(two, Expr(2), Select(three, Expr(3), Expr(0))));
}

// What is known of each byte of a pool.
class Marks {
 public:
  Marks(OpContext& op, const Tensor& pool)
      : op_(op), pool_(pool), beyond_(pool.dim(0) + 1), all_({pool.dim(0) + 2}) {}

  absl::Status SetOutputs(const std::string& delimiter) {
    if (delimiter.empty()) {
      SetWords();
    } else {
      SetDelimited(delimiter);
    }
    return absl::OkStatus();
  }

 private:
  Tensor Compute(const std::function<Expr(const Expr&)>& body) {
    return op_.b().Compute(DType::kI64, all_, [&](const Indices& i) { return body(i[0]); });
  }

  // The nearest index, this one or one behind it, for which a condition holds; where there is none,
  // the one beyond.
  Tensor Nearest(const std::function<Expr(const Expr&)>& holds) {
    Tensor near = Compute([&](const Expr& at) { return Select(holds(at), at, beyond_); });
    const int64_t end = PowerAbove(beyond_, op_.bounds());
    for (int64_t stride = 1; stride < end; stride *= 2) {
      const Tensor before = near;
      near = Compute([&](const Expr& at) {
        const Expr other = before({Min(at + stride, beyond_)});
        return Min(before({at}), other);
      });
    }
    return near;
  }

  void SetDelimited(const std::string& delimiter) {
    const auto size = static_cast<int64_t>(delimiter.size());
    const Tensor stop = Nearest([&](const Expr& at) {
      Expr occurs = Le(at + size, pool_.dim(0));
      for (int64_t k = 0; k < size; ++k) {
        const auto wanted = static_cast<uint8_t>(delimiter[static_cast<size_t>(k)]);
        occurs = Select(occurs, Is(ByteOf(pool_, at + k), wanted), Bool(false));
      }
      return occurs;
    });
    op_.SetOutput(0, Compute([](const Expr& at) { return at; }));
    op_.SetOutput(1, stop);
    op_.SetOutput(2, Compute([&](const Expr& at) { return Min(stop({at}) + size, beyond_); }));
    op_.SetOutput(3, Compute([](const Expr& at) { return at; }));
  }

  void SetWords() {
    const Tensor length = Compute([&](const Expr& at) { return SpaceLength(pool_, at); });
    const auto covers = [&](const Expr& at, const Expr& before) {
      return Select(Le(before, at), Lt(before, length({Max(at - before, 0)})), Bool(false));
    };
    const Tensor space = op_.b().Compute(DType::kBool, all_, [&](const Indices& i) {
      return Or(covers(i[0], 0), Or(covers(i[0], 1), covers(i[0], 2)));
    });
    const Expr end = pool_.dim(0);
    const auto is_word = [&](const Expr& at) { return And(Lt(at, end), Not(space({at}))); };
    const Tensor word = Nearest(is_word);
    const Tensor stop = Nearest([&](const Expr& at) { return Not(is_word(at)); });
    op_.SetOutput(0, word);
    op_.SetOutput(1, stop);
    op_.SetOutput(2, Compute([&](const Expr& at) { return word({stop({at})}); }));
    if (op_.WantsOutput(3)) op_.SetOutput(3, EndsOfWords(is_word));
  }

  // The last index, this one or one before it, behind a byte of a word; 0 where there is none.
  Tensor EndsOfWords(const std::function<Expr(const Expr&)>& is_word) {
    Tensor last = Compute([&](const Expr& at) {
      return Select(Le(1, at), Select(is_word(Max(at - 1, 0)), at, Expr(0)), Expr(0));
    });
    const int64_t end = PowerAbove(beyond_, op_.bounds());
    for (int64_t stride = 1; stride < end; stride *= 2) {
      const Tensor before = last;
      last =
          Compute([&](const Expr& at) { return Max(before({at}), before({Max(at - stride, 0)})); });
    }
    return last;
  }

  OpContext& op_;
  const Tensor pool_;
  const Expr beyond_;
  const Shape all_;
};

// pool -> first, stop, jump, back; attribute `delimiter`.
absl::Status SplitMarks(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor pool, TypedInput(op, 0, DType::kU8, 1));
  return Marks(op, pool).SetOutputs(op.attributes().String("delimiter"));
}

// The inputs that SplitCounts and SplitPieces share: starts and sizes of the strings, first, jump.
struct Splitter {
  Tensor starts = {}, sizes = {}, first = {};
  std::vector<Tensor> jumps = {};  // of 1, 2, 4 ... pieces, as far as there may be pieces
  int64_t most_splits = kNoLimit;
  bool words = false;  // a piece has a byte at least

  Expr End(const Indices& i) const { return starts(i) + sizes(i); }
  Expr IsPiece(const Indices& i, const Expr& begin) const {
    return words ? Lt(begin, End(i)) : Le(begin, End(i));
  }
  Expr Look(const Tensor& marks, const Expr& at) const {
    return marks({Clamp(at, 0, marks.dim(0) - 1)});
  }

  static absl::StatusOr<Splitter> Read(OpContext& op) {
    Splitter s;
    AOTC_ASSIGN_OR_RETURN(s.sizes, TypedInput(op, 1, DType::kI64, 0, kAnyRank));
    AOTC_ASSIGN_OR_RETURN(s.starts, TypedInput(op, 0, DType::kI64, s.sizes.rank()));
    AOTC_ASSIGN_OR_RETURN(s.first, TypedInput(op, 2, DType::kI64, 1));
    AOTC_ASSIGN_OR_RETURN(const Tensor jump, TypedInput(op, 3, DType::kI64, 1));
    s.most_splits = MostSplits(op.attributes());
    s.words = op.attributes().String("delimiter").empty();
    Expr most = jump.dim(0);
    if (s.most_splits != kNoLimit) most = Min(most, s.most_splits);
    s.jumps = {jump};
    const Shape& all = jump.shape();
    for (int64_t power = 2; power < PowerAbove(most, op.bounds()); power *= 2) {
      const Tensor half = s.jumps.back();
      s.jumps.push_back(op.b().Compute(DType::kI64, all,
                                       [&](const Indices& i) { return s.Look(half, half(i)); }));
    }
    return s;
  }
};

// -> i64 [dims]: how many pieces each string has.
absl::Status SplitCounts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Splitter s, Splitter::Read(op));
  const Shape dims = s.sizes.shape();
  const auto compute = [&](const TensorBuilder::Body& body) {
    return op.b().Compute(DType::kI64, dims, body);
  };
  Tensor begin = compute([&](const Indices& i) { return s.Look(s.first, s.starts(i)); });
  Tensor count =
      compute([&](const Indices& i) { return Select(s.IsPiece(i, begin(i)), Expr(1), Expr(0)); });
  for (size_t k = s.jumps.size(); k-- > 0;) {
    const Tensor begin_before = begin, count_before = count;
    const auto next = [&](const Indices& i) { return s.Look(s.jumps[k], begin_before(i)); };
    begin = compute(
        [&](const Indices& i) { return Select(s.IsPiece(i, next(i)), next(i), begin_before(i)); });
    count = compute([&](const Indices& i) {
      return count_before(i) + Select(s.IsPiece(i, next(i)), Expr(int64_t{1} << k), Expr(0));
    });
  }
  op.SetOutput(0, compute([&](const Indices& i) {
                 return s.most_splits == kNoLimit ? count(i) : Min(count(i), s.most_splits + 1);
               }));
  return absl::OkStatus();
}

// counts: i64 [dims] -> i64 []: the largest.
absl::Status LargestCount(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor counts, TypedInput(op, 0, DType::kI64, 0, kAnyRank));
  const bool scalar = counts.rank() == 0;
  Shape dims = counts.shape();
  if (scalar) dims = {Expr(1)};
  const Tensor most = op.b().Reduce(
      "max", DType::kI64, {}, dims,
      [&](const Indices&, const Indices& r) { return scalar ? counts({}) : counts(r); });
  op.SetOutput(0,
               op.b().Compute(DType::kI64, {}, [&](const Indices&) { return Max(most({}), 0); }));
  return absl::OkStatus();
}

// starts, sizes, first, jump, stop, back, counts, largest count -> starts and sizes i64 [dims, n]:
// the pieces, and strings without bytes behind the last.
absl::Status SplitPieces(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Splitter s, Splitter::Read(op));
  AOTC_ASSIGN_OR_RETURN(const Tensor stop, TypedInput(op, 4, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor back, TypedInput(op, 5, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor counts, TypedInput(op, 6, DType::kI64, s.sizes.rank()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> largest, op.IntElements(7));
  if (largest.size() != 1) return absl::InternalError("needs one count");
  Expr most = stop.dim(0) - 1;
  if (s.most_splits != kNoLimit) most = Min(most, s.most_splits + 1);
  Shape dims = s.sizes.shape();
  dims.push_back(op.Size(Max(largest[0], 0), 0, s.sizes.rank(), most));
  const auto compute = [&](const std::function<Expr(const Indices&, const Expr&)>& body) {
    return op.b().Compute(DType::kI64, dims, [&](const Indices& i) {
      return body(Indices(i.begin(), i.end() - 1), i.back());
    });
  };
  const auto at = [](const Indices& i, const Expr& piece) {
    Indices all = i;
    all.push_back(piece);
    return all;
  };
  Tensor begin =
      compute([&](const Indices& i, const Expr&) { return s.Look(s.first, s.starts(i)); });
  for (size_t k = 0; k < s.jumps.size(); ++k) {
    const Tensor before = begin;
    begin = compute([&](const Indices& i, const Expr& piece) {
      const Expr from = before(at(i, piece));
      const Expr jumps = Eq(Mod(FloorDiv(piece, int64_t{1} << k), 2), 1);
      return Select(jumps, s.Look(s.jumps[k], from), from);
    });
  }
  const auto delimiter = static_cast<int64_t>(op.attributes().String("delimiter").size());
  const auto end = [&](const Indices& i, const Expr& piece) {
    const Expr found = s.Look(stop, begin(at(i, piece)));
    Expr cut = Select(Le(found + delimiter, s.End(i)), found, s.End(i));
    if (s.most_splits == kNoLimit) return cut;
    return Select(Eq(piece, s.most_splits), s.Look(back, s.End(i)), cut);
  };
  const auto exists = [&](const Indices& i, const Expr& piece) { return Lt(piece, counts(i)); };
  op.SetOutput(0, compute([&](const Indices& i, const Expr& piece) {
                 return Select(exists(i, piece), begin(at(i, piece)), Expr(0));
               }));
  op.SetOutput(1, compute([&](const Indices& i, const Expr& piece) {
                 return Select(exists(i, piece), end(i, piece) - begin(at(i, piece)), Expr(0));
               }));
  return absl::OkStatus();
}

// The pool stays as it is. Outputs: strings, then the number of pieces of each.
absl::Status StringSplit(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const StringValues x = StringInput(e, 0);
  const std::string delimiter = e.attributes().String("delimiter");
  const std::vector<ValueId> marks =
      e.EmitSeveral("SplitMarks", {x.pool}, 4, {{"delimiter", delimiter}});
  const ValueId first = marks[0], stop = marks[1], jump = marks[2], back = marks[3];
  const Expansion::NamedValues how = {{"delimiter", delimiter},
                                      {"maxsplit", MostSplits(e.attributes())}};
  const ValueId counts = e.Emit("SplitCounts", {x.starts, x.sizes, first, jump}, how);
  const ValueId largest = e.Emit("LargestCount", {counts});
  const std::vector<ValueId> pieces = e.EmitSeveral(
      "SplitPieces", {x.starts, x.sizes, first, jump, stop, back, counts, largest}, 2, how);
  SetStringOutput(e, 0, {pieces[0], pieces[1], x.pool});
  e.SetOutput(kStringParts, counts);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "LargestCount",
     .compute = LargestCount,
     .summary = "the largest of numbers of pieces",
     .traits = kOwn | kCounts},
    {.name = "SplitCounts",
     .compute = SplitCounts,
     .summary = "how many pieces strings are split into",
     .traits = kOwn},
    {.name = "SplitMarks",
     .compute = SplitMarks,
     .summary = "where the pieces of strings begin and end, for each byte",
     .traits = kOwn},
    {.name = "SplitPieces",
     .compute = SplitPieces,
     .summary = "the pieces of strings",
     .traits = kOwn},
    {.name = "StringSplit",
     .expand = StringSplit,
     .summary = "strings cut at a delimiter or at whitespace"},
};

}  // namespace

std::span<const OpDef> StringSplitOps() { return kOps; }

}  // namespace aotc
