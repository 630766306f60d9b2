// Nest: a kernel as one loop nest around its stages, before any decision on tasks, lanes or
// threads. The form from which every loop realisation starts, on every target.
//
//   outer n, c_o, h, w, c_i                  // storage axes of the main output
//     acc = sum over kh, kw of ...           // FlatStage: scalar temp
//     y[...] = max(acc + bias[...], 0)
//
// Where all stages have the axes of the main output, each iteration computes one point and temps
// are scalars (a point nest). Else the outer axes are the leading axes that all stages share, and
// each stage loops over its remaining (inner) axes; temps of rank > 0 live in scratch (a row nest).
//
// The last stages of a point nest may be statistics: outputs that combine what the points of some
// axes compute (the maximum of each row of y). Those axes are then the innermost ones, and each
// realisation combines as its fragments lie: lanes, threads, tiles.
#ifndef AOTC_COMPILER_LOWER_NEST_H_
#define AOTC_COMPILER_LOWER_NEST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/loops.h"
#include "compiler/schedule/nest_form.h"

namespace aotc {

struct NestAxis {
  std::string name = {};
  Expr extent = {};  // of the interior
  Halo halo = {};    // iterations before 0 and after extent that only write the fill value
  // What it walks, outermost first: axes of the result, or their parts in storage.
  std::vector<std::string> walks = {};
};

// Where one result of a stage goes: a local variable, and memory unless it is a scalar temp.
struct FlatResult {
  TensorId tensor = {};
  std::string variable = {};  // readers in the same iteration use it; "" in row nests
  Expr index = {};            // flat, in elements; null for scalar temps
  DType dtype = DType::kF32;  // storage type
  int inner_count = 0;        // leading inner axes that index this result
};

struct FlatStage {
  size_t stage = 0;                    // of the kernel
  std::vector<std::string> over = {};  // statistics: the outer axes that they are combined over
  std::vector<Axis> inner = {};
  std::vector<Axis> reduce = {};
  Combiner combiner = {};
  std::vector<Expr> bodies = {};  // loads are flat, scalar temps are variables
  std::vector<FlatResult> results = {};
};

struct Nest {
  std::vector<NestAxis> outer = {};
  std::vector<FlatStage> stages = {};
  Expr valid = {};     // false in lanes that pad a blocked axis; null: every point exists
  Expr padded = {};    // where just one axis is padded: its logical index ...
  Expr logical = {};   // ... and extent, so that `valid` is padded < logical
  double fill = 0;     // of the halo
  Bounds bounds = {};  // of symbols and outer axes
  bool is_point = false;
  IdVector<TensorId, LoopBuffer> buffers = {};

  bool HasStatistics() const { return !stages.empty() && !stages.back().over.empty(); }
};

// Iterations of an axis, its halo included; whether it has one.
Expr FullExtent(const NestAxis& axis);
bool HasHalo(const NestAxis& axis);

// Leading axes that no statistic is combined over; where there is no statistic, more than all.
size_t KeptAxes(const Nest& nest);

// What all of the axes walk, one after another.
std::vector<std::string> WalksOf(const std::vector<NestAxis>& axes);

// Error: stages that share no loop structure (fusion does not make such kernels).
absl::StatusOr<Nest> BuildNest(const Kernel& kernel);

// A row nest also of what could be a point nest: its last axis then is the row, or all axes from
// `most_shared` on.
absl::StatusOr<Nest> BuildRowNest(const Kernel& kernel);
absl::StatusOr<Nest> BuildRowNest(const Kernel& kernel, size_t most_shared);

// Bytes that the temps of one iteration take in memory.
int64_t TempBytes(const Nest& nest);

// Joins neighbouring outer axes that every access walks as one, so that inner loops get long.
void MergeAxes(Nest& nest);

// The nest's stage that computes stage `index` of the kernel; null where its readers do.
const FlatStage* StageAt(const Nest& nest, size_t index);

// Elements from an iteration of the axis to its next; nothing where they are not the same for all.
std::optional<Expr> StepAlong(const Expr& index, const std::string& axis, const Bounds& bounds);

// Bounds of the nest, then of the stage's inner and reduce axes.
Bounds StageBounds(const Nest& nest, const FlatStage& stage);

// `bounds`, which are of the nest's interior, with the halos: results have indices there too, at
// which the fill value is stored.
Bounds WithHalos(const Nest& nest, Bounds bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NEST_H_
