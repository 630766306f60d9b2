#include "compiler/fuse/kernel_cost.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Estimates of kernels of different forms are right within such a factor: where they differ by
// less, fewer launches and bytes decide, which are sure.
constexpr double kTolerance = 2;
// Those of two contractions by the same tiles, in bands or not, within such a one.
constexpr double kToleranceOfChain = 1.03;
// What a whole keeps between its stages is memory, too, which its parts give back.
constexpr double kLeastGainOfSplit = 1.5;

std::string Microseconds(double seconds) {
  constexpr double kMicro = 1e6;
  return std::isfinite(seconds) ? absl::StrFormat("%.3g us", seconds * kMicro) : "for ever";
}

// Whether the name is a word of the text.
bool Mentions(std::string_view text, std::string_view name) {
  const auto goes_on = [&](size_t at) {
    return at < text.size() && (absl::ascii_isalnum(text[at]) || text[at] == '_');
  };
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (!goes_on(at - 1) && !goes_on(at + name.size())) return true;
  }
  return false;
}

// Whether the text is for a kernel of these names alone, or might be.
bool NamesTensors(std::string_view text, const Kernel& kernel) {
  const auto is_named = [&](const KernelTensor& tensor) { return Mentions(text, tensor.name); };
  return Mentions(text, kernel.name) || std::ranges::any_of(kernel.tensors, is_named);
}

bool HasTiledContraction(const Kernel& kernel, const KernelEstimate& estimate) {
  return !estimate.is_plain && std::isfinite(estimate.seconds) && HasContraction(kernel);
}

}  // namespace

KernelCosts::KernelCosts(KernelEstimator estimate)
    : known_(std::make_shared<Known>(Known{.estimate = std::move(estimate)})) {}

absl::Status KernelCosts::CheckMerge(const Parts& parts, const Kernel& merged) const {
  if (!IsKnown()) return absl::OkStatus();
  const KernelEstimate& whole = Of(merged);
  std::string reason;
  if (!std::isfinite(whole.seconds)) {
    reason = StrCat("nothing computes it: ", WhyOf(merged), "; ");
  } else if (whole.is_plain && std::ranges::any_of(parts, [&](const Kernel* part) {
               return HasTiledContraction(*part, Of(*part));
             })) {
    reason = StrCat("the contraction would lose its tile: ", WhyOf(merged), "; ");
  } else if (IsChain(merged) &&
             std::ranges::none_of(parts, [&](const Kernel* part) { return IsChain(*part); })) {
    if (whole.seconds * kToleranceOfChain < whole.apart_seconds) return absl::OkStatus();
    return absl::FailedPreconditionError(StrCat("a chain of them would take ",
                                                Microseconds(whole.seconds), ", apart ",
                                                Microseconds(whole.apart_seconds)));
  } else if (whole.seconds <= Seconds(parts) * kTolerance) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(StrCat(reason, Figures(parts, merged)));
}

bool KernelCosts::AreCheaper(const Parts& parts, const Kernel& whole) const {
  if (!IsKnown()) return false;
  return Of(whole).seconds > Seconds(parts) * kLeastGainOfSplit;
}

double KernelCosts::Seconds(const Parts& parts) const {
  double seconds = 0;
  for (const Kernel* part : parts) seconds += Of(*part).seconds;
  return seconds;
}

const KernelEstimate& KernelCosts::Of(const Kernel& kernel) const {
  const auto [entry, is_new] = known_->by_text.try_emplace(PrintKernelWithoutNames(kernel));
  if (is_new) {
    entry->second = known_->estimate(kernel);
    if (NamesTensors(entry->second.why, kernel)) entry->second.why.clear();
  }
  return entry->second;
}

std::string KernelCosts::WhyOf(const Kernel& kernel) const {
  const std::string& why = Of(kernel).why;
  return why.empty() ? known_->estimate(kernel).why : why;
}

std::string KernelCosts::Figures(const Parts& parts, const Kernel& whole) const {
  const KernelEstimate& estimate = Of(whole);
  std::string way = estimate.realisation;
  if (estimate.kept_bytes > 0) {
    StrAppend(&way, ", ", estimate.kept_bytes, " bytes between its stages");
  }
  double launches = 0;
  for (const Kernel* part : parts) launches += Of(*part).launch_seconds;
  return StrCat("it would take ", Microseconds(estimate.seconds), " (", way, "), apart ",
                Microseconds(Seconds(parts)), " (",
                StrJoin(parts, ", ", [&](const Kernel* part) { return Of(*part).realisation; }),
                "; ", Microseconds(launches), " of it launches)");
}

}  // namespace aotc
