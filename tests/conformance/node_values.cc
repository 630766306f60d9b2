#include "tests/conformance/node_values.h"

#include <onnx/onnx-data_pb.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "compiler/import/onnx_tensor.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<Constant> ReadTensor(const pb::TensorProto& proto) {
  return TensorReader("").Read(proto);
}

absl::Status AddItems(const pb::SequenceProto& sequence, NodeValue& value) {
  for (const pb::TensorProto& tensor : sequence.tensor_values()) {
    AOTC_ASSIGN_OR_RETURN(Constant item, ReadTensor(tensor));
    value.items.push_back(std::move(item));
  }
  return absl::OkStatus();
}

absl::StatusOr<NodeValue> ValueOf(const pb::OptionalProto& optional) {
  NodeValue value;
  value.present = optional.has_tensor_value() || optional.has_sequence_value();
  if (optional.has_tensor_value()) {
    AOTC_ASSIGN_OR_RETURN(Constant item, ReadTensor(optional.tensor_value()));
    value.items.push_back(std::move(item));
  }
  if (optional.has_sequence_value()) {
    AOTC_RETURN_IF_ERROR(AddItems(optional.sequence_value(), value));
  }
  return value;
}

// The place of each element of a tensor of `dims`, row-major, in a box.
std::vector<int64_t> PlacesIn(const std::vector<int64_t>& dims, const std::vector<int64_t>& box) {
  std::vector<int64_t> places = {0};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < dims[axis]; ++i) next.push_back(place * box[axis] + i);
    }
    places = std::move(next);
  }
  return places;
}

struct Box {
  std::vector<int64_t> dims;
  int64_t elements = 1;
  int64_t columns = 0;
  bool IsFlat() const { return columns > kRankColumn; }
};

Box BoxOf(std::vector<int64_t> elements, const std::vector<int64_t>& dims) {
  Box box = {.dims = std::move(elements), .columns = dims[1]};
  box.dims.erase(box.dims.begin());
  for (const int64_t dim : box.dims) box.elements *= dim;
  return box;
}

Constant IntsOf(const std::vector<int64_t>& values, std::vector<int64_t> dims) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Constant::Dense(DType::kI64, std::move(dims), std::move(bytes));
}

}  // namespace

absl::StatusOr<NodeValue> ReadNodeValue(const std::filesystem::path& path, const Bundle* bundle) {
  std::ifstream stream(path, std::ios::binary);
  const auto no = [&] { return absl::NotFoundError("no value in " + path.filename().string()); };
  if (!stream) return no();
  NodeValue value;
  if (bundle == nullptr) {
    pb::TensorProto proto;
    if (!proto.ParseFromIstream(&stream)) return no();
    AOTC_ASSIGN_OR_RETURN(Constant tensor, ReadTensor(proto));
    value.items.push_back(std::move(tensor));
    return value;
  }
  if (bundle->kind == BundleKind::kSequence) {
    pb::SequenceProto proto;
    if (!proto.ParseFromIstream(&stream)) return no();
    AOTC_RETURN_IF_ERROR(AddItems(proto, value));
    return value;
  }
  pb::OptionalProto proto;
  return proto.ParseFromIstream(&stream) ? ValueOf(proto) : no();
}

absl::StatusOr<std::vector<Constant>> PartsOf(const NodeValue& value, BundleKind kind,
                                              const std::vector<ValueType>& types) {
  const auto elements = StaticDims(types[kElementsPart].dims);
  const auto dims = StaticDims(types[kDimsPart].dims);
  if (!elements || !dims) return absl::InternalError("parts of symbolic dims");
  const Box box = BoxOf(*elements, *dims);
  const DType dtype = types[kElementsPart].dtype;
  const auto width = static_cast<size_t>(ByteWidth(dtype));
  std::vector<uint8_t> data(static_cast<size_t>((*elements)[0] * box.elements) * width);
  std::vector<int64_t> rows(static_cast<size_t>((*dims)[0] * box.columns));
  if (static_cast<int64_t>(value.items.size()) > (*elements)[0]) {
    return absl::OutOfRangeError("too many items");
  }
  for (size_t k = 0; k < value.items.size(); ++k) {
    const Constant item = value.items[k].Expanded();
    if (item.dims().size() != box.dims.size() || item.dtype() != dtype) {
      return absl::OutOfRangeError("an item of another type");
    }
    for (size_t axis = 0; axis < box.dims.size(); ++axis) {
      if (item.dims()[axis] > box.dims[axis]) return absl::OutOfRangeError("a large item");
      if (box.columns > 0) rows[k * static_cast<size_t>(box.columns) + axis] = item.dims()[axis];
    }
    const std::vector<int64_t> places = PlacesIn(item.dims(), box.dims);
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t at = k * static_cast<size_t>(box.elements) + static_cast<size_t>(places[i]);
      std::memcpy(data.data() + at * width, item.bytes().data() + i * width, width);
    }
  }
  std::vector<Constant> parts = {
      Constant::Dense(dtype, *elements, std::move(data)), IntsOf(rows, *dims),
      Constant::SplatInt(DType::kI64, {}, static_cast<int64_t>(value.items.size()))};
  if (kind == BundleKind::kOptionalSequence) {
    parts.push_back(Constant::SplatInt(DType::kBool, {}, value.present ? 1 : 0));
  }
  return parts;
}

NodeValue ValueOfParts(BundleKind kind, const std::vector<Constant>& parts) {
  const Constant elements = parts[kElementsPart].Expanded(), dims = parts[kDimsPart].Expanded();
  const Box box = BoxOf(elements.dims(), dims.dims());
  const auto width = static_cast<size_t>(ByteWidth(elements.dtype()));
  NodeValue value;
  const int64_t length = parts[kLengthPart].IntAt(0);
  for (int64_t k = 0; k < length; ++k) {
    std::vector<int64_t> item = box.dims;
    if (box.columns > 0) {
      const auto column = [&](int64_t c) { return dims.IntAt(k * box.columns + c); };
      item.resize(static_cast<size_t>(box.IsFlat() ? column(kRankColumn) : box.columns));
      for (size_t axis = 0; axis < item.size(); ++axis) {
        item[axis] = column(static_cast<int64_t>(axis));
      }
    }
    const std::vector<int64_t> places = PlacesIn(item, box.IsFlat() ? item : box.dims);
    std::vector<uint8_t> data(places.size() * width);
    for (size_t i = 0; i < places.size(); ++i) {
      const auto at = static_cast<size_t>(k * box.elements + places[i]);
      std::memcpy(data.data() + i * width, elements.bytes().data() + at * width, width);
    }
    value.items.push_back(Constant::Dense(elements.dtype(), item, std::move(data)));
  }
  value.present = kind == BundleKind::kOptionalSequence
                      ? parts[kHasPart].IntAt(0) != 0
                      : kind == BundleKind::kSequence || length > 0;
  return value;
}

}  // namespace aotc
