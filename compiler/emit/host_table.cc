// The rows of the table of aotc/model.h, which all targets share.
#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {

std::string NothingGiven(const ModelInterface& m) {
  std::vector<std::string> wrong;
  if (!m.inputs.empty()) wrong.push_back("inputs == nullptr");
  if (!m.outputs.empty()) wrong.push_back("outputs == nullptr");
  return wrong.empty() ? "false" : StrJoin(wrong, " || ");
}

void EmitTable(const EmitContext& context, const TableRows& rows, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Emit(R"(
    const aotc_model table = {
        AOTC_ABI_VERSION,
        "$name$",
        $producer$,
        $input_count$,
        $output_count$,
        $inputs$,
        $outputs$,
        $arena_bytes$,
        $arena_align$,
        $instance$,
        create,
        run,
        destroy,
        $pool_create$,
        $pool_destroy$,
        aotc_status_text,
        $set_weights$,
    };

    }  // namespace

    const aotc_model *$name$_model(void) { return &table; })",
         {{"name", m.prefix},
          {"producer", StringLiteral(StrCat("aotc ", context.options.provenance.aotc_version))},
          {"input_count", StrCat(m.inputs.size())},
          {"output_count", StrCat(m.outputs.size())},
          {"inputs", m.inputs.empty() ? "nullptr" : "input_infos"},
          {"outputs", m.outputs.empty() ? "nullptr" : "output_infos"},
          {"arena_bytes", rows.arena_bytes},
          {"arena_align", rows.arena_align},
          {"instance", rows.instance_bytes},
          {"pool_create", rows.pool_create},
          {"pool_destroy", rows.pool_destroy},
          {"set_weights", rows.set_weights}});
}

}  // namespace aotc
