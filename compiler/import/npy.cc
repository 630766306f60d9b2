#include "compiler/import/npy.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "compiler/support/refusal.h"
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

struct Npy {
  std::string type = {};  // "<f4"
  bool fortran = false;
  std::vector<int64_t> dims = {};
  std::string_view data = {};
};

// The header's text: the literal of a Python dict with three keys, in any order.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  absl::StatusOr<Npy> Run() {
    if (!TryConsume('{')) return Broken();
    while (!TryConsume('}')) {
      AOTC_RETURN_IF_ERROR(ParseEntry());
      if (!TryConsume(',') && Peek() != '}') return Broken();
    }
    const bool complete = has_type_ && has_order_ && has_shape_ && Peek() == '\0';
    return complete ? absl::StatusOr<Npy>(npy_) : Broken();
  }

 private:
  static absl::Status Broken() {
    return AOTC_REFUSAL(InvalidArgument, "has a header that is damaged or not of numpy");
  }

  char Peek() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool TryConsume(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  std::string TakeWord() {
    const size_t start = (Peek(), at_);
    while (at_ < text_.size() && absl::ascii_isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  absl::StatusOr<std::string> TakeQuoted() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return Broken();
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return Broken();
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(content);
  }

  absl::Status ParseEntry() {
    AOTC_ASSIGN_OR_RETURN(const std::string key, TakeQuoted());
    if (!TryConsume(':')) return Broken();
    if (key == "descr" && !std::exchange(has_type_, true)) return ParseType();
    if (key == "fortran_order" && !std::exchange(has_order_, true)) return ParseOrder();
    if (key == "shape" && !std::exchange(has_shape_, true)) return ParseDims();
    return Broken();
  }

  absl::Status ParseType() {
    if (Peek() == '[') return AOTC_REFUSAL(InvalidArgument, "has elements of several fields");
    AOTC_ASSIGN_OR_RETURN(npy_.type, TakeQuoted());
    return absl::OkStatus();
  }

  absl::Status ParseOrder() {
    const std::string word = TakeWord();
    if (word != "True" && word != "False") return Broken();
    npy_.fortran = word == "True";
    return absl::OkStatus();
  }

  absl::Status ParseDims() {
    if (!TryConsume('(')) return Broken();
    while (!TryConsume(')')) {
      int64_t dim = 0;
      if (!absl::SimpleAtoi(TakeWord(), &dim)) {
        return AOTC_REFUSAL(InvalidArgument,
                            "has a shape that is no list of numbers from 0 to 2^63");
      }
      npy_.dims.push_back(dim);
      if (!TryConsume(',') && Peek() != ')') return Broken();
    }
    return absl::OkStatus();
  }

  std::string_view text_;
  size_t at_ = 0;
  Npy npy_;
  bool has_type_ = false, has_order_ = false, has_shape_ = false;
};

// The file taken apart: the magic, two bytes of version, the length of the header (2 bytes in
// version 1, 4 in later ones, little-endian), the header, the elements.
absl::StatusOr<Npy> Split(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return AOTC_REFUSAL(InvalidArgument, "is no .npy file");
  }
  constexpr size_t kVersionAt = 6, kLengthAt = 8;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  const auto cut = [] { return AOTC_REFUSAL(InvalidArgument, "ends within its header"); };
  if (bytes.size() <= kLengthAt) return cut();
  const size_t version = byte(kVersionAt);
  if (version < 1 || version > 3) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("is of version ", version, " of the .npy format"));
  }
  const size_t start = kLengthAt + (version == 1 ? 2 : 4);
  if (bytes.size() < start) return cut();
  size_t length = 0;
  for (size_t i = start; i-- > kLengthAt;) length = length << 8 | byte(i);
  if (bytes.size() - start < length) return cut();
  AOTC_ASSIGN_OR_RETURN(Npy npy, HeaderParser(bytes.substr(start, length)).Run());
  npy.data = bytes.substr(start + length);
  return npy;
}

// Column-major elements and those of another machine are refused, not turned.
absl::Status CheckForm(const Npy& npy) {
  if (npy.fortran) {
    return AOTC_REFUSAL(InvalidArgument,
                        "is in Fortran order; numpy.ascontiguousarray gives C order");
  }
  if (npy.type.starts_with('>')) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("is big-endian (", npy.type, ")"));
  }
  if (npy.type.find('O') != std::string::npos) {
    return AOTC_REFUSAL(InvalidArgument, "holds Python objects, no numbers");
  }
  return absl::OkStatus();
}

// Nothing where it overflows.
std::optional<size_t> BytesOf(DType dtype, const std::vector<int64_t>& dims) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > kMost) return std::nullopt;
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
  AOTC_ASSIGN_OR_RETURN(Npy npy, Split(bytes));
  AOTC_RETURN_IF_ERROR(CheckForm(npy));
  const bool raw = NumpyName(dtype).empty() && npy.type == "|u1" && npy.dims.size() == 1 &&
                   npy.data.size() == BytesOf(dtype, dims);
  if (npy.type != StorageName(dtype) && !raw) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("has elements of type ", npy.type, ", not ",
                                                StorageName(dtype), " (", DTypeName(dtype), ")"));
  }
  if (raw) npy.dims = dims;
  const std::optional<size_t> size = BytesOf(dtype, npy.dims);
  if (!size || npy.data.size() != *size) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("has ", npy.data.size(),
                                                " bytes of data, which do not fill its shape (",
                                                StrJoin(npy.dims, ", "), ")"));
  }
  return Constant::Dense(dtype, npy.dims, {npy.data.begin(), npy.data.end()});
}

}  // namespace aotc
