// Attributes of a node: a sorted map of named values.
//
//   node.attributes.Set("axis", int64_t{-1});
//   node.attributes.Int("axis", 0);                  // value, or the default
//   node.attributes.Ints("pads");                    // empty where absent
#ifndef AOTC_COMPILER_IR_ATTRIBUTES_H_
#define AOTC_COMPILER_IR_ATTRIBUTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ir/constant.h"

namespace aotc {

// Floats are kept as float, as ONNX does.
using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                                    std::vector<float>, std::vector<std::string>, Constant>;

class Attributes {
 public:
  void Set(std::string_view name, AttributeValue value);
  void Erase(std::string_view name);
  bool Has(std::string_view name) const;
  const AttributeValue* Find(std::string_view name) const;

  // The value where present with that type, else the default.
  int64_t Int(std::string_view name, int64_t fallback = 0) const;
  float Float(std::string_view name, float fallback = 0) const;
  std::string String(std::string_view name, std::string_view fallback = "") const;
  std::vector<int64_t> Ints(std::string_view name) const;
  std::vector<float> Floats(std::string_view name) const;
  std::vector<std::string> Strings(std::string_view name) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }

 private:
  std::map<std::string, AttributeValue, std::less<>> values_;
};

bool SameAttributes(const Attributes& a, const Attributes& b);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_ATTRIBUTES_H_
