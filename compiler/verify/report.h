// What `aotc verify` prints.
#ifndef AOTC_COMPILER_VERIFY_REPORT_H_
#define AOTC_COMPILER_VERIFY_REPORT_H_

#include <string>

#include "compiler/driver/report.h"
#include "compiler/verify/verify.h"

namespace aotc {

// A line per run and tensor, and one that sums up.
std::string PrintReport(const VerifyReport& report);
// {"results": [{"case": "seed 1", "tensor": "output 'y'", "error": 2e-07, ...}], ...}; an infinite
// error is null.
Json ReportToJson(const VerifyReport& report);

}  // namespace aotc

#endif  // AOTC_COMPILER_VERIFY_REPORT_H_
