// Pad: elements added before and after (or, with negative counts, dropped) along some axes.
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/run_axes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Pads {
  std::vector<Expr> begin;
  std::vector<Expr> end;
};

absl::Status CheckCount(const std::vector<Expr>& given, size_t axes) {
  if (given.size() == 2 * axes) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("pads has ", given.size(), " elements for ", axes, " axes"));
}

// The same of axes that only a run knows.
absl::StatusOr<Pads> PadsOfRun(OpContext& op, const std::vector<Expr>& given, int rank) {
  AOTC_RETURN_IF_ERROR(RunAxes::Read(op, 3, rank).status());  // what it has to be is required there
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> axes, op.IntElements(3));
  AOTC_RETURN_IF_ERROR(CheckCount(given, axes.size()));
  Pads pads;
  for (int d = 0; d < rank; ++d) {
    Expr begin = 0, end = 0;
    for (size_t k = 0; k < axes.size(); ++k) {
      const Expr named = NamesAxis(axes[k], d, rank);
      begin = Select(named, given[k], begin);
      end = Select(named, given[k + axes.size()], end);
    }
    pads.begin.push_back(Simplify(begin, op.bounds()));
    pads.end.push_back(Simplify(end, op.bounds()));
  }
  return pads;
}

// Input 1 holds all begins, then all ends, of the axes in input 3 or of all.
absl::StatusOr<Pads> PadsOf(OpContext& op, int rank) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> given, op.IntElements(1));
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(const bool of_run, HasRunElements(op, 3));
    if (of_run) return PadsOfRun(op, given, rank);
    AOTC_ASSIGN_OR_RETURN(axes, op.ConstInts(3));
  }
  AOTC_RETURN_IF_ERROR(CheckCount(given, axes.size()));
  auto count = static_cast<size_t>(rank);
  Pads pads = {Indices(count, Expr(0)), Indices(count, Expr(0))};
  for (size_t k = 0; k < axes.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(int axis, op.NormalizeAxis(axes[k], rank));
    pads.begin[static_cast<size_t>(axis)] = given[k];
    pads.end[static_cast<size_t>(axis)] = given[k + axes.size()];
  }
  return pads;
}

// The index of the element that position `p` of an axis shows, p being negative before the first
// one.
using Fold = Expr (*)(const Expr& p, const Expr& dim);

Expr Edge(const Expr& p, const Expr& dim) { return Clamp(p, 0, dim - 1); }
Expr Wrap(const Expr& p, const Expr& dim) { return Mod(p, dim); }

// Pads shorter than the dim: one reflection at either end.
Expr ReflectOnce(const Expr& p, const Expr& dim) {
  Expr distance = Max(p, -p);
  return Min(distance, (dim - 1) * 2 - distance);
}

// 0 1 2 1 0 1 2 ... for a dim of 3: the period is 2 * (dim - 1).
Expr ReflectOften(const Expr& p, const Expr& dim) {
  if (dim.IsInt(1)) return 0;
  Expr period = (dim - 1) * 2;
  Expr place = Mod(p, period);
  return Min(place, period - place);
}

bool AreShort(const OpContext& op, const Shape& dims, const Pads& pads) {
  for (size_t d = 0; d < dims.size(); ++d) {
    Expr longest = Max(pads.begin[d], pads.end[d]);
    if (Prove(Lt(longest, dims[d]), op.bounds()) != true) return false;
  }
  return true;
}

absl::StatusOr<Fold> FoldOf(const std::string& mode, bool short_pads) {
  if (mode == "edge") return Edge;
  if (mode == "wrap") return Wrap;
  if (mode == "reflect") return short_pads ? ReflectOnce : ReflectOften;
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", mode, "'"));
}

// The fill of mode constant: known, or an operand of one element; default 0.
absl::StatusOr<Expr> FillValue(OpContext& op, const Tensor& x) {
  DType compute = ComputeType(x.dtype());
  if (!op.HasInput(2)) return NumberConst(0, compute);
  if (op.InputType(2).dtype != x.dtype()) {
    return AOTC_REFUSAL(InvalidArgument, "the fill value must have the element type of the input");
  }
  const Constant* known = op.ConstInput(2);
  if (known != nullptr && known->element_count() == 1) return ElementOf(*known, 0, compute);
  AOTC_ASSIGN_OR_RETURN(Tensor fill, op.Input(2));
  return fill(Indices(static_cast<size_t>(fill.rank()), Expr(0)));
}

// Modes that repeat elements take negative pads first: what these leave of x, without the first
// `dropped` along each axis.
struct KeptPart {
  Shape dims;
  Indices dropped;
};

// Leaves in `pads` those that are to be added.
absl::StatusOr<KeptPart> DropPads(OpContext& op, const Shape& dims, Pads& pads) {
  KeptPart kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    // What is dropped, spelled so that it is seen to be no more than nothing.
    const Expr change = Min(pads.begin[d], 0) + Min(pads.end[d], 0);
    kept.dims.push_back(Simplify(dims[d] + change, op.bounds()));
    kept.dropped.push_back(Simplify(-Min(pads.begin[d], 0), op.bounds()));
    pads.begin[d] = Simplify(Max(pads.begin[d], 0), op.bounds());
    pads.end[d] = Simplify(Max(pads.end[d], 0), op.bounds());
    if (!op.IsOfRun(kept.dims[d])) {
      const bool adds = !pads.begin[d].IsInt(0) || !pads.end[d].IsInt(0);
      const bool drops = !ProveEqual(change, 0, op.bounds());
      if (!adds || !drops || Prove(Lt(0, kept.dims[d]), op.bounds()) == true) continue;
      return AOTC_REFUSAL(InvalidArgument, StrCat("nothing may be left to repeat along axis ", d,
                                                  "; hint: --dim gives a least size"));
    }
    AOTC_RETURN_IF_ERROR(
        op.Require(Lt(0, kept.dims[d]), StrCat("nothing is left to repeat along axis ", d)));
  }
  return kept;
}

// Elements of x repeated around it.
absl::StatusOr<TensorBuilder::Body> RepeatedElements(OpContext& op, const Tensor& x, Pads pads,
                                                     const std::string& mode) {
  AOTC_ASSIGN_OR_RETURN(const KeptPart kept, DropPads(op, x.shape(), pads));
  AOTC_ASSIGN_OR_RETURN(const Fold fold, FoldOf(mode, AreShort(op, kept.dims, pads)));
  return [=](const Indices& i) {
    Indices indices;
    for (size_t d = 0; d < i.size(); ++d) {
      const bool unpadded = pads.begin[d].IsInt(0) && pads.end[d].IsInt(0);
      const Expr place = unpadded ? i[d] : fold(i[d] - pads.begin[d], kept.dims[d]);
      // No further than the last element: what is dropped may be a number of the run.
      const bool whole = kept.dropped[d].IsInt(0);
      indices.push_back(whole ? place : Min(place + kept.dropped[d], x.shape()[d] - 1));
    }
    return x.Stored(indices);
  };
}

absl::Status Pad(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Pads pads, PadsOf(op, x.rank()));
  std::string mode = op.attributes().String("mode", "constant");
  Shape shape;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    shape.push_back(Simplify(x.shape()[d] + pads.begin[d] + pads.end[d], op.bounds()));
    if (Prove(Lt(shape[d], 0), op.bounds()) == true) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("more is dropped than axis ", d, " has"));
    }
  }
  TensorBuilder::Body body;
  if (mode == "constant") {
    AOTC_ASSIGN_OR_RETURN(Expr fill, FillValue(op, x));
    body = [&, fill](const Indices& i) {
      Indices indices;
      Expr inside = Bool(true);
      for (size_t d = 0; d < i.size(); ++d) {
        indices.push_back(i[d] - pads.begin[d]);
        inside = And(inside, InBounds(indices[d], x.shape()[d]));
      }
      return Select(inside, x(indices), fill);
    };
  } else {
    AOTC_ASSIGN_OR_RETURN(body, RepeatedElements(op, x, pads, mode));
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, body));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Pad",
     .compute = Pad,
     .summary = "adds or drops elements at the ends of axes",
     .traits = kMovesOperands,
     .gradient = GradientOfPad},
};

}  // namespace

std::span<const OpDef> PadOps() { return kOps; }

}  // namespace aotc
