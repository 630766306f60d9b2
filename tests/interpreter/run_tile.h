// Runs a call of a tile function by what its row says that it computes: operands are read whole,
// through their views or accessors, and the results go where the view or the epilogue puts them.
//
//   TileRunner runner = *TileRunner::Make(row, call, exprs, translate);
//   runner.Run(exprs, frame, execute);       // a bad access fails the frame
#ifndef AOTC_TESTS_INTERPRETER_RUN_TILE_H_
#define AOTC_TESTS_INTERPRETER_RUN_TILE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/tile.h"
#include "tests/interpreter/expr_code.h"
#include "tests/interpreter/tile_text.h"

namespace aotc {

class TileRunner {
 public:
  // Makes statements ready to be executed, and gives them a number.
  using Translate = std::function<size_t(const std::vector<Stmt>&)>;
  using Execute = std::function<void(size_t statements)>;

  // Unimplemented: a tile that threads share, an object without the method that gives or takes
  // elements. InvalidArgument: a call that is not as its row says.
  static absl::StatusOr<TileRunner> Make(const TileRow& row, const TileCall& call, ExprCode& exprs,
                                         const Translate& translate);

  void Run(const ExprCode& exprs, Frame& frame, const Execute& execute) const;

 private:
  struct Method {
    std::vector<size_t> params = {};  // slots
    size_t body = 0;                  // number of its statements
    int result = -1;
    std::vector<size_t> hidden = {};  // slots of variables outside that its own hide
  };
  struct Extent {
    std::string name = {};
    int value = -1;
    int64_t most = INT64_MAX;
  };
  struct Operand {
    bool is_view = false;
    size_t buffer = 0;
    int offset = -1;
    std::vector<int> strides = {};
    std::optional<Method> call = {};     // operator() of an object
    std::optional<Method> initial = {};  // of an epilogue
  };
  using Indices = std::vector<int64_t>;

  TileRunner(const TileRow& row, const TileCall& call)
      : text_(KernelOfTile(row)), result_(row.result), lanes_(call.lanes) {}
  // Null where the object has none of this name with so many parameters.
  static std::optional<Method> MakeMethod(const TileObject& object, std::string_view name,
                                          size_t params, ExprCode& exprs,
                                          const Translate& translate);
  absl::StatusOr<Operand> MakeOperand(size_t number, const TileOperand& operand, ExprCode& exprs,
                                      const Translate& translate) const;
  SymbolValues Symbols(const ExprCode& exprs, Frame& frame) const;
  std::vector<Lane> Read(size_t operand, const Indices& dims, const ExprCode& exprs, Frame& frame,
                         const Execute& execute) const;
  void Write(const std::vector<Lane>& values, const Indices& dims, const ExprCode& exprs,
             Frame& frame, const Execute& execute) const;
  void WriteFragments(const std::vector<Lane>& values, const Indices& dims, const ExprCode& exprs,
                      Frame& frame, const Execute& execute) const;

  TileText text_;
  Fragment result_;
  int lanes_;
  SymbolValues fixed_ = {};  // parameters and lanes
  std::vector<Extent> extents_ = {};
  std::vector<Operand> operands_ = {};
};

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_RUN_TILE_H_
