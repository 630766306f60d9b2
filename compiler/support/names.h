// Identifiers of the C family from the names that models carry.
//
//   CleanIdentifier("/layer.1/Conv:0");   // "layer_1_Conv_0"
//   ModelPrefix("7-net.onnx's name");     // "m7_net_onnx_s_name"
//   NameTable table;
//   table.Unique("x");                    // "x"
//   table.Unique("x");                    // "x_2"
//   table.Unique("float");                // "float_"
#ifndef AOTC_COMPILER_SUPPORT_NAMES_H_
#define AOTC_COMPILER_SUPPORT_NAMES_H_

#include <set>
#include <string>
#include <string_view>

namespace aotc {

// Letters, digits and _, no digit first.
bool IsIdentifier(std::string_view name);

// Whether C, C++ or CUDA give the word a meaning of its own, or a header or compiler defines it as
// a macro, or it begins like a name of runtime-lite.
bool IsReservedWord(std::string_view word);

// Letters, digits and single underscores, none of them at the ends; `m` before a digit; `fallback`
// where nothing is left; `_` after reserved words.
std::string CleanIdentifier(std::string_view text, std::string_view fallback = "value");

// At most 49 characters of the clean form: whole words from its end, where that is what differs in
// the names of exporters that join those of nodes and scopes.
std::string ShortIdentifier(std::string_view text, std::string_view fallback = "value");

// The prefix of all that a compiled model defines: every character outside [A-Za-z0-9_] made `_`,
// `m` put before a digit, `_model` added to reserved words, in
// capitals or not those of runtime-lite, and to `main`; "model" for an empty text.
std::string ModelPrefix(std::string_view text);

// "mobilenet" -> "MOBILENET".
std::string MacroCase(std::string_view identifier);

// Hands out clean identifiers, each once.
class NameTable {
 public:
  // The clean form of `text`, with `_2`, `_3`, ... where it is taken.
  std::string Unique(std::string_view text, std::string_view fallback = "value");
  // Takes a name as it is; false where it was taken.
  bool Reserve(std::string_view name);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_NAMES_H_
