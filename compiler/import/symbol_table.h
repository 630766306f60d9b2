// The symbols of a model: from the dims of its inputs, bounded and pinned by the flags.
//
//   SymbolTable symbols(flags);
//   AOTC_RETURN_IF_ERROR(symbols.Bind("batch", {1, 8, 1}, "--dim batch=1..8"));
//   symbols.Dim("4*batch");     // 4 * batch
//   symbols.Symbols();          // batch in 1..8
//   symbols.Unbound();          // names that still need a flag
#ifndef AOTC_COMPILER_IMPORT_SYMBOL_TABLE_H_
#define AOTC_COMPILER_IMPORT_SYMBOL_TABLE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/import/shape_options.h"
#include "compiler/ir/shape.h"
#include "compiler/support/names.h"

namespace aotc {

class SymbolTable {
 public:
  SymbolTable();

  // Makes a name known that stands alone as a dim somewhere: "batch-size" is then a difference
  // where both "batch" and "size" are known, else a name.
  void AddKnownName(const std::string& name) { known_.insert(name); }
  // The names that a dim text consists of: itself where it is no expression.
  std::set<std::string> NamesOf(const std::string& text) const;

  // States the values of a symbol. Error: it has others already, from another flag.
  absl::Status Bind(const std::string& alias, const DimBound& bound);
  // Two names stand for one symbol, before anything else is said of `name`. Nothing where they do
  // already.
  void Equate(const std::string& name, const std::string& other);

  // What is stated of a name; nothing where no flag does.
  std::optional<DimBound> BoundOf(const std::string& alias) const;

  // The dim that a text states. Symbols appear in the order of first use. A symbol without a bound
  // gets the range 1..kUnboundMax and is listed in Unbound().
  Expr Dim(const std::string& text);
  // The symbol of that name itself, whatever characters it has.
  Expr Symbol(const std::string& alias);
  // The same for a text whose symbols all exist already; nothing otherwise.
  std::optional<Expr> ExistingDim(const std::string& text) const;

  const std::vector<aotc::Symbol>& Symbols() const { return symbols_; }
  const std::vector<std::string>& Unbound() const { return unbound_; }

  static constexpr int64_t kUnboundMax = 1 << 16;

 private:
  bool IsExpression(const std::string& text) const;
  // The one name of all that are equal.
  const std::string& Principal(const std::string& name) const;

  std::set<std::string> known_;
  std::map<std::string, std::string> equal_;  // to the name that stands for it
  std::map<std::string, DimBound> bounds_;
  std::map<std::string, Expr> values_;  // of the symbols that have appeared
  std::vector<aotc::Symbol> symbols_;
  std::vector<std::string> unbound_;
  NameTable vars_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SYMBOL_TABLE_H_
