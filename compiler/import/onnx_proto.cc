#include "compiler/import/onnx_proto.h"

#include "absl/strings/ascii.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Length of the UTF-8 sequence at the front of `text`; 0 where there is none.
size_t Utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead > 0xf4 || length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  bool too_large = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::vector<std::string> UnknownFields(const google::protobuf::UnknownFieldSet& fields,
                                       int number) {
  std::vector<std::string> found;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    bool text = field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (text && field.number() == number) found.push_back(field.length_delimited());
  }
  return found;
}

std::string UnknownText(const google::protobuf::UnknownFieldSet& fields, int number) {
  std::vector<std::string> found = UnknownFields(fields, number);
  return found.empty() ? "" : found[0];
}

std::string DisplayName(std::string_view name) {
  std::string clean;
  while (!name.empty()) {
    size_t length = Utf8Length(name);
    bool keep = length > 1 || (length == 1 && !absl::ascii_iscntrl(name[0]));
    clean += keep ? std::string(name.substr(0, length)) : "_";
    name.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

std::string CanonicalDomain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : DisplayName(domain);
}

std::string QualifiedOp(const std::string& domain, const std::string& op) {
  std::string canonical = CanonicalDomain(domain);
  return canonical.empty() ? DisplayName(op) : StrCat(canonical, ".", DisplayName(op));
}

}  // namespace aotc
