#include "compiler/ops/regex_syntax.h"

#include <optional>
#include <string>
#include <utility>

#include "compiler/ops/regex_classes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Kind = RegexNode::Kind;

constexpr int kMostRepeats = 1000;  // as in RE2
constexpr int kMaxDepth = 200;      // of groups

struct Flags {
  bool both_cases = false;  // i
  bool lines = false;       // m: ^ and $ are ends of lines
  bool dot_is_all = false;  // s: . is a line's end too
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsOctal(char c) { return c >= '0' && c <= '7'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<int32_t> HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern), left_(pattern) {}

  absl::StatusOr<RegexNode> Run() {
    AOTC_ASSIGN_OR_RETURN(RegexNode tree, Alternatives(Flags(), 0));
    if (!left_.empty()) return Wrong("a ')' without its '('");
    return tree;
  }

 private:
  absl::Status Wrong(std::string_view what) const {
    return AOTC_REFUSAL(InvalidArgument, StrCat("the pattern has ", what, " at byte ",
                                                pattern_.size() - left_.size()));
  }
  absl::Status Unsupported(std::string_view what) const {
    return AOTC_REFUSAL(
        Unimplemented, StrCat("the pattern has ", what, " at byte ", pattern_.size() - left_.size(),
                              ", which is not supported"));
  }

  bool Skip(std::string_view text) {
    if (!left_.starts_with(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }

  absl::StatusOr<int32_t> CodePoint() {
    std::optional<int32_t> code = TakeCodePoint(left_);
    if (!code) return Wrong("bytes that are not UTF-8");
    return *code;
  }

  // Up to the end of the group, whose flags may change on the way.
  absl::StatusOr<RegexNode> Alternatives(Flags flags, int depth) {
    if (depth > kMaxDepth) return Wrong("groups that are nested too deeply");
    RegexNode result{.kind = Kind::kAlternative};
    do {
      AOTC_ASSIGN_OR_RETURN(RegexNode sequence, Sequence(flags, depth));
      result.children.push_back(std::move(sequence));
    } while (Skip("|"));
    return result.children.size() == 1 ? std::move(result.children[0]) : result;
  }

  absl::StatusOr<RegexNode> Sequence(Flags& flags, int depth) {
    RegexNode result{.kind = Kind::kSequence};
    bool repeated = false;  // what stands last is a repetition
    while (!left_.empty() && left_[0] != '|' && left_[0] != ')') {
      RegexNode repeat{.kind = Kind::kRepeat};
      AOTC_ASSIGN_OR_RETURN(const bool repeats, Repetition(repeat));
      if (repeats) {
        if (result.children.empty()) return Wrong("nothing to repeat");
        if (repeated) return Wrong("a repetition of a repetition");
        repeat.children.push_back(std::move(result.children.back()));
        result.children.back() = std::move(repeat);
        repeated = true;
        continue;
      }
      repeated = false;
      AOTC_RETURN_IF_ERROR(Item(flags, depth, result));
    }
    return result;
  }

  // Whether one stands here; takes it.
  absl::StatusOr<bool> Repetition(RegexNode& repeat) {
    repeat.most = RegexNode::kUnbounded;
    if (Skip("?")) {
      repeat.most = 1;
    } else if (Skip("+")) {
      repeat.least = 1;
    } else if (!Skip("*")) {
      const std::string_view before = left_;
      if (!Counts(repeat)) {
        left_ = before;
        return false;
      }
      const int most = repeat.most == RegexNode::kUnbounded ? repeat.least : repeat.most;
      if (most > kMostRepeats || repeat.least > most) return Wrong("a count that is out of range");
    }
    Skip("?");  // of greed
    return true;
  }

  // {2}, {2,} or {2,3}; anything else is text.
  bool Counts(RegexNode& repeat) {
    if (!Skip("{")) return false;
    const std::optional<int> least = Count();
    if (!least) return false;
    repeat.least = repeat.most = *least;
    if (Skip(",")) {
      repeat.most = RegexNode::kUnbounded;
      if (const std::optional<int> most = Count()) repeat.most = *most;
    }
    return Skip("}");
  }

  std::optional<int> Count() {
    if (left_.empty() || !IsDigit(left_[0])) return std::nullopt;
    int value = 0;
    for (; !left_.empty() && IsDigit(left_[0]); left_.remove_prefix(1)) {
      value = std::min(10 * value + (left_[0] - '0'), kMostRepeats + 1);
    }
    return value;
  }

  absl::Status Item(Flags& flags, int depth, RegexNode& sequence) {
    const auto place = [&](RegexPlace where) {
      sequence.children.push_back({.kind = Kind::kPlace, .place = where});
      return absl::OkStatus();
    };
    if (Skip("(")) return Group(flags, depth, sequence);
    if (Skip("^")) return place(flags.lines ? RegexPlace::kLineBegin : RegexPlace::kTextBegin);
    if (Skip("$")) return place(flags.lines ? RegexPlace::kLineEnd : RegexPlace::kTextEnd);
    if (Skip("\\A")) return place(RegexPlace::kTextBegin);
    if (Skip("\\z")) return place(RegexPlace::kTextEnd);
    if (Skip("\\b")) return place(RegexPlace::kWordBoundary);
    if (Skip("\\B")) return place(RegexPlace::kNoWordBoundary);
    if (Skip("\\Q")) return Quoted(flags, sequence);
    RegexNode one{.kind = Kind::kOne};
    if (Skip(".")) {
      if (!flags.dot_is_all) one.set.Add('\n', '\n');
      one.set.Negate();
    } else if (left_[0] == '[') {
      AOTC_RETURN_IF_ERROR(Class(flags, one.set));
    } else {
      AOTC_ASSIGN_OR_RETURN(const bool is_class, NamedClass(flags, one.set));
      if (!is_class) {
        AOTC_ASSIGN_OR_RETURN(const int32_t code, Character());
        AOTC_RETURN_IF_ERROR(AddRange({code, code}, flags, one.set));
      }
    }
    sequence.children.push_back(std::move(one));
    return absl::OkStatus();
  }

  // Behind \Q: text to the next \E, or to the end.
  absl::Status Quoted(const Flags& flags, RegexNode& sequence) {
    while (!left_.empty() && !Skip("\\E")) {
      AOTC_ASSIGN_OR_RETURN(const int32_t code, CodePoint());
      RegexNode one{.kind = Kind::kOne};
      AOTC_RETURN_IF_ERROR(AddRange({code, code}, flags, one.set));
      sequence.children.push_back(std::move(one));
    }
    return absl::OkStatus();
  }

  // Behind its '('.
  absl::Status Group(Flags& flags, int depth, RegexNode& sequence) {
    Flags inner = flags;
    if (Skip("?P<") || Skip("?<")) {
      AOTC_RETURN_IF_ERROR(GroupName());
    } else if (Skip("?")) {
      AOTC_RETURN_IF_ERROR(FlagLetters(inner));
      if (Skip(")")) {
        flags = inner;
        return absl::OkStatus();
      }
      if (!Skip(":")) return Wrong("an unknown kind of group");
    }
    AOTC_ASSIGN_OR_RETURN(RegexNode group, Alternatives(inner, depth + 1));
    if (!Skip(")")) return Wrong("a group that is not closed");
    sequence.children.push_back(std::move(group));
    return absl::OkStatus();
  }

  absl::Status GroupName() {
    const size_t length = left_.find('>');
    if (length == 0 || length == std::string_view::npos) return Wrong("a group without a name");
    for (const char c : left_.substr(0, length)) {
      if (!IsLetter(c) && !IsDigit(c) && c != '_') return Wrong("a name of a group that is none");
    }
    left_.remove_prefix(length + 1);
    return absl::OkStatus();
  }

  // "i", "s-i", "": up to the ':' or ')'.
  absl::Status FlagLetters(Flags& flags) {
    bool value = true;
    for (; !left_.empty() && left_[0] != ':' && left_[0] != ')'; left_.remove_prefix(1)) {
      switch (left_[0]) {
        case 'i': flags.both_cases = value; break;
        case 'm': flags.lines = value; break;
        case 's': flags.dot_is_all = value; break;
        case 'U': break;  // greed
        case '-':
          if (!value) return Wrong("flags with two '-'");
          value = false;
          break;
        default: return Wrong("an unknown kind of group");
      }
    }
    return absl::OkStatus();
  }

  // \d, \W and the like, within brackets or not. Whether one stands here; takes it.
  absl::StatusOr<bool> NamedClass(const Flags& flags, CodePoints& set) {
    if (left_.size() < 2 || left_[0] != '\\') return false;
    const char letter = left_[1];
    if (letter == 'p' || letter == 'P') return Unsupported("a Unicode class");
    if (letter == 'C') return Unsupported("a single byte (\\C)");
    const bool negated = letter == 'D' || letter == 'S' || letter == 'W';
    const std::optional<CodePoints> named =
        PerlClass(negated ? static_cast<char>(letter - 'A' + 'a') : letter);
    if (!named) return false;
    left_.remove_prefix(2);
    AOTC_RETURN_IF_ERROR(AddNamed(*named, negated, flags, set));
    return true;
  }

  absl::Status AddNamed(const CodePoints& named, bool negated, const Flags& flags,
                        CodePoints& set) {
    CodePoints added;
    for (const CodeRange& range : named.ranges()) {
      AOTC_RETURN_IF_ERROR(AddRange(range, flags, added));
    }
    if (negated) added.Negate();
    set.Add(added);
    return absl::OkStatus();
  }

  absl::Status AddRange(const CodeRange& range, const Flags& flags, CodePoints& set) {
    CodePoints added;
    added.Add(range.first, range.last);
    if (flags.both_cases) {
      const std::optional<CodePoints> both = WithBothCases(added);
      if (!both) return Unsupported("letters beyond ASCII without regard to case");
      added = *both;
    }
    set.Add(added);
    return absl::OkStatus();
  }

  // [a-z_], [^\d.], [[:alpha:]]
  absl::Status Class(const Flags& flags, CodePoints& set) {
    Skip("[");
    const bool negated = Skip("^");
    bool first = true;
    while (first || !Skip("]")) {
      if (left_.empty()) return Wrong("a class that is not closed");
      first = false;
      AOTC_ASSIGN_OR_RETURN(const bool is_posix, InnerPosixClass(flags, set));
      if (is_posix) continue;
      AOTC_ASSIGN_OR_RETURN(const bool is_class, NamedClass(flags, set));
      if (is_class) continue;
      CodeRange range;
      AOTC_ASSIGN_OR_RETURN(range.first, Character());
      range.last = range.first;
      if (left_.size() > 1 && left_[0] == '-' && left_[1] != ']') {
        Skip("-");
        AOTC_ASSIGN_OR_RETURN(range.last, Character());
      }
      if (range.last < range.first) return Wrong("a range that ends before it begins");
      AOTC_RETURN_IF_ERROR(AddRange(range, flags, set));
    }
    if (negated) set.Negate();
    return absl::OkStatus();
  }

  // [:alpha:] and [:^alpha:]
  absl::StatusOr<bool> InnerPosixClass(const Flags& flags, CodePoints& set) {
    if (!left_.starts_with("[:")) return false;
    const size_t end = left_.find(":]", 2);
    if (end == std::string_view::npos) return false;
    std::string_view name = left_.substr(2, end - 2);
    const bool negated = name.starts_with("^");
    if (negated) name.remove_prefix(1);
    const std::optional<CodePoints> named = PosixClass(name);
    if (!named) return Wrong("a class of an unknown name");
    left_.remove_prefix(end + 2);
    AOTC_RETURN_IF_ERROR(AddNamed(*named, negated, flags, set));
    return true;
  }

  // A character as it stands, or escaped.
  absl::StatusOr<int32_t> Character() {
    if (!Skip("\\")) return CodePoint();
    if (left_.empty()) return Wrong("a '\\' and nothing behind it");
    const char c = left_[0];
    if (IsOctal(c)) return Octal();
    if (Skip("x")) return Hexadecimal();
    constexpr std::string_view kNames = "aftnrv", kCodes = "\a\f\t\n\r\v";
    if (const size_t named = kNames.find(c); named != std::string_view::npos) {
      left_.remove_prefix(1);
      return kCodes[named];
    }
    const bool is_ascii = static_cast<uint8_t>(c) < 0x80;
    if (!is_ascii || IsLetter(c) || IsDigit(c) || c == '_') return Wrong("an unknown escape");
    left_.remove_prefix(1);
    return c;
  }

  // Up to three digits; a single one that is not 0 would be a back-reference.
  absl::StatusOr<int32_t> Octal() {
    if (left_[0] != '0' && (left_.size() < 2 || !IsOctal(left_[1]))) {
      return Wrong("a back-reference");
    }
    int32_t code = 0;
    for (int i = 0; i < 3 && !left_.empty() && IsOctal(left_[0]); ++i) {
      code = 8 * code + (left_[0] - '0');
      left_.remove_prefix(1);
    }
    return code;
  }

  // Behind \x: two digits, or any number of them in braces.
  absl::StatusOr<int32_t> Hexadecimal() {
    const bool braces = Skip("{");
    int32_t code = 0;
    int digits = 0;
    for (; !left_.empty() && (braces || digits < 2); ++digits) {
      const std::optional<int32_t> digit = HexDigit(left_[0]);
      if (!digit) break;
      code = 16 * code + *digit;
      left_.remove_prefix(1);
      if (code > kLastCodePoint) return Wrong("a code point beyond the last");
    }
    const bool closed = braces ? Skip("}") && digits > 0 : digits == 2;
    if (!closed) return Wrong("an escape that is not complete");
    return code;
  }

  const std::string_view pattern_;
  std::string_view left_;
};

}  // namespace

absl::StatusOr<RegexNode> ParseRegex(std::string_view pattern) { return Parser(pattern).Run(); }

}  // namespace aotc
