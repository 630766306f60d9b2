#include "compiler/support/suggestion.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// In lower case, with one sign for what separates words.
std::string Plain(std::string_view word) {
  std::string plain(word);
  absl::AsciiStrToLower(&plain);
  std::ranges::replace(plain, '_', '-');
  return plain;
}

// Two words that differ in numbers alone are two of a row, neither a slip for the other.
bool DifferInNumbers(std::string_view a, std::string_view b) {
  const auto without_digits = [](std::string_view word) {
    std::string rest(word);
    std::erase_if(rest, absl::ascii_isdigit);
    return rest;
  };
  return a != b && without_digits(a) == without_digits(b);
}

// The only known word that begins so; "" where there are none or several.
std::string Completed(const std::string& plain, const std::vector<std::string>& known) {
  const auto begins = [&](const std::string& word) { return Plain(word).starts_with(plain); };
  if (plain.size() < 3 || std::ranges::count_if(known, begins) != 1) return "";
  return *std::ranges::find_if(known, begins);
}

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  // Rows of the table: of the prefixes of `a` two, one and no byte shorter. A column per prefix of
  // `b`.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string Meant(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 100;  // longer words are no slips
  if (word.empty() || word.size() > kLongest) return "";
  const std::string plain = Plain(word);
  const bool is_of_a_row = std::ranges::any_of(
      known, [&](const std::string& name) { return DifferInNumbers(plain, Plain(name)); });
  if (is_of_a_row) return "";
  std::string nearest;
  int least = 0;
  for (const std::string& name : known) {
    if (name.size() > kLongest) continue;
    const int distance = EditDistance(plain, Plain(name));
    if (distance > static_cast<int>(std::max(plain.size(), name.size())) / 3) continue;
    if (nearest.empty() || distance < least) {
      nearest = name;
      least = distance;
    }
  }
  return nearest.empty() ? Completed(plain, known) : nearest;
}

std::string MeantOr(std::string_view word, const std::vector<std::string>& known,
                    std::string_view otherwise) {
  const std::string meant = Meant(word, known);
  return meant.empty() ? std::string(otherwise) : StrCat("did you mean '", meant, "'?");
}

std::string MeantOrListed(std::string_view word, const std::vector<std::string>& known,
                          std::string_view kinds) {
  return MeantOr(word, known, StrCat("the ", kinds, " are '", StrJoin(known, "', '"), "'"));
}

std::string UnknownName(std::string_view kind, std::string_view word,
                        const std::vector<std::string>& known) {
  return StrCat("unknown ", kind, " '", word, "'; ",
                MeantOr(word, known, StrCat("there are ", StrJoin(known, ", "))));
}

}  // namespace aotc
