// Status macros and the invariant check.
//
//   AOTC_RETURN_IF_ERROR(Verify(graph));
//   AOTC_ASSIGN_OR_RETURN(Graph graph, Import(path));
//   AOTC_CHECK(index < size) << "operand " << index;   // our own invariant, never user input
#ifndef AOTC_COMPILER_SUPPORT_STATUS_H_
#define AOTC_COMPILER_SUPPORT_STATUS_H_

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define AOTC_STATUS_CONCAT_INNER(a, b) a##b
#define AOTC_STATUS_CONCAT(a, b) AOTC_STATUS_CONCAT_INNER(a, b)

// Returns the status of `expression` from the enclosing function unless it is OK.
#define AOTC_RETURN_IF_ERROR(expression)                                        \
  do {                                                                          \
    if (absl::Status aotc_status_value = (expression); !aotc_status_value.ok()) \
      return aotc_status_value;                                                 \
  } while (false)

// Evaluates a StatusOr; returns its error, or moves its value into `target`.
#define AOTC_ASSIGN_OR_RETURN(target, expression) \
  AOTC_ASSIGN_OR_RETURN_INNER(AOTC_STATUS_CONCAT(aotc_statusor_, __LINE__), target, expression)
#define AOTC_ASSIGN_OR_RETURN_INNER(name, target, expression) \
  auto name = (expression);                                   \
  if (!name.ok()) return std::move(name).status();            \
  target = *std::move(name)

// Ends the process with a message when an invariant of ours does not hold.
#define AOTC_CHECK(condition) \
  if (condition) [[likely]] { \
  } else                      \
    ::aotc::CheckFailure(__FILE__, __LINE__, #condition).stream()

namespace aotc {

// Collects the message of a failed AOTC_CHECK and aborts at the end of the statement.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    stream_ << "internal error: " << file << ":" << line << ": check failed: " << condition << " ";
  }
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure() {
    std::fprintf(stderr, "%s\n", stream_.str().c_str());
    std::abort();
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_STATUS_H_
