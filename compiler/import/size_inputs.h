// Elements of integer inputs that sizes may depend on, as flags name them.
//
//   SizeInputs sizes;
//   sizes.Add(ends);                        // an input i64[2]: "ends[0]", "ends[1]"
//   if (sizes.Use("ends[1]")) ...           // of which a flag bounds one
//   sizes.ElementsOf(ends, symbols);        // {ends_0, ends_1}
#ifndef AOTC_COMPILER_IMPORT_SIZE_INPUTS_H_
#define AOTC_COMPILER_IMPORT_SIZE_INPUTS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/import/onnx_proto.h"
#include "compiler/import/symbol_table.h"

namespace aotc {

class SizeInputs {
 public:
  // An input of the graph, which has to outlive this. Nothing happens where it has more elements
  // than a shape operand has, others than integers, or not always as many.
  void Add(const pb::ValueInfoProto& input);
  // Makes the elements of an input symbols. False: no element has that name.
  bool Use(const std::string& element);
  // One symbol each; nothing where none is used.
  std::optional<std::vector<Expr>> ElementsOf(const pb::ValueInfoProto& input,
                                              SymbolTable& symbols) const;
  // Of all elements, sorted.
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, const pb::ValueInfoProto*> inputs_;  // by the name of an element
  std::set<const pb::ValueInfoProto*> used_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SIZE_INPUTS_H_
