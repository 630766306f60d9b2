// The sink that collects every finding of a run, each with its place.
//
//   Diagnostics diagnostics;
//   diagnostics.Error(NodePlace("conv1", "Conv", 13), "kernel is empty", "give kernel_shape");
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

struct Diagnostic {
  Severity severity = Severity::kError;
  Place place = {};
  std::string message = {};
  std::string hint = {};

  // One line without its newline; control characters become blanks.
  std::string Text() const;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  // A repetition is dropped. A message may end with "; hint: ..." in place of a hint of its own.
  void Add(Diagnostic diagnostic);
  void Error(Place place, std::string_view message, std::string_view hint = "");
  void Warning(Place place, std::string_view message, std::string_view hint = "");
  void Note(Place place, std::string_view message, std::string_view hint = "");
  // An error with the message of a status that is not OK.
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
