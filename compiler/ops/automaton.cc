#include "compiler/ops/automaton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kMostEntries = size_t{1} << 22;  // of a table
constexpr int32_t kNowhere = 0;                   // the state of a trie that no key reaches

size_t Entry(const Automaton& automaton, int32_t state, int32_t byte_class) {
  return static_cast<size_t>(state) * static_cast<size_t>(automaton.class_count) +
         static_cast<size_t>(byte_class);
}

// The block of each state, where those of one block have one result and go to the same blocks:
// blocks are split until that holds.
std::vector<int32_t> Blocks(const Automaton& automaton) {
  const auto count = static_cast<size_t>(automaton.state_count());
  std::vector<int32_t> blocks(count, 0);
  for (size_t before = 0;;) {
    std::map<std::vector<int64_t>, int32_t> numbers;
    std::vector<int32_t> split(count);
    for (size_t s = 0; s < count; ++s) {
      std::vector<int64_t> key = {automaton.result[s], blocks[s]};
      for (int32_t c = 0; c < automaton.class_count; ++c) {
        key.push_back(blocks[static_cast<size_t>(
            automaton.next[Entry(automaton, static_cast<int32_t>(s), c)])]);
      }
      const auto number = static_cast<int32_t>(numbers.size());
      split[s] = numbers.emplace(std::move(key), number).first->second;
    }
    blocks = std::move(split);
    if (numbers.size() == before) return blocks;
    before = numbers.size();
  }
}

// The automaton with classes that lead to the same states everywhere made one.
Automaton WithFewerClasses(const Automaton& automaton) {
  std::map<std::vector<int32_t>, int32_t> columns;
  std::vector<int32_t> number(static_cast<size_t>(automaton.class_count));
  for (int32_t c = 0; c < automaton.class_count; ++c) {
    std::vector<int32_t> column;
    for (int32_t s = 0; s < automaton.state_count(); ++s) {
      column.push_back(automaton.next[Entry(automaton, s, c)]);
    }
    const auto next = static_cast<int32_t>(columns.size());
    number[static_cast<size_t>(c)] = columns.emplace(std::move(column), next).first->second;
  }
  Automaton result = automaton;
  result.class_count = static_cast<int32_t>(columns.size());
  for (uint8_t& byte_class : result.classes) {
    byte_class = static_cast<uint8_t>(number[byte_class]);
  }
  result.next.assign(automaton.result.size() * columns.size(), 0);
  for (int32_t s = 0; s < automaton.state_count(); ++s) {
    for (const auto& [column, c] : columns) {
      result.next[Entry(result, s, c)] = column[static_cast<size_t>(s)];
    }
  }
  return result;
}

// A class for each byte of the keys, and class 0 for all others.
void GiveClasses(const std::vector<std::string>& keys, Automaton& automaton) {
  std::array<bool, 256> used = {};
  for (const std::string& key : keys) {
    for (const char c : key) used[static_cast<uint8_t>(c)] = true;
  }
  // 256 classes would leave none for the others, but then there are no others.
  const bool all = std::ranges::count(used, true) == 256;
  automaton.class_count = all ? 0 : 1;
  for (size_t byte = 0; byte < used.size(); ++byte) {
    if (used[byte]) automaton.classes[byte] = static_cast<uint8_t>(automaton.class_count++);
  }
}

// The state of the trie behind `c` in `state`, which it adds where there is none.
absl::StatusOr<int32_t> StateBehind(int32_t state, char c, int64_t missing, Automaton& trie) {
  const size_t entry = Entry(trie, state, trie.classes[static_cast<uint8_t>(c)]);
  if (trie.next[entry] != kNowhere) return trie.next[entry];
  if (trie.next.size() > kMostEntries) {
    return AOTC_REFUSAL(Unimplemented, "the strings to compare with have too many bytes");
  }
  const int32_t added = trie.state_count();
  trie.next[entry] = added;
  trie.result.push_back(missing);
  trie.next.resize(trie.next.size() + static_cast<size_t>(trie.class_count), kNowhere);
  return added;
}

}  // namespace

int64_t Automaton::Run(std::string_view text) const {
  int32_t state = start;
  for (const char c : text) {
    state = next[Entry(*this, state, classes[static_cast<uint8_t>(c)])];
  }
  return result[static_cast<size_t>(state)];
}

Automaton Minimized(const Automaton& automaton) {
  const std::vector<int32_t> blocks = Blocks(automaton);
  const auto count = static_cast<size_t>(*std::ranges::max_element(blocks)) + 1;
  Automaton result = automaton;
  result.start = blocks[static_cast<size_t>(automaton.start)];
  result.result.assign(count, 0);
  result.next.assign(count * static_cast<size_t>(automaton.class_count), 0);
  for (int32_t s = 0; s < automaton.state_count(); ++s) {
    const int32_t block = blocks[static_cast<size_t>(s)];
    result.result[static_cast<size_t>(block)] = automaton.result[static_cast<size_t>(s)];
    for (int32_t c = 0; c < automaton.class_count; ++c) {
      const int32_t next = automaton.next[Entry(automaton, s, c)];
      result.next[Entry(result, block, c)] = blocks[static_cast<size_t>(next)];
    }
  }
  return WithFewerClasses(result);
}

absl::StatusOr<Automaton> DictionaryAutomaton(const std::vector<std::string>& keys) {
  Automaton trie;
  GiveClasses(keys, trie);
  const auto missing = static_cast<int64_t>(keys.size());
  trie.start = 1;
  trie.result = {missing, missing};
  trie.next.assign(2 * static_cast<size_t>(trie.class_count), kNowhere);
  trie.depth = 0;
  for (size_t k = 0; k < keys.size(); ++k) {
    int32_t state = trie.start;
    for (const char c : keys[k]) {
      AOTC_ASSIGN_OR_RETURN(state, StateBehind(state, c, missing, trie));
    }
    trie.result[static_cast<size_t>(state)] = static_cast<int64_t>(k);
    trie.depth = std::max(trie.depth, static_cast<int32_t>(keys[k].size()));
  }
  return trie;
}

}  // namespace aotc
