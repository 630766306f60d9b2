#include "compiler/import/npy.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// numpy's name of a type, or "" where it has none.
std::string_view NumpyName(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "<f4";
    case DType::kF64: return "<f8";
    case DType::kF16: return "<f2";
    case DType::kI8: return "|i1";
    case DType::kI16: return "<i2";
    case DType::kI32: return "<i4";
    case DType::kI64: return "<i8";
    case DType::kU8: return "|u1";
    case DType::kU16: return "<u2";
    case DType::kU32: return "<u4";
    case DType::kU64: return "<u8";
    case DType::kBool: return "|b1";
    default: return "";
  }
}

std::string_view StorageName(DType dtype) {
  const std::string_view name = NumpyName(dtype);
  if (!name.empty()) return name;
  return ByteWidth(dtype) == 2 ? "<u2" : "|u1";
}

std::string Header(std::string_view type, const std::vector<int64_t>& dims) {
  std::string text = StrCat("{'descr': '", type, "', 'fortran_order': False, 'shape': (",
                            StrJoin(dims, ", "), dims.size() == 1 ? "," : "", "), }");
  constexpr size_t kPreamble = 10, kAlign = 64;
  text.append(kAlign - 1 - (kPreamble + text.size()) % kAlign, ' ');
  return text + "\n";
}

// What lies between the key and `end`: "'<f4'" of the key "'descr'" up to a comma.
std::string_view Field(std::string_view header, std::string_view key, char end) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return "";
  const size_t start = header.find(':', at + key.size()) + 1;
  return header.substr(start, header.find(end, start) - start);
}

std::optional<std::vector<int64_t>> ParseDims(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return std::nullopt;
  std::vector<int64_t> dims;
  for (absl::string_view piece :
       absl::StrSplit(View(text.substr(open + 1)), ',', absl::SkipWhitespace())) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(piece, &dim) || dim < 0) return std::nullopt;
    dims.push_back(dim);
  }
  return dims;
}

struct Npy {
  std::string_view type = {};
  std::vector<int64_t> dims = {};
  std::string_view data = {};
};

std::optional<Npy> Split(std::string_view bytes) {
  constexpr size_t kShortest = 12;
  if (bytes.size() < kShortest || bytes.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  const bool first_version = byte(6) == 1;
  const size_t start = first_version ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (!first_version) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() < start + length) return std::nullopt;
  const std::string_view header = bytes.substr(start, length);
  std::optional<std::vector<int64_t>> dims = ParseDims(Field(header, "'shape'", ')'));
  const bool c_order =
      Field(header, "'fortran_order'", ',').find("False") != std::string_view::npos;
  const std::string_view type = Field(header, "'descr'", ',');
  const size_t quote = type.find('\'');
  if (!dims || !c_order || quote == std::string_view::npos) return std::nullopt;
  const std::string_view name = type.substr(quote + 1);
  return Npy{name.substr(0, name.find('\'')), *std::move(dims), bytes.substr(start + length)};
}

// Nothing where it overflows.
std::optional<size_t> BytesOf(DType dtype, const std::vector<int64_t>& dims) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count) || count > kMost) return std::nullopt;
  }
  return static_cast<size_t>(StorageBytes(dtype, count));
}

}  // namespace

std::string ToNpy(const Constant& tensor) {
  const std::string header = Header(StorageName(tensor.dtype()), tensor.dims());
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  const Constant dense = tensor.Expanded();
  return bytes.append(reinterpret_cast<const char*>(dense.bytes().data()), dense.bytes().size());
}

absl::StatusOr<Constant> ParseNpy(std::string_view bytes, DType dtype,
                                  const std::vector<int64_t>& dims) {
  std::optional<Npy> npy = Split(bytes);
  if (!npy) return absl::InvalidArgumentError("is no .npy file in row-major order");
  const bool raw = NumpyName(dtype).empty() && npy->type == "|u1" && npy->dims.size() == 1 &&
                   npy->data.size() == BytesOf(dtype, dims);
  if (npy->type != StorageName(dtype) && !raw) {
    return absl::InvalidArgumentError(
        StrCat("has elements of type ", npy->type, ", not ", DTypeName(dtype)));
  }
  if (raw) npy->dims = dims;
  const std::optional<size_t> size = BytesOf(dtype, npy->dims);
  if (!size || npy->data.size() != *size) {
    return absl::InvalidArgumentError(
        StrCat("has ", npy->data.size(), " bytes of data, which do not fill its dims"));
  }
  return Constant::Dense(dtype, npy->dims, {npy->data.begin(), npy->data.end()});
}

}  // namespace aotc
