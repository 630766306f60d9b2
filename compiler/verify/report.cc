#include "compiler/verify/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "compiler/support/strings.h"

namespace aotc {

std::string PrintReport(const VerifyReport& report) {
  std::string text;
  size_t agreeing = 0;
  for (const TensorResult& result : report.results) {
    if (result.Agrees()) ++agreeing;
    StrAppend(&text, result.test_case, ": ", result.tensor, " ", result.type,
              result.Agrees() ? " agrees with the " : " DIFFERS from the ", result.against, ", ",
              result.difference.Text(result.limit), "\n");
  }
  absl::StrAppendFormat(&text, "%d of %d agree; %d files built in %.1f s\n", agreeing,
                        report.results.size(), report.file_count, report.build_seconds);
  return text;
}

Json ReportToJson(const VerifyReport& report) {
  Json results = Json::array();
  for (const TensorResult& result : report.results) {
    const double error = result.difference.error;
    results.push_back({{"case", result.test_case},
                       {"tensor", result.tensor},
                       {"type", result.type},
                       {"against", result.against},
                       {"agrees", result.Agrees()},
                       {"error", std::isfinite(error) ? Json(error) : Json(nullptr)},
                       {"limit", result.limit},
                       {"ulp", result.difference.ulp}});
  }
  return {{"results", std::move(results)},
          {"files", report.file_count},
          {"build_seconds", report.build_seconds}};
}

}  // namespace aotc
