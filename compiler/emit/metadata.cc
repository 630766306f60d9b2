// metadata.json: what tools may want to know of an output folder. Keys are listed in
// docs/output-format.md.
#include <algorithm>
#include <map>

#include "absl/strings/str_split.h"
#include "compiler/emit/host_control.h"
#include "compiler/emit/host_parts.h"
#include "compiler/emit/parts.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_text.h"
#include "compiler/plan/memory_map.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/sha256.h"
#include "compiler/support/strings.h"
#include "nlohmann/json.hpp"

namespace aotc {
namespace {

using Json = nlohmann::ordered_json;

// Dims that vary are texts: "batch".
Json Dims(const Shape& shape, const std::vector<Symbol>& symbols) {
  Json dims = Json::array();
  for (const Expr& dim : shape) {
    if (const std::optional<int64_t> value = dim.AsInt()) {
      dims.push_back(*value);
    } else {
      dims.push_back(PrintUserDim(dim, symbols));
    }
  }
  return dims;
}

// A map, or a sequence of maps: `dims` are those of keys and values.
Json MapPort(const EmitContext& context, const Bundle& bundle, const std::vector<TensorPort>& ports,
             Json members) {
  const MapForm form = *MapFormOf(bundle.kind);
  const Buffer& keys = context.program.buffers[ports[bundle.first].id];
  const Buffer& values = context.program.buffers[ports[bundle.first + form.first_value()].id];
  const auto type = [](const Buffer& column, bool is_strings) {
    return std::string(DTypeName(is_strings ? DType::kString : column.dtype));
  };
  Json port = {{"name", bundle.name},
               {"kind", form.is_sequence ? "sequence" : "map"},
               {"key_dtype", type(keys, form.has_string_keys)},
               {"dtype", type(values, form.has_string_values)},
               {"dims", Dims({values.shape.back()}, context.program.symbols)}};
  if (form.is_sequence) {
    port["max_items"] = ports[bundle.first + form.first_value()].ranges[0].max;
  }
  port["members"] = std::move(members);
  return port;
}

// A value of several tensors. Where it has items, dims are those of an item, each the most; of any
// rank, where they are none.
Json BundlePort(const EmitContext& context, const Bundle& bundle,
                const std::vector<TensorPort>& ports) {
  const Buffer& elements = context.program.buffers[ports[bundle.first].id];
  Json members = Json::array();
  for (size_t p = 0; p < PartNames(bundle.kind).size(); ++p) {
    members.push_back(ports[bundle.first + p].member);
  }
  if (MapFormOf(bundle.kind)) return MapPort(context, bundle, ports, std::move(members));
  if (bundle.kind == BundleKind::kStrings) {
    return {{"name", bundle.name},
            {"kind", "tensor"},
            {"dtype", std::string(DTypeName(DType::kString))},
            {"dims", Dims(elements.shape, context.program.symbols)},
            {"members", std::move(members)}};
  }
  const Buffer& dims = context.program.buffers[ports[bundle.first + kDimsPart].id];
  Shape item(elements.shape.begin() + 1, elements.shape.end());
  const bool any_rank = dims.shape[1].AsInt().value_or(0) > kRankColumn;
  return {{"name", bundle.name},
          {"kind", bundle.kind == BundleKind::kSequence ? "sequence" : "optional"},
          {"dtype", std::string(DTypeName(elements.dtype))},
          {"dims", any_rank ? Json() : Dims(item, context.program.symbols)},
          {"max_items", elements.shape[0].AsInt().value_or(0)},
          {"members", std::move(members)}};
}

Json Ports(const EmitContext& context, const std::vector<TensorPort>& ports) {
  Json list = Json::array();
  const bool outputs = &ports == &context.interface.outputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    const TensorPort& port = ports[i];
    if (const Bundle* bundle = BundleOf(context.bundles, outputs, i)) {
      if (bundle->first == i) list.push_back(BundlePort(context, *bundle, ports));
      continue;
    }
    const Buffer& buffer = context.program.buffers[port.id];
    list.push_back({{"name", port.name},
                    {"kind", "tensor"},
                    {"dtype", std::string(DTypeName(buffer.dtype))},
                    {"dims", Dims(buffer.shape, context.program.symbols)},
                    {"member", port.member}});
  }
  return list;
}

Json Aliases(const ModelInterface& interface) {
  Json list = Json::array();
  for (const AliasPort& alias : interface.aliases) {
    list.push_back({{"input", interface.inputs[static_cast<size_t>(alias.input)].name},
                    {"output", interface.outputs[static_cast<size_t>(alias.output)].name},
                    {"strides", alias.strides}});
  }
  return list;
}

Json Symbols(const std::vector<Symbol>& symbols) {
  Json list = Json::array();
  for (const Symbol& symbol : symbols) {
    list.push_back({{"name", symbol.name},
                    {"min", symbol.min * symbol.step},
                    {"max", symbol.max * symbol.step},
                    {"step", symbol.step}});
  }
  return list;
}

Json Pools(const Program& program) {
  Json pools = Json::array();
  for (const Pool& pool : program.pools) {
    pools.push_back({{"name", pool.name},
                     {"limit", pool.limit ? Json(*pool.limit) : Json()},
                     {"offset", pool.offset},
                     {"bytes", pool.bytes},
                     {"lower_bound", pool.lower_bound},
                     {"proof", std::string(PoolProof(pool))}});
  }
  return pools;
}

Json Arena(const Program& program) {
  Json buffers = Json::array();
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kArena || buffer.first_step < 0) continue;
    buffers.push_back({{"name", buffer.name},
                       {"offset", buffer.offset},
                       {"bytes", buffer.bytes},
                       {"first_step", buffer.first_step},
                       {"last_step", buffer.last_step}});
    if (!program.pools.empty()) buffers.back()["pool"] = program.pools[buffer.pool].name;
  }
  Json arena = {{"bytes", program.arena_bytes},
                {"align", program.arena_align},
                {"lower_bound", program.lower_bound},
                {"proof", std::string(ArenaProof(program))}};
  if (!program.pools.empty()) arena["pools"] = Pools(program);
  arena["buffers"] = std::move(buffers);
  return arena;
}

// The reason where it is another than that of the first, which is the kernel's.
Json Variants(const ProgramKernel& kernel) {
  Json list = Json::array();
  for (const KernelVariant& variant : kernel.variants) {
    Json entry = {{"feature", variant.feature},
                  {"realisation", variant.realisation},
                  {"schedule", variant.schedule}};
    if (variant.reason != kernel.variants.front().reason) entry["reason"] = variant.reason;
    if (!variant.guard.IsInt(1)) entry["guard"] = PrintExpr(variant.guard);
    if (variant.loops.index != DType::kI64) entry["index"] = DTypeName(variant.loops.index);
    list.push_back(std::move(entry));
  }
  return list;
}

Json Kernels(const Program& program) {
  Json list = Json::array();
  const IdVector<KernelId, int64_t> launches = LaunchCounts(program);
  for (KernelId id : program.kernels.ids()) {
    const ProgramKernel& kernel = program.kernels[id];
    const KernelVariant& best = kernel.variants.front();
    list.push_back({{"name", kernel.kernel.name},
                    {"hash", KernelHash(kernel.kernel)},
                    {"nodes", kernel.kernel.sources},
                    {"realisation", best.realisation},
                    {"schedule", best.schedule},
                    {"reason", best.reason},
                    {"contraction", HasContraction(kernel.kernel)},
                    {"launches", launches[id]},
                    {"flops", KernelFlops(kernel.kernel)},
                    {"bytes", KernelBytes(kernel.kernel)},
                    {"variants", Variants(kernel)}});
  }
  return list;
}

// Bytes that a copy or a kernel without arithmetic reads and writes, at the symbols' maxima; 0 of
// others.
int64_t MovedBytes(const Program& program, const Step& step) {
  if (step.kind == StepKind::kCopy) return 2 * program.buffers[step.args[1]].bytes;
  if (step.kind != StepKind::kLaunch) return 0;
  const Kernel& kernel = program.kernels[step.kernel].kernel;
  if (!OnlyMoves(kernel)) return 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < step.args.size(); ++i) {
    const bool written = kernel.tensors[kernel.params[i]].role == TensorRole::kOutput;
    if (written) bytes += 2 * program.buffers[step.args[i]].bytes;
  }
  return bytes;
}

// It reads an input of the model or writes an output.
bool IsAtAnEnd(const Program& program, const Step& step) {
  return std::ranges::any_of(step.args, [&](BufferId id) {
    const BufferKind kind = program.buffers[BaseOf(program, id)].kind;
    return kind == BufferKind::kInput || kind == BufferKind::kOutput;
  });
}

// Of all steps, each once: what an output costs beside its work. `inside`: of those alone that
// bring neither an input nor an output into another layout.
int64_t MovedBytes(const Program& program, bool inside) {
  int64_t bytes = 0;
  for (const Step& step : program.steps) {
    if (!inside || !IsAtAnEnd(program, step)) bytes += MovedBytes(program, step);
  }
  return bytes;
}

// With a device, also where the host waits for it.
Json Steps(const Program& program, bool on_device) {
  Json list = Json::array();
  const std::vector<bool> waits = StepsThatWait(program);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    Json args = Json::array();
    for (BufferId id : step.args) args.push_back(program.buffers[id].name);
    list.push_back(
        {{"kernel", StepName(program, step)}, {"nodes", step.sources}, {"args", std::move(args)}});
    if (on_device && waits[i]) list.back()["waits"] = true;
    if (const int64_t moved = MovedBytes(program, step); moved > 0) list.back()["moved"] = moved;
  }
  return list;
}

Json Weights(const EmitContext& context) {
  Json weights = {{"bytes", context.program.weights.size()}};
  if (context.HasWeights()) weights["hash"] = HashLiteral(context.weights_hash);
  return weights;
}

Json Opsets(const Provenance& from) {
  Json opsets = Json::object();
  for (const auto& [domain, version] : from.opsets) {
    opsets[domain.empty() ? "ai.onnx" : domain] = version;
  }
  return opsets;
}

Json Model(const Provenance& from) {
  Json model = {{"name", from.model_name}, {"sha256", from.model_sha256}, {"opsets", Opsets(from)}};
  if (!from.bound_sha256.empty()) model["bound_sha256"] = from.bound_sha256;
  return model;
}

// Names in a model may be any bytes: those that are no UTF-8 are replaced.
std::string Print(const Json& metadata) {
  return metadata.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string EmitMetadata(const EmitContext& context, const OutputFiles& files) {
  const Provenance& from = context.options.provenance;
  std::map<std::string, std::string> hashes = {{"metadata.json", ""}};
  for (const auto& [path, content] : files) hashes[path] = Sha256Hex(content);
  Json names = Json::array();
  for (const auto& [path, hash] : hashes) names.push_back(path);
  Json metadata = {
      {"aotc", from.aotc_version},
      {"name", context.interface.prefix},
      {"model", Model(from)},
      {"target", context.options.host.target},
      {"flags", from.flags},
      {"files", std::move(names)},
      {"sha256", hashes},
      {"symbols", Symbols(context.program.symbols)},
      {"inputs", Ports(context, context.interface.inputs)},
      {"outputs", Ports(context, context.interface.outputs)},
      {"arena", Arena(context.program)},
      {"weights", Weights(context)},
      {"kernels", Kernels(context.program)},
      {"moved_bytes", MovedBytes(context.program, /*inside=*/false)},
      {"moved_bytes_inside", MovedBytes(context.program, /*inside=*/true)},
      {"steps", Steps(context.program, context.options.host.has_device)},
      {"passes", from.passes},
  };
  if (!context.interface.checks.empty()) metadata["checks"] = context.interface.checks;
  if (!context.interface.aliases.empty()) metadata["aliases"] = Aliases(context.interface);
  // Beside the flags, which state no paths.
  if (!from.limits.empty()) {
    metadata["limits"] = {{context.options.host.target, Json::parse(from.limits)}};
  }
  for (const auto& line : absl::StrSplit(from.schedules, '\n', absl::SkipEmpty())) {
    metadata["records"].push_back(Json::parse(line));
  }
  metadata["sha256"]["metadata.json"] = Sha256Hex(Print(metadata));
  return Print(metadata);
}

}  // namespace aotc
