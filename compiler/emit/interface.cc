#include "compiler/emit/interface.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/emit/c_expr.h"
#include "compiler/emit/host_expr.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/support/names.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kMaxRank = 8;  // AOTC_MAX_RANK

// Packed and small types are bytes to C.
std::string MemberType(DType dtype) {
  const bool bytes = BitWidth(dtype) <= 8 && dtype != DType::kI8;
  return bytes ? "uint8_t" : CInterfaceType(dtype);
}

bool IsInInterface(DType dtype) {
  return BitWidth(dtype) > 0 && dtype != DType::kC64 && dtype != DType::kC128;
}

class Describer {
 public:
  Describer(const Program& program, const std::vector<Bundle>& bundles)
      : program_(program),
        bundles_(bundles),
        known_(program),
        bounds_(BoundsOf(program.symbols)),
        ranges_(RangesOf(program)) {
    interface_.prefix = program.name;
    interface_.macro = MacroCase(program.name);
  }

  absl::StatusOr<ModelInterface> Run() {
    for (const std::vector<BufferId>* ports : {&program_.inputs, &program_.outputs}) {
      for (BufferId id : *ports) AOTC_RETURN_IF_ERROR(CheckPort(program_.buffers[id]));
    }
    NameTable dims;
    interface_.has_late_symbols = !known_.empty();
    for (const Symbol& symbol : program_.symbols) {
      if (symbol.computed) {
        AddComputed(symbol);
      } else if (!symbol.value.valid()) {
        AOTC_RETURN_IF_ERROR(Locate(symbol, dims));
      }
      AddSizes(symbol);
    }
    NameTable inputs, outputs;
    if (!interface_.dims.empty()) inputs.Reserve("dims");
    for (BufferId id : program_.inputs) interface_.inputs.push_back(Port(id, inputs, "INPUT"));
    for (BufferId id : program_.outputs) interface_.outputs.push_back(Port(id, outputs, "OUTPUT"));
    for (TensorPort& port : interface_.outputs) {
      if (!DependsOnElements(program_.buffers[port.id].shape)) continue;
      port.reports_dims = true;
      port.dims_member = outputs.Unique(StrCat(port.member, "_dims"));
      port.is_late = known_.StepOf(program_.buffers[port.id].shape) != kBeforeAnyStep;
      if (port.is_late) port.capacity_member = outputs.Unique(StrCat(port.member, "_capacity"));
    }
    interface_.profile_member = inputs.Unique("profile");
    for (size_t i = 0; i < program_.inputs.size(); ++i) AddAlias(i);
    AddAgreements();
    AddRoomChecks();
    return std::move(interface_);
  }

 private:
  static absl::Status CheckPort(const Buffer& buffer) {
    if (buffer.shape.size() > kMaxRank) {
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("'", buffer.value, "' has rank ", buffer.shape.size(),
                 ", an input or output at most ", kMaxRank, "; hint: reshape it inside the model"));
    }
    if (!IsInInterface(buffer.dtype)) {
      return AOTC_REFUSAL(
          Unimplemented,
          StrCat("'", buffer.value, "' has elements of type ", DTypeName(buffer.dtype),
                 ", which inputs and outputs are not supported to have"));
    }
    return absl::OkStatus();
  }

  TensorPort Port(BufferId id, NameTable& members, std::string_view role) {
    const Buffer& buffer = program_.buffers[id];
    TensorPort port{.id = id, .name = buffer.value, .member = members.Unique(buffer.value)};
    port.macro = UniqueMacro(role, port.member);
    port.dtype = buffer.dtype;
    port.type = MemberType(buffer.dtype);
    port.bytes = program_.buffers[BaseOf(program_, id)].bytes;
    port.element_align = std::max(1, ByteWidth(buffer.dtype));
    const auto print = [&](const Expr& dim) { return PrintUserDim(dim, program_.symbols); };
    port.text = StrCat(DTypeName(buffer.dtype), "[", StrJoin(buffer.shape, ", ", print), "]");
    for (const Expr& dim : buffer.shape) port.ranges.push_back(RangeOf(dim, bounds_));
    port.is_read_by_host = !buffer.elements.empty();
    return port;
  }

  int AddCheck(std::string text) {
    interface_.checks.push_back(std::move(text));
    return static_cast<int>(interface_.checks.size()) - 1;
  }

  int AddRangeCheck(const Symbol& symbol, int64_t scale) {
    return AddCheck(StrCat("'", symbol.name, "' is not within ", symbol.min * scale, " .. ",
                           symbol.max * scale));
  }

  void AddAgreements() {
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const Buffer& buffer = program_.buffers[program_.inputs[i]];
      for (size_t axis = 0; axis < buffer.shape.size(); ++axis) {
        AddAgreement({.input = static_cast<int>(i), .at = axis}, buffer.shape[axis]);
      }
      for (size_t e = 0; e < buffer.elements.size(); ++e) {
        AddAgreement({.input = static_cast<int>(i), .is_dim = false, .at = e}, buffer.elements[e]);
      }
    }
  }

  // What it has to be follows from the symbols, of which other inputs state some.
  void AddAgreement(AgreePort port, const Expr& size) {
    std::set<int> others;
    for (const DimPort& dim : interface_.dims) {
      if (UsesVar(size, dim.symbol.var)) others.insert(dim.input);
    }
    for (const ElementPort& element : interface_.elements) {
      if (UsesVar(size, element.symbol.var)) others.insert(element.input);
    }
    others.erase(port.input);
    if (others.empty()) return;
    const auto describe = [&](int input) {
      const TensorPort& other = interface_.inputs[static_cast<size_t>(input)];
      return StrCat("'", other.name, "' ", other.text);
    };
    port.check = AddCheck(StrCat(port.is_dim ? "dim " : "element ", port.at, " of '",
                                 interface_.inputs[static_cast<size_t>(port.input)].name,
                                 "' is not ", PrintUserDim(size, program_.symbols), " of ",
                                 StrJoin(others, " and ", describe)));
    interface_.agreements.push_back(port);
  }

  void AddRoomChecks() {
    for (const Bundle& bundle : bundles_) {
      if (bundle.is_output) continue;
      if (MapFormOf(bundle.kind)) AddMapChecks(bundle);
      const std::optional<size_t> pool = PoolPartOf(bundle.kind);
      if (!pool) continue;
      const int64_t room = interface_.inputs[bundle.first + *pool].ranges[0].max;
      interface_.room_checks[bundle.name] =
          AddCheck(StrCat("the strings of '", bundle.name, "' have more than ", room,
                          " bytes together; hint: --max-string-bytes"));
    }
  }

  void AddMapChecks(const Bundle& map) {
    const int64_t room = interface_.inputs[map.first].ranges[0].max;
    MapChecks& checks = interface_.map_checks[map.name];
    checks.entries = AddCheck(StrCat("'", map.name, "' has more than ", room,
                                     " entries; hint: --max-items ", map.name, "=N"));
    checks.keys = AddCheck(StrCat("'", map.name, "' has a key twice"));
  }

  // Its value is worked out where it is known, each check once all that it names is.
  void AddSizes(const Symbol& symbol) {
    const int step = known_.StepOf(symbol.var);
    const std::vector<Expr> values =
        symbol.value.valid() ? std::vector<Expr>{symbol.value} : SetTo(symbol);
    const auto may_leave = [&](const Expr& value) {
      const Interval range = RangeOf(value, ranges_);
      bool may = range.min < symbol.min || range.max > symbol.max;
      Visit(value, [&](const Expr& node) { may |= MayOverflow(node, ranges_); });
      return may;
    };
    const bool is_checked = std::ranges::any_of(values, may_leave);
    if (symbol.value.valid() || is_checked) {
      interface_.sizes.push_back({.step = step,
                                  .symbol = symbol,
                                  .check = is_checked ? AddRangeCheck(symbol, symbol.step) : -1});
    }
    for (const SizeCheck& check : symbol.checks) {
      interface_.sizes.push_back({.step = std::max(step, known_.StepOf(check.holds)),
                                  .holds = check.holds,
                                  .check = AddCheck(check.text)});
    }
  }

  // What steps before that which makes it known set it to.
  std::vector<Expr> SetTo(const Symbol& symbol) const {
    std::vector<Expr> values;
    for (const Step& step : program_.steps) {
      for (size_t e = 0; e < step.values.size(); ++e) {
        if (step.elements[e]->name == symbol.var) values.push_back(step.values[e]);
      }
    }
    return values;
  }

  // Whether what a run is given decides one of the dims, or what is worked out of it.
  bool DependsOnElements(const Shape& shape) const {
    const auto is_read = [&](const Symbol& symbol) {
      return symbol.value.valid() || symbol.computed ||
             std::ranges::any_of(interface_.elements, [&](const ElementPort& port) {
               return port.symbol.var == symbol.var;
             });
    };
    return std::ranges::any_of(program_.symbols, [&](const Symbol& symbol) {
      const auto uses = [&](const Expr& dim) { return UsesVar(dim, symbol.var); };
      return is_read(symbol) && std::ranges::any_of(shape, uses);
    });
  }

  void AddAlias(size_t input) {
    const BufferId id = program_.inputs[input];
    if (!IsShared(program_, id)) return;
    const BufferId base = BaseOf(program_, id);
    const Buffer& buffer = program_.buffers[base];
    const auto output = std::ranges::find_if(
        program_.outputs, [&](BufferId other) { return BaseOf(program_, other) == base; });
    AliasPort alias{.input = static_cast<int>(input),
                    .output = static_cast<int>(output - program_.outputs.begin())};
    for (const Expr& stride : RowMajorStrides(StorageShape(buffer.layout, buffer.shape))) {
      alias.strides.push_back(RangeOf(stride, bounds_).max);
    }
    alias.text = StrJoin(alias.strides, ", ");
    interface_.aliases.push_back(std::move(alias));
  }

  // Members that differ in their case alone would share one.
  std::string UniqueMacro(std::string_view role, std::string_view member) {
    const std::string plain = StrCat(interface_.macro, "_", role, "_", MacroCase(member));
    std::string macro = plain;
    for (int i = 2; !macros_.Reserve(macro); ++i) macro = StrCat(plain, "_", i);
    return StrCat(macro, "_BYTES");
  }

  struct Line {  // scale * var + offset
    int64_t scale, offset;
  };

  // Where the expression is affine in this symbol alone.
  std::optional<Line> LineIn(const Expr& e, const Symbol& symbol) const {
    const bool is_constant = symbol.min == symbol.max;  // which would take its place
    const auto affine = AsAffine(e, {symbol.var}, is_constant ? Bounds() : ranges_);
    if (!affine || !affine->coefficients.count(symbol.var)) return std::nullopt;
    const std::optional<int64_t> scale = affine->coefficients.at(symbol.var).AsInt();
    const std::optional<int64_t> offset = affine->rest.AsInt();
    if (!scale || *scale == 0 || !offset) return std::nullopt;
    return Line{*scale, *offset};
  }

  // Of the step that defines the symbol, if it still has one.
  void AddComputed(const Symbol& symbol) {
    const int step = known_.StepOf(symbol.var);
    if (step == kBeforeAnyStep || program_.steps[static_cast<size_t>(step)].args.empty()) return;
    const std::vector<Expr>& elements = program_.steps[static_cast<size_t>(step)].elements;
    for (size_t e = 0; e < elements.size(); ++e) {
      const std::optional<Line> line = LineIn(elements[e], symbol);
      if (!line || line->offset != 0 || line->scale < 0) continue;
      interface_.computed.push_back(
          {.symbol = symbol, .step = step, .element = e, .scale = line->scale});
      interface_.computed.back().check = AddRangeCheck(symbol, line->scale);
      return;
    }
  }

  // The first dim or element of an input that states the symbol.
  absl::Status Locate(const Symbol& symbol, NameTable& names) {
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const Shape& shape = program_.buffers[program_.inputs[i]].shape;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const std::optional<Line> line = LineIn(shape[axis], symbol);
        if (!line) continue;
        interface_.dims.push_back({.symbol = symbol,
                                   .member = names.Unique(symbol.name, "dim"),
                                   .input = static_cast<int>(i),
                                   .axis = static_cast<int>(axis),
                                   .scale = line->scale,
                                   .offset = line->offset});
        return absl::OkStatus();
      }
    }
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const std::vector<Expr>& elements = program_.buffers[program_.inputs[i]].elements;
      for (size_t e = 0; e < elements.size(); ++e) {
        const std::optional<Line> line = LineIn(elements[e], symbol);
        if (!line || line->offset != 0 || line->scale < 0) continue;
        interface_.elements.push_back(
            {.symbol = symbol, .input = static_cast<int>(i), .element = e, .scale = line->scale});
        ElementPort& port = interface_.elements.back();
        if (!symbol.clamps) port.check = AddRangeCheck(symbol, line->scale);
        return absl::OkStatus();
      }
    }
    return AOTC_REFUSAL(InvalidArgument, StrCat("no input has the symbol '", symbol.name,
                                                "' as a dim of its own; hint: pin it with --dim ",
                                                symbol.name, "=N"));
  }

  const Program& program_;
  const std::vector<Bundle>& bundles_;
  const SizeSteps known_;
  const Bounds bounds_;
  const Bounds ranges_;  // dims that have to be equal are each stated by an input of its own
  NameTable macros_;
  ModelInterface interface_;
};

}  // namespace

const ElementPort* ModelInterface::ElementAt(size_t input, size_t element) const {
  const auto found = std::ranges::find_if(elements, [&](const ElementPort& port) {
    return port.input == static_cast<int>(input) && port.element == element;
  });
  return found == elements.end() ? nullptr : &*found;
}

int ModelInterface::AgreementOf(size_t input, bool is_dim, size_t at) const {
  const auto found = std::ranges::find_if(agreements, [&](const AgreePort& port) {
    return port.input == static_cast<int>(input) && port.is_dim == is_dim && port.at == at;
  });
  return found == agreements.end() ? -1 : found->check;
}

const AliasPort* ModelInterface::AliasOfInput(size_t input) const {
  const auto found = std::ranges::find(aliases, static_cast<int>(input), &AliasPort::input);
  return found == aliases.end() ? nullptr : &*found;
}

const AliasPort* ModelInterface::AliasOfOutput(size_t output) const {
  const auto found = std::ranges::find(aliases, static_cast<int>(output), &AliasPort::output);
  return found == aliases.end() ? nullptr : &*found;
}

absl::StatusOr<ModelInterface> DescribeInterface(const Program& program,
                                                 const std::vector<Bundle>& bundles) {
  return Describer(program, bundles).Run();
}

std::string PrintUserDim(const Expr& dim, const std::vector<Symbol>& symbols) {
  for (const Symbol& symbol : symbols) {
    const Expr user = Simplify(Var(symbol.var) * symbol.step);
    if (Same(Simplify(dim), user)) return symbol.name;
  }
  Substitution names;
  for (const Symbol& symbol : symbols) {
    const Expr name = Var(symbol.name);
    names.emplace(symbol.var, symbol.step == 1 ? name : FloorDiv(name, symbol.step));
  }
  return PrintExpr(Substitute(dim, names));
}

}  // namespace aotc
