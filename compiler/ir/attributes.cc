#include "compiler/ir/attributes.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace aotc {
namespace {

template <class T>
T ValueOr(const AttributeValue* value, const T& fallback) {
  const T* found = value == nullptr ? nullptr : std::get_if<T>(value);
  return found == nullptr ? fallback : *found;
}

bool SameFloat(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// Bit by bit for floats, so that NaN equals itself and -0 differs from 0.
bool SameAttribute(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  if (const float* x = std::get_if<float>(&a)) return SameFloat(*x, std::get<float>(b));
  if (const Constant* x = std::get_if<Constant>(&a)) return x->SameValue(std::get<Constant>(b));
  if (const auto* x = std::get_if<std::vector<float>>(&a)) {
    const auto& y = std::get<std::vector<float>>(b);
    return std::equal(x->begin(), x->end(), y.begin(), y.end(), SameFloat);
  }
  if (const int64_t* x = std::get_if<int64_t>(&a)) return *x == std::get<int64_t>(b);
  if (const std::string* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  if (const auto* x = std::get_if<std::vector<int64_t>>(&a)) return *x == std::get<3>(b);
  return std::get<std::vector<std::string>>(a) == std::get<std::vector<std::string>>(b);
}

}  // namespace

void Attributes::Set(std::string_view name, AttributeValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

void Attributes::Erase(std::string_view name) {
  if (auto found = values_.find(name); found != values_.end()) values_.erase(found);
}

bool Attributes::Has(std::string_view name) const { return Find(name) != nullptr; }

const AttributeValue* Attributes::Find(std::string_view name) const {
  auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

int64_t Attributes::Int(std::string_view name, int64_t fallback) const {
  return ValueOr<int64_t>(Find(name), fallback);
}

float Attributes::Float(std::string_view name, float fallback) const {
  return ValueOr<float>(Find(name), fallback);
}

std::string Attributes::String(std::string_view name, std::string_view fallback) const {
  return ValueOr<std::string>(Find(name), std::string(fallback));
}

std::vector<int64_t> Attributes::Ints(std::string_view name) const {
  return ValueOr<std::vector<int64_t>>(Find(name), {});
}

std::vector<float> Attributes::Floats(std::string_view name) const {
  return ValueOr<std::vector<float>>(Find(name), {});
}

std::vector<std::string> Attributes::Strings(std::string_view name) const {
  return ValueOr<std::vector<std::string>>(Find(name), {});
}

bool SameAttributes(const Attributes& a, const Attributes& b) {
  auto same = [](const auto& x, const auto& y) {
    return x.first == y.first && SameAttribute(x.second, y.second);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

}  // namespace aotc
