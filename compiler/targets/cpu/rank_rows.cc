#include "compiler/targets/cpu/rank_rows.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/str_replace.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/order.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kEitherWay[] = {0, 1};
constexpr TileParam kParams[] = {{"greatest_first", kEitherWay}};
constexpr std::string_view kAll[] = {"count"}, kFew[] = {"count", "chosen"};
constexpr DType kIntegers[] = {DType::kI64, DType::kI32, DType::kI8, DType::kU8};
constexpr TileStorage kIntegersStored[] = {{"x", kIntegers}};

// Elements that rows take: of one type in their texts, in memory of others too.
struct Elements {
  std::string_view suffix;  // of the names of rows
  DType type;
  std::span<const TileStorage> stored = {};
};
constexpr Elements kElements[] = {{"", DType::kF32}, {"_integers", DType::kI64, kIntegersStored}};

// What the rows of one kind give.
struct Kind {
  std::string_view name;
  std::span<const std::string_view> extents;
  bool finds = true;  // places by rank; else the ranks
  std::string_view summary;
};
constexpr Kind kKinds[] = {
    {"rank_tile", kAll, false, "ranks along an axis, by sorting"},
    {"order_tile", kAll, true, "the places along an axis in the order of what is there"},
    {"select_tile", kFew, true, "the places of what comes first along an axis, of few"}};

std::string CountedBefore(DType type, bool greatest_first) {
  const Expr before =
      ComesBefore(Var("other", type), Var("r"), Var("own", type), Var("i"), greatest_first);
  return absl::StrReplaceAll(PrintExpr(Select(before, Expr(1), Expr(0))),
                             {{"other", "%x[r]"}, {"own", "%x[i]"}});
}

std::string TextOf(const Kind& kind, const Elements& elements) {
  const std::string_view found = kind.extents.back();
  std::string text =
      StrCat("kernel @", kind.name, elements.suffix, "(in %x: ", DTypeName(elements.type),
             "[count], out %y: i64[", found, "]) {\n", "  symbol greatest_first in 0..1\n");
  for (const std::string_view extent : kind.extents) {
    StrAppend(&text, "  symbol ", extent, " in 0..1048576\n");
  }
  if (kind.finds) StrAppend(&text, "  temp %place: i64[count]\n");
  StrAppend(&text, "  ", kind.finds ? "%place" : "%y", "[i<count] = reduce sum(r<count) ",
            "select(greatest_first == 1, ", CountedBefore(elements.type, true), ", ",
            CountedBefore(elements.type, false), ")\n");
  if (kind.finds) {
    StrAppend(&text, "  %y[j<", found, "] = reduce max(r<count) select(%place[r] == j, r, 0)\n");
  }
  return text + "}";
}

// `kept` holds the texts that the row names.
TileRow RowOf(const Kind& kind, const Elements& elements, std::deque<std::string>& kept) {
  const auto keep = [&](std::string text) -> std::string_view {
    return kept.emplace_back(std::move(text));
  };
  const auto value = [](std::string_view extent) { return StrCat("$", extent); };
  return {.name = keep(StrCat(kind.name, elements.suffix)),
          .header = "cpu/rank_tile.h",
          .text = keep(TextOf(kind, elements)),
          .params = kParams,
          .extents = kind.extents,
          .result = Fragment::kMemory,
          .stored = elements.stored,
          .call = keep(StrCat("aotc_", kind.name, "<$greatest_first>(",
                              StrJoin(kind.extents, ", ", value), ", $x, $x.0, $y)")),
          .summary = elements.suffix.empty() ? kind.summary : "the same of integers"};
}

}  // namespace

std::vector<TileRow> RankRows() {
  static std::deque<std::string> kept;
  static const std::vector<TileRow> kRows = [] {
    std::vector<TileRow> all;
    for (const Kind& kind : kKinds) {
      for (const Elements& elements : kElements) all.push_back(RowOf(kind, elements, kept));
    }
    return all;
  }();
  return kRows;
}

std::optional<std::string_view> RankRowsOf(DType type) {
  for (const Elements& elements : kElements) {
    const bool stores = std::ranges::any_of(elements.stored, [&](const TileStorage& storage) {
      return std::ranges::count(storage.types, type) > 0;
    });
    if (type == elements.type || stores) return elements.suffix;
  }
  return std::nullopt;
}

}  // namespace aotc
