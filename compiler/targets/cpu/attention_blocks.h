// Attention that walks blocks of keys, whatever its rows are to the machine: what the ways of
// computing a block share. A way derives from it: attention_loops.cc, attention_row_loops.cc.
#ifndef AOTC_COMPILER_TARGETS_CPU_ATTENTION_BLOCKS_H_
#define AOTC_COMPILER_TARGETS_CPU_ATTENTION_BLOCKS_H_

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/targets/cpu/attention.h"

namespace aotc {

class AttentionBlocks {
 public:
  virtual ~AttentionBlocks() = default;
  AttentionBlocks(const AttentionBlocks&) = delete;
  AttentionBlocks& operator=(const AttentionBlocks&) = delete;

  // Error: stages without vector form.
  absl::StatusOr<LoopFunction> Build();

 protected:
  using Statements = absl::StatusOr<std::vector<Stmt>>;
  static constexpr double kLeast = -std::numeric_limits<double>::infinity();

  AttentionBlocks(const Attention& a, const AttentionTiling& tiling, int lanes);

  // Buffers of the way; `weighted` has an element (column, row) at column * block + row, `total`
  // the sum of a row's weights.
  struct Sums {
    TensorId weighted = {}, total = {};
  };
  virtual Sums MakeScratch() = 0;
  // The queries of the task, and the state that it begins with.
  virtual Statements Start() const = 0;
  // A block's part of the state.
  virtual Statements KeyBlock() const = 0;
  // Of the largest scores so far of the task's rows the least.
  virtual Expr LeastTop() const = 0;

  const Expr& Rows() const { return a_.rows().extent; }
  bool HasWholeBlocks() const;
  bool HasWholeKeys() const;
  Expr RowCount() const;
  Expr KeyCount() const;
  Expr KeyBlocks() const;

  TensorId Scratch(std::string name, int64_t elements);
  Expr At(TensorId buffer, const Expr& index) const;
  Expr Floats(std::string_view name) const { return VectorVar(name, DType::kF32, lanes_); }
  Expr InLanes(double number) const { return InAllLanes(FloatConst(number), lanes_); }
  // Where the block's first key is.
  Expr KeyOffset(const AttentionRows& rows) const;

  const Attention& a_;
  const AttentionTiling tiling_;
  const int lanes_;
  Bounds bounds_;

 private:
  bool IsParam(const std::string& name) const;
  Statements KeyLoop() const;
  std::optional<std::vector<Stmt>> UnlessHidden(const std::vector<Stmt>& block) const;
  Stmt Results(const Sums& sums) const;
  void Rename(Nest& nest) const;

  LoopFunction function_;
};

absl::StatusOr<LoopFunction> AttentionOfLanes(const Attention& a, const AttentionTiling& tiling,
                                              int lanes);
absl::StatusOr<LoopFunction> AttentionOfRow(const Attention& a, const AttentionTiling& tiling,
                                            int lanes);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_ATTENTION_BLOCKS_H_
