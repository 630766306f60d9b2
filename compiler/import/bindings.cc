#include "compiler/import/bindings.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/import/npy.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/import/tensor_file.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

namespace aotc {
namespace {

// What the graph says of a name.
struct Declaration {
  bool found = false;
  bool exact = false;  // the dims are known: those of an initializer
  int dtype = 0;       // as ONNX numbers it; 0 where it is no tensor
  std::vector<int64_t> dims = {};
};

Declaration Declared(const pb::GraphProto& graph, const std::string& name) {
  for (const pb::TensorProto& tensor : graph.initializer()) {
    if (tensor.name() != name) continue;
    return {true, true, tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}};
  }
  for (const pb::SparseTensorProto& tensor : graph.sparse_initializer()) {
    if (tensor.values().name() != name) continue;
    return {true, true, tensor.values().data_type(), {tensor.dims().begin(), tensor.dims().end()}};
  }
  for (const pb::ValueInfoProto& input : graph.input()) {
    if (input.name() != name) continue;
    Declaration result{.found = true, .dtype = input.type().tensor_type().elem_type()};
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      result.dims.push_back(dim.dim_value());
    }
    return result;
  }
  return {};
}

// What may have been meant by a name that is neither an input's nor an initializer's.
std::string BindHint(const pb::GraphProto& graph, const std::string& name) {
  constexpr int kMost = 8;
  std::vector<std::string> known;
  for (const auto& input : graph.input()) known.push_back(DisplayName(input.name()));
  for (const auto& initializer : graph.initializer()) {
    known.push_back(DisplayName(initializer.name()));
  }
  if (std::string hint = MeantOr(name, known, ""); !hint.empty()) return hint;
  std::string names;
  for (int i = 0; i < std::min(kMost, graph.input_size()); ++i) {
    StrAppend(&names, i > 0 ? ", '" : "'", DisplayName(graph.input(i).name()), "'");
  }
  if (graph.input_size() > kMost) names += " and others";
  return names.empty() ? "the graph has no inputs, initializers only"
                       : StrCat("bind one of the inputs ", names, ", or an initializer");
}

std::string ShapeText(DType dtype, const std::vector<int64_t>& dims) {
  return StrCat(DTypeName(dtype), "[", StrJoin(dims, ", "), "]");
}

absl::StatusOr<Constant> ReadTensor(const std::string& path, DType dtype,
                                    const std::vector<int64_t>& dims) {
  if (path.ends_with(".pb")) return ReadTensorFile(path);
  AOTC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Constant> tensor = ParseNpy(bytes, dtype, dims);
  if (tensor.ok()) return tensor;
  return AOTC_REFUSAL(InvalidArgument, StrCat(path, " ", tensor.status().message()));
}

}  // namespace

Bindings::Bindings(const pb::GraphProto& graph, const ImportOptions& options,
                   Diagnostics& diagnostics)
    : graph_(graph) {
  std::set<std::string> seen;
  for (const BindOption& option : options.binds) {
    const std::string place = StrCat("--bind ", DisplayName(option.name));
    if (!seen.insert(option.name).second) {
      diagnostics.Error({}, AOTC_REFUSAL(InvalidArgument, StrCat(place, ": bound twice")),
                        "give one file for each name");
    } else if (!Declared(graph, option.name).found) {
      if (options.partial) continue;
      diagnostics.Error(
          {}, AOTC_REFUSAL(InvalidArgument, StrCat(place, ": no such input or initializer")),
          BindHint(graph, option.name));
    } else if (std::ranges::find(options.keep_inputs, option.name) != options.keep_inputs.end()) {
      diagnostics.Error(
          {}, AOTC_REFUSAL(InvalidArgument, StrCat(place, ": also given as --keep-input")),
          "give one of the two");
    } else if (absl::StatusOr<Constant> value = Read(option); value.ok()) {
      values_.emplace(option.name, *std::move(value));
    } else {
      diagnostics.Error(
          {}, About(place, value.status()),
          absl::IsUnimplemented(value.status())
              ? "store the value in the model, as an initializer"
              : "numpy.save(FILE, array) writes what is read here: little-endian, C order");
    }
  }
}

const Constant* Bindings::Find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

absl::StatusOr<Constant> Bindings::Read(const BindOption& option) const {
  const Declaration declared = Declared(graph_, option.name);
  AOTC_ASSIGN_OR_RETURN(const DType dtype, DTypeFromOnnx(declared.dtype));
  if (dtype == DType::kString) return AOTC_REFUSAL(Unimplemented, "strings cannot be bound");
  AOTC_ASSIGN_OR_RETURN(Constant value, ReadTensor(option.path, dtype, declared.dims));
  if (value.dtype() != dtype || (declared.exact && value.dims() != declared.dims)) {
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat(option.path, " holds ", ShapeText(value.dtype(), value.dims()), ", the model has ",
               declared.exact ? ShapeText(dtype, declared.dims) : std::string(DTypeName(dtype))));
  }
  return value;
}

}  // namespace aotc
