// The rows of the table of aotc/model.h, which all targets share.
#include <algorithm>

#include "compiler/emit/bundles.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {

RunValues RunValuesOf(const EmitContext& context) {
  return HasBundles(context) ? RunValues{.inputs = "given", .outputs = "lent"} : RunValues();
}

std::string NothingGiven(const EmitContext& context) {
  const ModelInterface& m = context.interface;
  const RunValues values = RunValuesOf(context);
  std::vector<std::string> wrong;
  if (!m.inputs.empty()) wrong.push_back(StrCat(values.inputs, " == nullptr"));
  if (!m.outputs.empty()) wrong.push_back(StrCat(values.outputs, " == nullptr"));
  return wrong.empty() ? "false" : StrJoin(wrong, " || ");
}

bool HasLateOutputs(const ModelInterface& m) {
  return std::ranges::any_of(m.outputs, &TensorPort::is_late);
}

void DescribeLateOutputs(const ModelInterface& m, CodeWriter& w) {
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    if (!m.outputs[i].is_late) continue;
    w.Emit(R"(
      if (end == AOTC_OK) {
        end = aotc_describe_output(&outputs[$i$], &output_infos[$i$], out.$dims$);
      })",
           {{"i", StrCat(i)}, {"dims", m.outputs[i].dims_member}});
  }
}

namespace {

void EmitAliases(const ModelInterface& m, CodeWriter& w) {
  if (m.aliases.empty()) return;
  w.Line("// Inputs and outputs in one memory, and how they lie there.");
  const auto block = w.Block("const aotc_alias aliases[] = {", "};\n");
  for (const AliasPort& alias : m.aliases) {
    w.Line(StrCat("{", alias.input, ", ", alias.output, ", {", alias.text, "}},"));
  }
}

}  // namespace

void EmitTable(const EmitContext& context, const TableRows& rows, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  EmitAliases(m, w);
  const std::string status_text = EmitStatusText(context, w);
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
        $status_text$,
        $set_weights$,
        $alias_count$,
        $aliases$,
    };

    }  // namespace

    const aotc_model *$name$_model(void) { return &table; })",
         {{"name", m.prefix},
          {"producer", StringLiteral(StrCat("aotc ", context.options.provenance.aotc_version))},
          {"input_count", StrCat(ValuesOf(context, false).count)},
          {"output_count", StrCat(ValuesOf(context, true).count)},
          {"inputs", ValuesOf(context, false).infos},
          {"outputs", ValuesOf(context, true).infos},
          {"arena_bytes", rows.arena_bytes},
          {"arena_align", rows.arena_align},
          {"instance", rows.instance_bytes},
          {"status_text", status_text},
          {"pool_create", rows.pool_create},
          {"pool_destroy", rows.pool_destroy},
          {"set_weights", rows.set_weights},
          {"alias_count", StrCat(m.aliases.size())},
          {"aliases", m.aliases.empty() ? "nullptr" : "aliases"}});
  if (!context.options.profile) return;
  w.Line();
  w.Emit(R"(
    aotc_status $name$_run_profiled(void *instance, const aotc_value *inputs, aotc_value *outputs,
                                    void *arena, const aotc_parallel *parallel,
                                    const aotc_profile *profile) {
      return run_profiled(instance, inputs, outputs, arena, parallel, profile);
    })",
         {{"name", m.prefix}});
}

ProfiledRun ProfiledRunOf(const EmitContext& context) {
  if (!context.options.profile) return {};
  return {.name = "run_profiled",
          .parameter = ", const aotc_profile *profile",
          .give = StrCat("in.", context.interface.profile_member, " = profile;")};
}

void EmitPlainRun(const EmitContext& context, CodeWriter& w) {
  if (!context.options.profile) return;
  w.Emit(R"(
    aotc_status run(void *instance, const aotc_value *inputs, aotc_value *outputs, void *arena,
                    const aotc_parallel *parallel) {
      return run_profiled(instance, inputs, outputs, arena, parallel, nullptr);
    })");
  w.Line();
}

}  // namespace aotc
