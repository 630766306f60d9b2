#include "compiler/ir/constant.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/support/status.h"

namespace aotc {
namespace {

int64_t Product(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

std::vector<uint8_t> OneElement(DType dtype) {
  return std::vector<uint8_t>(static_cast<size_t>(StorageBytes(dtype, 1)));
}

// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators").
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [-1, 1).
  double NextUnit() { return static_cast<double>(Next() >> 11) * 0x1p-52 - 1.0; }

 private:
  uint64_t state_;
};

// Integers of up to 8 bits use their whole range, wider ones -1000..1000 (0..1000 where unsigned).
int64_t RandomInteger(DType dtype, Generator& generator) {
  uint64_t bits = generator.Next() >> 16;
  if (dtype == DType::kBool) return static_cast<int64_t>(bits & 1);
  if (BitWidth(dtype) <= 8) return static_cast<int64_t>(bits & 0xff);  // the store wraps
  return IsSignedInteger(dtype) ? static_cast<int64_t>(bits % 2001) - 1000
                                : static_cast<int64_t>(bits % 1001);
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9fb21c651e98df25;
  return hash ^ (hash >> 32);
}

uint64_t MixBytes(uint64_t hash, const uint8_t* bytes, size_t count) {
  for (; count >= 8; count -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = Mix(hash, word);
  }
  uint64_t last = 0;
  for (size_t i = 0; i < count; ++i) last |= uint64_t{bytes[i]} << (8 * i);
  return Mix(hash, last);
}

void FillDense(DType dtype, std::span<const uint8_t> element, int64_t count,
               std::vector<uint8_t>& bytes) {
  if (int width = ByteWidth(dtype); width > 0) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(&bytes[i * width], element.data(), width);
    return;
  }
  const int64_t value = LoadIntElement(UnsignedOfWidth(dtype), element.data(), 0);
  for (int64_t i = 0; i < count; ++i) {
    StoreIntElement(UnsignedOfWidth(dtype), bytes.data(), i, value);
  }
}

}  // namespace

int64_t StorageBytes(DType dtype, int64_t count) {
  return dtype == DType::kString ? 0 : (count * BitWidth(dtype) + 7) / 8;
}

Constant Constant::Dense(DType dtype, std::vector<int64_t> dims, std::vector<uint8_t> bytes) {
  Constant result;
  result.dtype_ = dtype;
  result.dims_ = std::move(dims);
  result.given_hash_.reset();
  int64_t expected = StorageBytes(dtype, result.element_count());
  AOTC_CHECK(static_cast<int64_t>(bytes.size()) == expected)
      << bytes.size() << " bytes for " << result.element_count() << " of " << DTypeName(dtype);
  result.bytes_ = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return result;
}

Constant Constant::Splat(DType dtype, std::vector<int64_t> dims, double value) {
  std::vector<uint8_t> bytes = OneElement(dtype);
  StoreElement(dtype, bytes.data(), 0, value);
  return SplatBytes(dtype, std::move(dims), std::move(bytes));
}

Constant Constant::SplatInt(DType dtype, std::vector<int64_t> dims, int64_t value) {
  std::vector<uint8_t> bytes = OneElement(dtype);
  StoreIntElement(dtype, bytes.data(), 0, value);
  return SplatBytes(dtype, std::move(dims), std::move(bytes));
}

Constant Constant::SplatBytes(DType dtype, std::vector<int64_t> dims, std::vector<uint8_t> bytes) {
  Constant result;
  result.dtype_ = dtype;
  result.dims_ = std::move(dims);
  result.given_hash_.reset();
  result.splat_ = true;
  result.bytes_ = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return result;
}

Constant Constant::Ints(const std::vector<int64_t>& values) {
  std::vector<uint8_t> bytes(values.size() * 8);
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Dense(DType::kI64, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

Constant Constant::Strings(std::vector<int64_t> dims, std::vector<std::string> strings) {
  Constant result;
  result.dtype_ = DType::kString;
  result.dims_ = std::move(dims);
  result.given_hash_.reset();
  AOTC_CHECK(static_cast<int64_t>(strings.size()) == result.element_count());
  result.strings_ = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return result;
}

Constant Constant::Random(DType dtype, std::vector<int64_t> dims, uint64_t seed) {
  int64_t count = Product(dims);
  Generator generator(seed);
  bool complex = dtype == DType::kC64 || dtype == DType::kC128;
  DType part = dtype == DType::kC64 ? DType::kF32 : dtype == DType::kC128 ? DType::kF64 : dtype;
  std::vector<uint8_t> bytes(static_cast<size_t>(StorageBytes(dtype, count)));
  for (int64_t i = 0; i < (complex ? 2 * count : count); ++i) {
    if (IsFloat(part)) {
      StoreElement(part, bytes.data(), i, generator.NextUnit());
    } else {
      StoreIntElement(part, bytes.data(), i, RandomInteger(part, generator));
    }
  }
  return Dense(dtype, std::move(dims), std::move(bytes));
}

Constant Constant::StandIn(DType dtype, std::vector<int64_t> dims, uint64_t hash) {
  Constant result;
  if (dtype == DType::kString) {
    std::vector<std::string> strings(static_cast<size_t>(Product(dims)));
    result = Strings(std::move(dims), std::move(strings));
  } else {
    result = Random(dtype, std::move(dims), hash);
  }
  result.given_hash_ = hash;
  return result;
}

int64_t Constant::element_count() const { return Product(dims_); }

std::span<const uint8_t> Constant::bytes() const {
  return bytes_ == nullptr ? std::span<const uint8_t>() : std::span<const uint8_t>(*bytes_);
}

Constant Constant::Expanded() const {
  if (!splat_) return *this;
  std::vector<uint8_t> dense(static_cast<size_t>(StorageBytes(dtype_, element_count())));
  FillDense(dtype_, bytes(), element_count(), dense);
  return Dense(dtype_, dims_, std::move(dense));
}

Constant Constant::Reshaped(std::vector<int64_t> dims) const {
  AOTC_CHECK(Product(dims) == element_count());
  Constant result = *this;
  result.dims_ = std::move(dims);
  result.given_hash_.reset();
  return result;
}

double Constant::FloatAt(int64_t index) const {
  return LoadElement(dtype_, bytes().data(), splat_ ? 0 : index);
}

int64_t Constant::IntAt(int64_t index) const {
  return LoadIntElement(dtype_, bytes().data(), splat_ ? 0 : index);
}

std::vector<int64_t> Constant::AsInts() const {
  std::vector<int64_t> values(static_cast<size_t>(element_count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = IntAt(static_cast<int64_t>(i));
  return values;
}

std::optional<std::vector<uint8_t>> Constant::UniformElement() const {
  if (dtype_ == DType::kString || element_count() == 0) return std::nullopt;
  std::span<const uint8_t> all = bytes();
  if (splat_) return std::vector<uint8_t>(all.begin(), all.end());
  std::vector<uint8_t> element(all.begin(), all.begin() + StorageBytes(dtype_, 1));
  if (int width = ByteWidth(dtype_); width > 0) {
    if (std::memcmp(all.data(), all.data() + width, all.size() - width) != 0) return std::nullopt;
    return element;
  }
  element[0] &= static_cast<uint8_t>((1 << BitWidth(dtype_)) - 1);
  std::vector<uint8_t> expected(all.size());
  FillDense(dtype_, element, element_count(), expected);
  if (std::memcmp(all.data(), expected.data(), all.size()) != 0) return std::nullopt;
  return element;
}

bool Constant::SameValue(const Constant& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_) return false;
  if (dtype_ == DType::kString) return *strings_ == *other.strings_;
  if (element_count() == 0 || (bytes_ == other.bytes_ && splat_ == other.splat_)) return true;
  if (splat_ || other.splat_) {
    std::optional<std::vector<uint8_t>> element = UniformElement();
    return element.has_value() && element == other.UniformElement();
  }
  return std::ranges::equal(bytes(), other.bytes());
}

uint64_t Constant::ContentHash() const {
  if (given_hash_) return *given_hash_;
  uint64_t hash = Mix(0x5bd1e995, static_cast<uint64_t>(dtype_));
  for (int64_t dim : dims_) hash = Mix(hash, static_cast<uint64_t>(dim));
  if (dtype_ == DType::kString) {
    for (const std::string& text : *strings_) {
      hash = MixBytes(Mix(hash, text.size()), reinterpret_cast<const uint8_t*>(text.data()),
                      text.size());
    }
    return hash;
  }
  if (element_count() == 0) return hash;
  std::optional<std::vector<uint8_t>> element = UniformElement();
  std::span<const uint8_t> content = element ? std::span<const uint8_t>(*element) : bytes();
  return MixBytes(hash, content.data(), content.size());
}

}  // namespace aotc
