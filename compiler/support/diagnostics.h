// The sink that collects every finding of a run, each with its place.
//
//   Diagnostics diagnostics;
//   diagnostics.Error(NodePlace("conv1", "Conv", 13),
//                     AOTC_REFUSAL(InvalidArgument, "kernel is empty"), "give kernel_shape");
//   diagnostics.Render();  // error: node 'conv1' (Conv, opset 13): kernel is empty; hint: give ...
//   AOTC_RETURN_IF_ERROR(diagnostics.ToStatus());
#ifndef AOTC_COMPILER_SUPPORT_DIAGNOSTICS_H_
#define AOTC_COMPILER_SUPPORT_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace aotc {

enum class Severity : uint8_t { kError, kWarning, kNote };

// What a finding is about: a node of the model, a file (and a position in it), or the whole run.
struct Place {
  std::string node = {};
  std::string op = {};
  int opset = 0;  // 0 where unknown
  std::string file = {};
  int line = 0;  // from 1; 0 where unknown
  int column = 0;

  // "node 'conv1' (Conv, opset 13)", "model.air:3:7", or "".
  std::string Text() const;
  friend bool operator==(const Place&, const Place&) = default;
};

Place NodePlace(std::string_view node, std::string_view op, int opset);
Place FilePlace(std::string_view file, int line = 0, int column = 0);
// A status that is not OK, its message behind what it is about and a colon.
absl::Status About(std::string_view what, const absl::Status& status);

struct Diagnostic {
  Severity severity = Severity::kError;
  Place place = {};
  std::string message = {};
  std::string hint = {};
  absl::StatusCode code = absl::StatusCode::kOk;  // of the refusal, where it is one

  // One line without its newline; control characters become blanks.
  std::string Text() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  // A repetition is dropped. A message may end with "; hint: ..." in place of a hint of its own.
  void Add(Diagnostic diagnostic);
  // The message of a status that is not OK, a refusal (support/refusal.h): those are listed. There
  // is no error of a text alone.
  void Error(Place place, const absl::Status& refusal, std::string_view hint = "");
  // That results are not what they should be, as comparing them shows: nothing is refused.
  void Fault(Place place, std::string_view message, std::string_view hint = "");
  void Warning(Place place, std::string_view message, std::string_view hint = "");
  void Note(Place place, std::string_view message, std::string_view hint = "");
  // The same of a status that may be OK.
  void AddStatus(const absl::Status& status, Place place = {});

  int error_count() const { return Count(Severity::kError); }
  int warning_count() const { return Count(Severity::kWarning); }

  // Errors, warnings, notes; in the order of their arrival within each.
  std::vector<Diagnostic> Sorted() const;
  // Their texts, a line each.
  std::string Render() const;
  // OK where there is no error; else the texts of the errors without "error: ", a line each.
  absl::Status ToStatus() const;

 private:
  int Count(Severity severity) const;

  std::vector<Diagnostic> items_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_DIAGNOSTICS_H_
