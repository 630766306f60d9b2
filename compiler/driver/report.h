// How commands tell what they found: texts for people, JSON for machines.
#ifndef AOTC_COMPILER_DRIVER_REPORT_H_
#define AOTC_COMPILER_DRIVER_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "compiler/support/diagnostics.h"

namespace aotc {

using Json = nlohmann::ordered_json;

// The findings, a line each; `color` puts the severity into ANSI colours.
std::string RenderFindings(const Diagnostics& diagnostics, bool color);
// [{"severity": "error", "place": "node 'conv1' ...", "message": ..., "hint": ...}, ...]
Json FindingsToJson(const Diagnostics& diagnostics);

// "913.5 kB", "15.4 MFLOP": three digits and the prefix of thousands.
std::string WithPrefix(double value, const std::string& unit);

// JSON as a text with its newline; bytes that are not UTF-8 are replaced.
std::string JsonText(const Json& json);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_REPORT_H_
