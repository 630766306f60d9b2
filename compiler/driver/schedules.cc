#include "compiler/driver/schedules.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "compiler/ir/expr_text.h"
#include "compiler/schedule/record.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

namespace aotc {
namespace {

// Of one variant, the chosen one among them.
std::vector<ScheduleCandidate> CandidatesOf(const ScheduleListing& listing,
                                            const ProgramKernel& kernel,
                                            const KernelVariant& variant) {
  std::vector<ScheduleCandidate> candidates = listing.target.candidates(kernel.kernel, variant);
  std::ranges::stable_sort(candidates, {}, &ScheduleCandidate::seconds);
  const auto chosen = std::ranges::find(candidates, variant.schedule, &ScheduleCandidate::schedule);
  if (chosen == candidates.end()) candidates.insert(candidates.begin(), {variant.schedule, 0});
  return candidates;
}

std::vector<const ProgramKernel*> KernelsOf(const ScheduleListing& listing) {
  std::vector<const ProgramKernel*> kernels;
  for (const ProgramKernel& kernel : listing.program.kernels) {
    if (listing.kernel.empty() || kernel.kernel.name == listing.kernel) kernels.push_back(&kernel);
  }
  return kernels;
}

std::string Seconds(double seconds) {
  return seconds > 0 ? absl::StrFormat("%9.3g us", seconds * 1e6) : "          -";
}

}  // namespace

absl::Status CheckListing(const ScheduleListing& listing) {
  if (!KernelsOf(listing).empty() || listing.kernel.empty()) return absl::OkStatus();
  std::vector<std::string> known;
  for (const ProgramKernel& kernel : listing.program.kernels) known.push_back(kernel.kernel.name);
  return AOTC_REFUSAL(InvalidArgument, UnknownName("kernel", listing.kernel, known));
}

std::string PrintSchedules(const ScheduleListing& listing) {
  std::string text;
  for (const ProgramKernel* kernel : KernelsOf(listing)) {
    for (const KernelVariant& variant : kernel->variants) {
      const std::vector<ScheduleCandidate> candidates = CandidatesOf(listing, *kernel, variant);
      StrAppend(&text, kernel->kernel.name, variant.feature.empty() ? "" : ", ", variant.feature,
                variant.guard.IsInt(1) ? "" : StrCat(", if ", PrintExpr(variant.guard)), ": ",
                candidates.size(), " candidates; ", variant.reason, "\n");
      for (const ScheduleCandidate& candidate : candidates) {
        const bool chosen = candidate.schedule == variant.schedule;
        StrAppend(&text, chosen ? "* " : "  ", Seconds(candidate.seconds), "  ", candidate.schedule,
                  "\n");
      }
    }
  }
  return text;
}

Json SchedulesToJson(const ScheduleListing& listing) {
  Json kernels = Json::array();
  for (const ProgramKernel* kernel : KernelsOf(listing)) {
    for (const KernelVariant& variant : kernel->variants) {
      Json entry = {
          {"kernel", kernel->kernel.name},     {"feature", variant.feature},
          {"guard", PrintExpr(variant.guard)}, {"chosen", variant.schedule},
          {"reason", variant.reason},          {"anchor", AnchorSignature(kernel->kernel)}};
      entry["candidates"] = Json::array();
      for (const ScheduleCandidate& candidate : CandidatesOf(listing, *kernel, variant)) {
        Json row = {{"schedule", candidate.schedule}, {"seconds", nullptr}};
        if (candidate.seconds > 0) row["seconds"] = candidate.seconds;
        row["record"] = PrintForAnyModel(*ParseSchedule(candidate.schedule), kernel->kernel);
        entry["candidates"].push_back(std::move(row));
      }
      kernels.push_back(std::move(entry));
    }
  }
  return {{"kernels", std::move(kernels)}};
}

}  // namespace aotc
