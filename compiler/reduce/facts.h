// What is known of the values between the nodes of a model, for those who cut it there.
#ifndef AOTC_COMPILER_REDUCE_FACTS_H_
#define AOTC_COMPILER_REDUCE_FACTS_H_

#include <string>

#include "compiler/import/editable_model.h"
#include "compiler/import/onnx_import.h"

namespace aotc {

// By the names of the model, of as many as inference reaches; nothing where it cannot be imported.
ValueFacts FactsOf(const std::string& path, const ImportOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_REDUCE_FACTS_H_
