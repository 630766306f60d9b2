// Refusals: what a user is told whose model, data or flags the compiler does not take.
//
//   if (axis >= rank) return AOTC_REFUSAL(InvalidArgument, StrCat("there is no axis ", axis));
//
// is absl::InvalidArgumentError(StrCat(...)) at a site that is listed: `tests/refusals/` asks for
// all sites of the program, watches which of them make a sentence, and wants each to be met by one
// of its models. Without a watcher a refusal costs a load.
//
// A site stands in a source file and in no template, where g++ puts it in no list.
#ifndef AOTC_COMPILER_SUPPORT_REFUSAL_H_
#define AOTC_COMPILER_SUPPORT_REFUSAL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace aotc {

// Where a refusal is made. The linker lays all of them out one after another.
struct alignas(32) RefusalSite {
  const char* path;  // as the compiler was given it
  const char* text;  // the expression that makes the sentence, as it stands in the source
  int line;
};

// All sites of the program by file and line.
std::vector<const RefusalSite*> AllRefusalSites();

// The site's file within the source tree: compiler/ops/pool.cc.
std::string_view FileOf(const RefusalSite& site);

// Is told of each refusal that is made, with the sentence.
using RefusalWatcher = void (*)(const RefusalSite& site, const absl::Status& refusal);

// Sets the one watcher; nullptr for none. Other threads may be refusing meanwhile.
void WatchRefusals(RefusalWatcher watcher);

// Tells the watcher, and returns the refusal.
absl::Status NoteRefusal(const RefusalSite& site, absl::Status refusal);

}  // namespace aotc

// The refusal of `kind` (InvalidArgument, Unimplemented ...) with the text that follows.
#define AOTC_REFUSAL(kind, ...)                                                                 \
  ::aotc::NoteRefusal(                                                                          \
      []() -> const ::aotc::RefusalSite& {                                                      \
        [[gnu::section("aotc_refusals"), gnu::used]] static constexpr ::aotc::RefusalSite site{ \
            __FILE__, #__VA_ARGS__, __LINE__};                                                  \
        return site;                                                                            \
      }(),                                                                                      \
      absl::kind##Error(__VA_ARGS__))

#endif  // AOTC_COMPILER_SUPPORT_REFUSAL_H_
