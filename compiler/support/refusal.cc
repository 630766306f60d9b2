#include "compiler/support/refusal.h"

#include <algorithm>
#include <atomic>
#include <tuple>

// Ends of the section, which the linker defines where the program has a site.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
[[gnu::weak]] extern const aotc::RefusalSite __start_aotc_refusals[];
[[gnu::weak]] extern const aotc::RefusalSite __stop_aotc_refusals[];
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace aotc {
namespace {

std::atomic<RefusalWatcher> current_watcher = nullptr;

}  // namespace

std::vector<const RefusalSite*> AllRefusalSites() {
  std::vector<const RefusalSite*> sites;
  for (const RefusalSite* site = __start_aotc_refusals; site != __stop_aotc_refusals; ++site) {
    sites.push_back(site);
  }
  std::ranges::sort(sites, {}, [](const RefusalSite* site) {
    return std::tuple(FileOf(*site), site->line, std::string_view(site->text));
  });
  return sites;
}

std::string_view FileOf(const RefusalSite& site) {
  const std::string_view path = site.path;
  const size_t root = path.rfind("compiler/");
  return root == std::string_view::npos ? path : path.substr(root);
}

void WatchRefusals(RefusalWatcher watcher) { current_watcher = watcher; }

absl::Status NoteRefusal(const RefusalSite& site, absl::Status refusal) {
  if (const RefusalWatcher watcher = current_watcher) watcher(site, refusal);
  return refusal;
}

}  // namespace aotc
