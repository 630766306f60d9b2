// RegexAutomaton: the tree of a pattern as an automaton with many states at once (Thompson), and
// that with one state for each set of these (subset construction), as few as possible.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ops/automaton.h"
#include "compiler/ops/regex_syntax.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kMostThreads = 50'000;  // of the first automaton
constexpr size_t kMostStates = 4'000;    // of the second, before it is made small

// What stands at one side of a place.
enum class Side : uint8_t { kTextEnd, kLineEnd, kWord, kOther };

bool Holds(RegexPlace place, Side before, Side after) {
  const bool at_word_end = (before == Side::kWord) != (after == Side::kWord);
  switch (place) {
    case RegexPlace::kTextBegin: return before == Side::kTextEnd;
    case RegexPlace::kTextEnd: return after == Side::kTextEnd;
    case RegexPlace::kLineBegin: return before == Side::kTextEnd || before == Side::kLineEnd;
    case RegexPlace::kLineEnd: return after == Side::kTextEnd || after == Side::kLineEnd;
    case RegexPlace::kWordBoundary: return at_word_end;
    case RegexPlace::kNoWordBoundary: return !at_word_end;
  }
  return false;
}

// One position in the pattern, at which a text may be.
struct Thread {
  enum class Kind : uint8_t { kByte, kPlace, kSplit, kMatch } kind = Kind::kMatch;
  CodeRange bytes = {};                       // kByte
  RegexPlace place = RegexPlace::kTextBegin;  // kPlace
  std::vector<int> next = {};                 // kSplit: all of them; else one
};

// Builds from the back: each node is given what follows it.
class ThreadBuilder {
 public:
  // The first thread. Error: too many of them.
  absl::StatusOr<int> Build(const RegexNode& tree) {
    const int first = Append(tree, Add({}));
    if (threads_.size() > kMostThreads) {
      return AOTC_REFUSAL(Unimplemented,
                          "the pattern is too long once its repetitions are written out");
    }
    return first;
  }
  const std::vector<Thread>& threads() const { return threads_; }

 private:
  int Add(Thread thread) {
    threads_.push_back(std::move(thread));
    return static_cast<int>(threads_.size()) - 1;
  }

  int Append(const RegexNode& node, int next) {
    if (threads_.size() > kMostThreads) return next;
    switch (node.kind) {
      case RegexNode::Kind::kOne: return AppendSet(node.set, next);
      case RegexNode::Kind::kPlace:
        return Add({.kind = Thread::Kind::kPlace, .place = node.place, .next = {next}});
      case RegexNode::Kind::kSequence:
        for (size_t i = node.children.size(); i-- > 0;) next = Append(node.children[i], next);
        return next;
      case RegexNode::Kind::kAlternative: {
        Thread split{.kind = Thread::Kind::kSplit};
        for (const RegexNode& child : node.children) split.next.push_back(Append(child, next));
        return Add(std::move(split));
      }
      case RegexNode::Kind::kRepeat: return AppendRepeat(node, next);
    }
    return next;
  }

  int AppendSet(const CodePoints& set, int next) {
    Thread split{.kind = Thread::Kind::kSplit};
    for (const ByteSequence& bytes : Utf8Sequences(set)) {
      int first = next;
      for (size_t i = bytes.size(); i-- > 0;) {
        first = Add({.kind = Thread::Kind::kByte, .bytes = bytes[i], .next = {first}});
      }
      split.next.push_back(first);
    }
    return split.next.size() == 1 ? split.next[0] : Add(std::move(split));
  }

  int AppendRepeat(const RegexNode& node, int next) {
    const RegexNode& child = node.children[0];
    if (node.most == RegexNode::kUnbounded) {
      const int loop = Add({.kind = Thread::Kind::kSplit, .next = {next}});
      const int again = Append(child, loop);
      threads_[static_cast<size_t>(loop)].next.push_back(again);
      next = loop;
    }
    const int end = next;
    for (int i = node.least; i < node.most; ++i) {
      next = Add({.kind = Thread::Kind::kSplit, .next = {end, Append(child, next)}});
    }
    for (int i = 0; i < node.least; ++i) next = Append(child, next);
    return next;
  }

  std::vector<Thread> threads_;
};

Side SideOf(int byte) {
  const bool is_word = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || byte == '_';
  if (is_word) return Side::kWord;
  return byte == '\n' ? Side::kLineEnd : Side::kOther;
}

// Threads before the places among them are looked at, and what stands before these.
using StateKey = std::pair<std::vector<int>, Side>;

class SubsetBuilder {
 public:
  explicit SubsetBuilder(const std::vector<Thread>& threads) : threads_(threads) {}

  absl::StatusOr<Automaton> Run(int first) {
    DivideBytes();
    result_.start = StateOf({first}, Side::kTextEnd);
    for (size_t s = 0; s < keys_.size(); ++s) {
      if (keys_.size() > kMostStates) {
        return AOTC_REFUSAL(Unimplemented, StrCat("the pattern takes an automaton of more than ",
                                                  kMostStates, " states"));
      }
      const StateKey key = keys_[s];  // keys_ grows
      for (int32_t c = 0; c < result_.class_count; ++c) {
        result_.next.push_back(Step(key, member_[static_cast<size_t>(c)]));
      }
      result_.result.push_back(IsMatch(key) ? 1 : 0);
    }
    return Minimized(result_);
  }

 private:
  // Bytes are of one class where no thread and no place tells them apart.
  void DivideBytes() {
    std::set<int> begins = {0,       '\n', '\n' + 1, '0', '9' + 1, 'A',
                            'Z' + 1, '_',  '_' + 1,  'a', 'z' + 1};
    for (const Thread& thread : threads_) {
      if (thread.kind != Thread::Kind::kByte) continue;
      begins.insert(thread.bytes.first);
      if (thread.bytes.last < 255) begins.insert(thread.bytes.last + 1);
    }
    member_.assign(begins.begin(), begins.end());
    result_.class_count = static_cast<int32_t>(member_.size());
    for (int byte = 0; byte < 256; ++byte) {
      const auto behind = std::ranges::upper_bound(member_, byte);
      result_.classes[static_cast<size_t>(byte)] =
          static_cast<uint8_t>(behind - member_.begin() - 1);
    }
  }

  // Adds a thread, and those behind it that take no byte; places where `after` is known and they
  // hold.
  void Follow(int id, Side before, const Side* after, std::set<int>& reached) const {
    std::vector<int> left = {id};
    while (!left.empty()) {
      const int current = left.back();
      left.pop_back();
      if (!reached.insert(current).second) continue;
      const Thread& thread = threads_[static_cast<size_t>(current)];
      const bool passes = thread.kind == Thread::Kind::kPlace && after != nullptr &&
                          Holds(thread.place, before, *after);
      if (thread.kind == Thread::Kind::kSplit || passes) {
        left.insert(left.end(), thread.next.begin(), thread.next.end());
      }
    }
  }

  // The threads of a state once it is known what comes next.
  std::set<int> Resolved(const StateKey& key, Side after) const {
    std::set<int> reached;
    for (int id : key.first) Follow(id, key.second, &after, reached);
    return reached;
  }

  int32_t StateOf(const std::set<int>& from, Side before) {
    std::set<int> reached;
    for (int id : from) Follow(id, before, nullptr, reached);
    StateKey key = {{}, Side::kOther};
    for (int id : reached) {
      const Thread& thread = threads_[static_cast<size_t>(id)];
      if (thread.kind == Thread::Kind::kSplit) continue;
      key.first.push_back(id);
      if (thread.kind == Thread::Kind::kPlace) key.second = before;  // else it does not matter
    }
    const auto [found, added] = numbers_.emplace(key, static_cast<int32_t>(keys_.size()));
    if (added) keys_.push_back(std::move(key));
    return found->second;
  }

  int32_t Step(const StateKey& key, int byte) {
    std::set<int> behind;
    for (int id : Resolved(key, SideOf(byte))) {
      const Thread& thread = threads_[static_cast<size_t>(id)];
      const bool takes = thread.kind == Thread::Kind::kByte && thread.bytes.first <= byte &&
                         byte <= thread.bytes.last;
      if (takes) behind.insert(thread.next[0]);
    }
    return StateOf(behind, SideOf(byte));
  }

  bool IsMatch(const StateKey& key) const {
    return std::ranges::any_of(Resolved(key, Side::kTextEnd), [&](int id) {
      return threads_[static_cast<size_t>(id)].kind == Thread::Kind::kMatch;
    });
  }

  const std::vector<Thread>& threads_;
  std::vector<int> member_;  // a byte of each class
  std::vector<StateKey> keys_;
  std::map<StateKey, int32_t> numbers_;
  Automaton result_;
};

}  // namespace

absl::StatusOr<Automaton> RegexAutomaton(std::string_view pattern) {
  AOTC_ASSIGN_OR_RETURN(const RegexNode tree, ParseRegex(pattern));
  ThreadBuilder builder;
  AOTC_ASSIGN_OR_RETURN(const int first, builder.Build(tree));
  return SubsetBuilder(builder.threads()).Run(first);
}

}  // namespace aotc
