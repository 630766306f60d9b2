#include "compiler/import/onnx_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

// Messages may nest this deep: 3 levels for each subgraph.
constexpr int kMaxMessageDepth = 300;

absl::Status OpenFile(const std::string& path, std::ifstream& file) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return AOTC_REFUSAL(NotFound, "is no file");
  }
  errno = 0;
  file.open(path, std::ios::binary | std::ios::ate);
  if (!file) {
    const std::string why = std::generic_category().message(errno);
    return AOTC_REFUSAL(NotFound, StrCat("cannot be opened: ", why));
  }
  const std::streamoff size = file.tellg();
  file.seekg(0);
  if (size == 0) return AOTC_REFUSAL(InvalidArgument, "is empty");
  if (size > INT_MAX) {
    return AOTC_REFUSAL(
        InvalidArgument,
        "is larger than 2 GiB, which protobuf cannot read; hint: store its weights as external "
        "data");
  }
  return absl::OkStatus();
}

// Protobuf's own limit of 64 MiB and its messages on stderr are switched off.
absl::Status ParseModel(const std::string& path, pb::ModelProto& model) {
  std::ifstream file;
  AOTC_RETURN_IF_ERROR(OpenFile(path, file));
  google::protobuf::LogSilencer silencer;
  google::protobuf::io::IstreamInputStream stream(&file, /*block_size=*/1 << 18);
  google::protobuf::io::CodedInputStream in(&stream);
  in.SetTotalBytesLimit(INT_MAX);
  in.SetRecursionLimit(kMaxMessageDepth);
  if (!model.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) {
    return AOTC_REFUSAL(InvalidArgument,
                        "is no ONNX model, or it is truncated, damaged or nested too deeply");
  }
  if (!model.has_graph()) return AOTC_REFUSAL(InvalidArgument, "is no ONNX model: it has no graph");
  return absl::OkStatus();
}

// Versions of the file format up to that of ONNX 1.22. Old exporters state none.
absl::Status CheckVersion(const pb::ModelProto& model) {
  constexpr int64_t kNewestVersion = 13;
  const int64_t version = model.ir_version();
  if (version >= 0 && version <= kNewestVersion) return absl::OkStatus();
  return AOTC_REFUSAL(
      Unimplemented,
      StrCat("ir_version ", version, " of the file format; versions 1 to ", kNewestVersion,
             " are supported; hint: save the model with an older onnx, or set its ir_version"));
}

}  // namespace

absl::Status ReadModelFile(const std::string& path, pb::ModelProto& model) {
  AOTC_RETURN_IF_ERROR(ParseModel(path, model));
  return CheckVersion(model);
}

}  // namespace aotc
