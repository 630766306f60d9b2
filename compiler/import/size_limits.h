// The most that axes may have: of inputs, and for sizes that only a run knows.
//
//   ReadLimits(model.graph(), options, scope, graph, diagnostics);    // y: limits(0: 64)
#ifndef AOTC_COMPILER_IMPORT_SIZE_LIMITS_H_
#define AOTC_COMPILER_IMPORT_SIZE_LIMITS_H_

#include "compiler/import/graph_importer.h"

namespace aotc {

inline constexpr int kMaxRank = 8;  // AOTC_MAX_RANK of the table

// Of an input, called `place`. Findings: a rank above that, so many elements that sizes computed of
// them come near 64 bits, a dim such as "3 - n" that no value of its symbols makes a size. (Where
// only some do, the check of a run refuses the others.)
void CheckDims(const std::string& place, const ValueType& type, const SymbolTable& symbols,
               Diagnostics& diagnostics);

// Gives values what --bound says of them, and those of the main graph, which `scope` has, what the
// model declares. Finding: a tensor that the model does not have.
void ReadLimits(const pb::GraphProto& model, const ImportOptions& options, const Scope& scope,
                Graph& graph, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SIZE_LIMITS_H_
