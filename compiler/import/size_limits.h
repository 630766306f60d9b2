// The most that axes may have, for sizes that only a run knows.
//
//   ReadLimits(model.graph(), options, scope, graph, diagnostics);    // y: limits(0: 64)
#ifndef AOTC_COMPILER_IMPORT_SIZE_LIMITS_H_
#define AOTC_COMPILER_IMPORT_SIZE_LIMITS_H_

#include "compiler/import/graph_importer.h"

namespace aotc {

// Gives values what --bound says of them, and those of the main graph, which `scope` has, what the
// model declares. Finding: a tensor that the model does not have.
void ReadLimits(const pb::GraphProto& model, const ImportOptions& options, const Scope& scope,
                Graph& graph, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SIZE_LIMITS_H_
