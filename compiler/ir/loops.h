// Loops: a kernel after a schedule was applied, as a tree of loops, stores and calls of tiles.
//
//   loops @dense(%x: f32, %w: f32, out %y: f32) tasks m {
//     symbol m in 1..200
//     for j in 0..40 {
//       declare acc = 0.0
//       for k in 0..512 {
//         assign acc = acc + %x[task*512 + k] * %w[k*40 + j]
//       }
//       store %y[task*40 + j] = max(acc, 0.0)
//     }
//   }
//
// Buffers are flat: a kLoad or store has one index, in elements (and a stride where it has lanes).
// The body is that of one task, whose number is the variable `task`; who runs the tasks, and how
// many at a time, is decided by the host program (cpu) or the grid (cuda: task = blockIdx.x, and
// the variable `thread` = threadIdx.x runs over 0..threads-1).
#ifndef AOTC_COMPILER_IR_LOOPS_H_
#define AOTC_COMPILER_IR_LOOPS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/expr.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/shape.h"

namespace aotc {

enum class StmtKind : uint8_t {
  kBlock,    // body in order
  kFor,      // name in min..min+extent (exclusive), body
  kIf,       // condition, body, else_body
  kLet,      // name = value, for the rest of the enclosing block
  kDeclare,  // a mutable local variable with an initial value, for the rest of the enclosing block
  kAssign,   // name = value
  kStore,    // buffer[index] = value; with lanes: contiguous from index, the first `extent` if any
  kBarrier,  // all threads of the task (cuda)
  kTile,     // call of a tile function (schedule/tile.h)
  kComment,  // name is the text
};

enum class LoopKind : uint8_t {
  kSerial,
  kUnrolled,  // a pragma asks for it
  kThread,    // cuda: iterations are dealt out to the threads of a group (LoopFunction::group)
  kGrid,      // cuda: iterations are dealt out to all threads of the grid
};

struct StmtNode;
struct TileCall;

// A handle on an immutable statement.
class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(StmtNode node);
  bool valid() const { return node_ != nullptr; }
  const StmtNode& operator*() const { return *node_; }
  const StmtNode* operator->() const { return node_.get(); }
  inline StmtKind kind() const;

 private:
  std::shared_ptr<const StmtNode> node_;
};

struct StmtNode {
  StmtKind kind = StmtKind::kBlock;
  LoopKind loop = LoopKind::kSerial;
  std::string name = {};
  Expr min = {};     // kFor
  Expr extent = {};  // kFor
  Expr value = {};   // kIf: condition; kLet, kDeclare, kAssign, kStore
  Expr index = {};   // kStore, in elements
  TensorId buffer = {};
  std::vector<Stmt> body = {};
  std::vector<Stmt> else_body = {};
  std::shared_ptr<const TileCall> tile = {};
};

inline Stmt::Stmt(StmtNode node) : node_(std::make_shared<const StmtNode>(std::move(node))) {}
inline StmtKind Stmt::kind() const { return node_->kind; }

Stmt Block(std::vector<Stmt> body);
Stmt For(std::string_view name, const Expr& min, const Expr& extent, std::vector<Stmt> body,
         LoopKind kind = LoopKind::kSerial);
Stmt If(const Expr& condition, std::vector<Stmt> body, std::vector<Stmt> else_body = {});
Stmt Let(std::string_view name, const Expr& value);
Stmt Declare(std::string_view name, const Expr& value);
Stmt Assign(std::string_view name, const Expr& value);
// `count`: how many leading lanes are stored; all where it is not given.
Stmt Store(TensorId buffer, const Expr& index, const Expr& value, const Expr& count = {});
Stmt Barrier();
Stmt Comment(std::string_view text);
Stmt Tile(TileCall call);

// A typed hole of a tile function: a function object that the emitter writes from statements.
//   accessor: parameters -> result fragment;   epilogue: parameters incl. the accumulator -> stores
struct FunctorParam {
  std::string name = {};
  DType dtype = DType::kI64;
  int lanes = 1;
  TensorId pointer = {};  // or: a pointer to this buffer, which has no other storage and the name
  // Of an index, which is 0 or more: the largest value that the tile function gives, an i64 over
  // the symbols. Null where nobody says.
  Expr most = {};
};
struct TileFunctor {
  std::string method = "operator()";
  std::vector<FunctorParam> params = {};
  std::vector<Stmt> body = {};
  Expr result = {};              // where the method returns a value
  TensorId result_pointer = {};  // or: the address of this buffer ...
  Expr result_offset = {};       // ... plus these elements
};
// Several methods of one function object.
struct TileObject {
  std::string name = {};  // for the struct's name: "input", "epilogue"
  std::vector<TileFunctor> methods = {};
  std::vector<std::pair<std::string, int64_t>> constants = {};  // what the tile function asks of it
};
// An operand or result of a tile as it lies in memory: the element at (i0, i1, ...) of the axes
// that the tile's text gives it is buffer[offset + i0 * strides[0] + i1 * strides[1] + ...].
struct TileView {
  TensorId buffer = {};
  Expr offset = {};
  std::vector<Expr> strides = {};
};
// An associative combiner as a function object with the methods identity() and combine(a, b), over
// the type of its one accumulator or over a struct of them.
struct TileCombiner {
  std::string name = {};  // for the struct's name
  Combiner combiner = {};
  bool has_identity = true;  // whether the tile function asks for it
};
using TileOperand = std::variant<TileView, TileObject, TileCombiner>;

// A call of a tile function, which is a row of the target's table (schedule/tile.h): what it
// computes, how it is written in C++ and which values its parameters may have stand there.
struct TileCall {
  std::string tile = {};                   // name of the row: "contract_tile"
  std::vector<int64_t> params = {};        // values of the row's parameters, in order
  int lanes = 1;                           // of its vectors
  std::vector<Expr> extents = {};          // values of the row's extents, in order
  std::vector<TileOperand> operands = {};  // in the row's order, results last
  // Declared variables whose values, as one state, are the first argument and then the result.
  std::vector<std::string> state = {};
};

// Where a buffer of the function lives.
enum class BufferPlace : uint8_t { kParam, kScratch, kLocal, kShared };

struct LoopBuffer {
  std::string name = {};
  DType dtype = DType::kF32;
  BufferPlace place = BufferPlace::kParam;
  bool written = false;
  int64_t elements = 0;  // kScratch, kLocal, kShared
  int64_t offset = 0;    // bytes into the scratch
};

struct LoopFunction {
  std::string name = {};
  IdVector<TensorId, LoopBuffer> buffers = {};  // the kernel's tensors under their ids, then others
  std::vector<TensorId> params = {};            // as the kernel's
  std::vector<Symbol> symbols = {};             // arguments, by Symbol::var
  Expr tasks = 1;
  int64_t scratch_bytes = 0;  // per worker (cpu)
  int64_t threads = 1;        // per block (cuda)
  // Neighbouring threads that share kThread loops (cuda), 0 for the whole block; where it is less,
  // the variable `lane` is the thread's place in its group.
  int64_t group = 0;
  // The type of symbols, `task`, `thread`, loop variables and indices in the body: i64, or i32
  // where all of them fit (lower/index_width.h). `tasks` is an i64 in any case, which the host
  // computes.
  DType index = DType::kI64;
  Stmt body = {};
};

// What a kGrid loop advances by: all threads of the grid. An i64 over the symbols.
Expr GridStride(const LoopFunction& function);

// All statements and expressions in order, outer before inner (tile functors included).
void VisitStmts(const Stmt& stmt, const std::function<void(const Stmt&)>& visit);
void VisitExprs(const Stmt& stmt, const std::function<void(const Expr&)>& visit);
// Parameters that no statement reads or stores; none where a tile function is called.
std::vector<TensorId> UnusedParams(const LoopFunction& function);
// Buffers of the function's own that nothing reads, no tile function either.
std::vector<TensorId> UnreadBuffers(const LoopFunction& function);
// Rebuilds with each expression (index, value, bounds, condition) mapped; tile holes included.
Stmt TransformExprs(const Stmt& stmt, const std::function<Expr(const Expr&)>& rewrite);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_LOOPS_H_
