// VerifyProgram: what every later phase takes for granted about a Program.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ir/access.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/support/names.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <class... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InternalError(absl::StrCat("program: ", parts...));
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), bounds_(BoundsOf(program)) {}

  absl::Status Run() {
    AOTC_RETURN_IF_ERROR(CheckBuffers());
    AOTC_RETURN_IF_ERROR(CheckInterface());
    for (BufferId id : program_.inputs) {
      if (IsShared(program_, id)) shared_.insert(BaseOf(program_, id));
    }
    for (const ProgramKernel& kernel : program_.kernels) {
      AOTC_RETURN_IF_ERROR(CheckVariants(kernel));
    }
    AOTC_RETURN_IF_ERROR(CheckArgumentsExist());
    AOTC_RETURN_IF_ERROR(CheckControl(program_));
    AOTC_RETURN_IF_ERROR(CheckSizes(program_));
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      AOTC_RETURN_IF_ERROR(CheckStep(i, program_.steps[i]));
    }
    return CheckOutputsWritten();
  }

 private:
  absl::Status CheckBuffers() {
    std::set<std::string> names;
    for (const Buffer& buffer : program_.buffers) {
      if (!IsIdentifier(buffer.name)) return Wrong("'", buffer.name, "' is no identifier");
      if (!names.insert(buffer.name).second) return Wrong("two buffers '", buffer.name, "'");
      if (buffer.bytes < 0) return Wrong("%", buffer.name, " has ", buffer.bytes, " bytes");
      AOTC_RETURN_IF_ERROR(CheckSize(buffer));
      const bool in_pool =
          buffer.kind == BufferKind::kArena && program_.pools.Contains(buffer.pool);
      if (buffer.pool.valid() && !in_pool) return Wrong("%", buffer.name, " lies in no such pool");
      const bool outside = buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kOutput;
      if (outside && !buffer.layout.IsPlain()) return Wrong("%", buffer.name, " is not row-major");
      if (buffer.kind == BufferKind::kView) AOTC_RETURN_IF_ERROR(CheckView(buffer));
      if (buffer.kind == BufferKind::kWeights) AOTC_RETURN_IF_ERROR(CheckWeights(buffer));
    }
    return absl::OkStatus();
  }

  absl::Status CheckSize(const Buffer& buffer) {
    const Expr elements = StorageElements(buffer.layout, buffer.shape);
    const int64_t needed = MaxBytes(elements, buffer.dtype, bounds_);
    if (needed < 0) return Wrong("%", buffer.name, " has no bound on its size");
    if (needed > buffer.bytes) {
      return Wrong("%", buffer.name, " needs ", needed, " bytes and has ", buffer.bytes);
    }
    return absl::OkStatus();
  }

  absl::Status CheckView(const Buffer& view) {
    if (!program_.buffers.Contains(view.base)) return Wrong("view %", view.name, " has no base");
    const Buffer& base = program_.buffers[view.base];
    if (base.kind == BufferKind::kView) return Wrong("base of %", view.name, " is a view");
    if (!view.element_offset.valid()) return Wrong("view %", view.name, " has no offset");
    if (IsSubByte(view.dtype) && !view.element_offset.IsInt(0)) {
      return Wrong("view %", view.name, " may start within a byte");
    }
    if (!view.start.empty()) AOTC_RETURN_IF_ERROR(CheckBox(view, base));
    return CheckWithin(view, ReachedElements(program_, view));
  }

  // A box has the storage axes of its base, lies within their extents, and its first element is
  // where the box begins.
  absl::Status CheckBox(const Buffer& box, const Buffer& base) {
    const Shape extents = StorageShape(box.layout, box.shape);
    const Shape outer = StorageShape(base.layout, base.shape);
    const bool has_steps = box.step.empty() || box.step.size() == outer.size();
    if (extents.size() != outer.size() || box.start.size() != outer.size() || !has_steps) {
      return Wrong("box %", box.name, " has other axes than %", base.name);
    }
    if (std::ranges::any_of(box.step, [](int64_t step) { return step < 1; }))
      return Wrong("box %", box.name, " steps backwards");
    for (size_t i = 0; i < outer.size(); ++i) {
      const bool within = Prove(Le(0, box.start[i]), bounds_) == true &&
                          Prove(Le(EndAlong(box, i), outer[i]), bounds_) == true;
      if (!within) return Wrong("box %", box.name, " may leave %", base.name);
    }
    const Expr offset = LinearIndex(box.start, RowMajorStrides(outer));
    if (ProveEqual(offset, box.element_offset, bounds_)) return absl::OkStatus();
    return Wrong("box %", box.name, " begins elsewhere than its offset says");
  }

  // `reached` elements from the first of `buffer` lie within the memory that it uses, for all
  // values of the symbols.
  absl::Status CheckWithin(const Buffer& buffer, const Expr& reached) {
    const bool is_view = buffer.kind == BufferKind::kView;
    const Buffer& base = is_view ? program_.buffers[buffer.base] : buffer;
    const Expr offset = ElementOffset(buffer);
    if (RangeOf(Simplify(offset, bounds_), bounds_).min < 0) {
      return Wrong("%", buffer.name, " starts before its base");
    }
    const int64_t end = MaxBytes(offset + reached, buffer.dtype, bounds_);
    if (end < 0 || end > base.bytes) {
      return Wrong("%", buffer.name, " ends at byte ", end, " of %", base.name, ", which has ",
                   base.bytes);
    }
    if (ByteWidth(buffer.dtype) != ByteWidth(base.dtype)) {
      return Wrong("%", buffer.name, " and its base have elements of different sizes");
    }
    return absl::OkStatus();
  }

  absl::Status CheckWeights(const Buffer& buffer) {
    const int64_t size = static_cast<int64_t>(program_.weights.size());
    if (buffer.offset < 0 || buffer.bytes > size - buffer.offset) {
      return Wrong("weights %", buffer.name, " lie outside the blob");
    }
    return absl::OkStatus();
  }

  absl::Status CheckInterface() {
    for (const auto& [list, kind] : {std::pair(&program_.inputs, BufferKind::kInput),
                                     std::pair(&program_.outputs, BufferKind::kOutput)}) {
      for (BufferId id : *list) {
        if (!program_.buffers.Contains(id)) return Wrong("an input or output does not exist");
        if (program_.buffers[id].kind != kind && !IsShared(program_, id)) {
          return Wrong("%", program_.buffers[id].name, " is listed as what it is not");
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckVariants(const ProgramKernel& kernel) {
    const std::string& name = kernel.kernel.name;
    if (!IsIdentifier(name)) return Wrong("kernel '", name, "' is no identifier");
    if (kernel.variants.empty()) return Wrong("kernel @", name, " has no variant");
    const KernelVariant& last = kernel.variants.back();
    if (!last.guard.IsInt(1)) {
      return Wrong("the last variant of @", name, " does not apply to all sizes");
    }
    for (const KernelVariant& variant : kernel.variants) {
      if (variant.loops.params != kernel.kernel.params) {
        return Wrong("a variant of @", name, " has other parameters than the kernel");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckArgumentsExist() {
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (BufferId id : program_.steps[i].args) {
        if (!program_.buffers.Contains(id)) return Wrong("step ", i, ": no such buffer");
      }
    }
    return absl::OkStatus();
  }

  // What is written where a construct opens, and at the end of its first branch; of a loop, what
  // its rounds fill piece by piece: as far as it is read.
  struct Open {
    std::set<BufferId> before = {};
    std::optional<std::set<BufferId>> branch = {};
    std::string counter = {};
    std::set<BufferId> filled = {};
  };

  // Behind a branch is written what both ways write; a loop may do nothing.
  void FollowControl(const Step& step) {
    if (OpensBlock(step)) {
      open_.push_back({.before = written_});
      open_.back().counter = step.counter;
    } else if (step.kind == StepKind::kElse) {
      open_.back().branch = std::exchange(written_, open_.back().before);
    } else if (step.kind == StepKind::kEnd) {
      const Open& open = open_.back();
      const std::set<BufferId>& other = open.branch ? *open.branch : open.before;
      std::erase_if(written_, [&](BufferId id) { return !other.contains(id); });
      written_.insert(open.filled.begin(), open.filled.end());
      open_.pop_back();
    }
  }

  absl::Status CheckStep(size_t index, const Step& step) {
    if (IsControl(step)) {
      for (BufferId id : step.args) AOTC_RETURN_IF_ERROR(CheckRead(index, id));
      FollowControl(step);
      return absl::OkStatus();
    }
    AOTC_RETURN_IF_ERROR(CheckArguments(index, step));
    const std::vector<BufferAccess> accesses = StepAccesses(program_, step);
    for (const BufferAccess& access : accesses) {
      if (!access.written) AOTC_RETURN_IF_ERROR(CheckRead(index, access.buffer));
    }
    for (const BufferAccess& access : accesses) {
      if (access.written) AOTC_RETURN_IF_ERROR(CheckWrite(index, access.buffer));
    }
    AOTC_RETURN_IF_ERROR(CheckSharing(index, step, accesses));
    return CheckInPlace(index, step, accesses);
  }

  // A step that reads an input and writes its memory does so element by element.
  absl::Status CheckSharing(size_t index, const Step& step,
                            const std::vector<BufferAccess>& accesses) const {
    for (size_t i = 0; i < accesses.size(); ++i) {
      const BufferId input = accesses[i].buffer;
      if (accesses[i].written || step.kind != StepKind::kLaunch) continue;
      for (size_t j = 0; j < accesses.size(); ++j) {
        const BufferId output = accesses[j].buffer;
        const bool meet = accesses[j].written &&
                          BaseOf(program_, input) == BaseOf(program_, output) &&
                          !AreApartInStep(program_, input, output);
        const std::pair<int, int> pair(static_cast<int>(j), static_cast<int>(i));
        if (!meet || std::ranges::count(step.in_place, pair) > 0) continue;
        return Wrong("step ", index, " destroys %", program_.buffers[input].name,
                     " while it reads it");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckArguments(size_t index, const Step& step) {
    switch (step.kind) {
      case StepKind::kLaunch: return CheckLaunch(index, step);
      case StepKind::kCopy: return CheckCopy(index, step);
      case StepKind::kDecode: return CheckDecode(program_, index);
      case StepKind::kSizes:
      case StepKind::kSetSizes: return absl::OkStatus();  // CheckSizes
      default: break;
    }
    const bool is_flag = step.args.size() == 1 &&
                         program_.buffers[step.args[0]].dtype == DType::kBool &&
                         program_.buffers[step.args[0]].shape.empty();
    return is_flag ? absl::OkStatus() : Wrong("step ", index, ": a check has one bool");
  }

  absl::Status CheckCopy(size_t index, const Step& step) {
    if (step.args.size() != 2) return Wrong("step ", index, ": a copy has two arguments");
    const Buffer& from = program_.buffers[step.args[0]];
    const Buffer& to = program_.buffers[step.args[1]];
    const bool plain = from.layout.IsPlain() && to.layout.IsPlain();
    const bool same_elements = plain
                                   ? SameShape({ElementCount(from.shape)}, {ElementCount(to.shape)})
                                   : SameShape(from.shape, to.shape) && from.layout == to.layout;
    if (!from.start.empty() || !to.start.empty()) {
      return Wrong("step ", index, ": copy of a box, whose elements may lie apart");
    }
    if (from.dtype != to.dtype || !same_elements) {
      return Wrong("step ", index, ": copy of %", from.name, " to %", to.name,
                   ", which is of another type");
    }
    return absl::OkStatus();
  }

  absl::Status CheckLaunch(size_t index, const Step& step) {
    if (!program_.kernels.Contains(step.kernel)) return Wrong("step ", index, ": no kernel");
    const Kernel& kernel = program_.kernels[step.kernel].kernel;
    const Packing& packing = program_.kernels[step.kernel].packing;
    if (kernel.params.size() != step.args.size()) {
      return Wrong("step ", index, ": ", step.args.size(), " arguments for the ",
                   kernel.params.size(), " of @", kernel.name);
    }
    for (size_t i = 0; i < step.args.size(); ++i) {
      const Buffer& buffer = program_.buffers[step.args[i]];
      const KernelTensor tensor = StoredTensor(kernel, packing, kernel.params[i]);
      if (buffer.kind == BufferKind::kHost) {
        return Wrong("step ", index, ": @", kernel.name, " cannot reach %", buffer.name,
                     ", which is the host's");
      }
      // Elements that share bytes are written as bytes.
      const bool in_bytes = IsSubByte(buffer.dtype) && tensor.dtype == DType::kU8 &&
                            tensor.role == TensorRole::kOutput;
      if (buffer.dtype != tensor.dtype && !in_bytes) {
        return Wrong("step ", index, ": %", buffer.name, " is not of the type of parameter %",
                     tensor.name, " of @", kernel.name);
      }
      if (!HasStridesOf(tensor, buffer)) {
        return Wrong("step ", index, ": %", buffer.name, " has other strides than parameter %",
                     tensor.name, " of @", kernel.name);
      }
      const Expr reached = ReachedElements(tensor);
      const Expr elements = in_bytes ? reached * (8 / BitWidth(buffer.dtype)) : reached;
      AOTC_RETURN_IF_ERROR(CheckWithin(buffer, elements));
    }
    return absl::OkStatus();
  }

  // Along every axis of more than one element the kernel steps as the buffer lies: a box as its
  // base, anything else densely.
  bool HasStridesOf(const KernelTensor& tensor, const Buffer& buffer) const {
    if (buffer.start.empty()) return tensor.strides.empty();
    const Shape extents = StorageShape(tensor.layout, tensor.shape);
    const std::vector<Expr> strides = StorageStrides(tensor);
    const std::vector<Expr> steps = BoxStrides(program_, buffer);
    if (strides.size() != steps.size()) return false;
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool moves = !extents[i].IsInt(1);
      if (moves && !ProveEqual(strides[i], steps[i], bounds_)) return false;
    }
    return true;
  }

  absl::Status CheckRead(size_t index, BufferId id) {
    const Buffer& base = program_.buffers[BaseOf(program_, id)];
    const bool given = base.kind == BufferKind::kInput || base.kind == BufferKind::kWeights ||
                       base.bytes == 0 || shared_.contains(BaseOf(program_, id));
    if (std::ranges::count(program_.inputs, id) > 0) AOTC_RETURN_IF_ERROR(CheckIsThere(index, id));
    if (!given && !written_.count(BaseOf(program_, id))) {
      return Wrong("step ", index, " reads %", program_.buffers[id].name, " before any writes it");
    }
    return absl::OkStatus();
  }

  // An input in the memory of an output, whose elements nobody has destroyed.
  absl::Status CheckIsThere(size_t index, BufferId input) const {
    for (BufferId id : overwritten_) {
      if (BaseOf(program_, id) != BaseOf(program_, input) || AreApart(program_, id, input))
        continue;
      return Wrong("step ", index, " reads %", program_.buffers[input].name, " behind a write of %",
                   program_.buffers[id].name);
    }
    return absl::OkStatus();
  }

  absl::Status CheckWrite(size_t index, BufferId id) {
    const Buffer& base = program_.buffers[BaseOf(program_, id)];
    if (base.kind == BufferKind::kInput || base.kind == BufferKind::kWeights) {
      return Wrong("step ", index, " writes %", base.name, ", which is constant");
    }
    written_.insert(BaseOf(program_, id));
    overwritten_.insert(id);
    const Expr offset = ElementOffset(program_.buffers[id]);
    for (Open& open : open_) {
      if (!open.counter.empty() && UsesVar(offset, open.counter)) {
        open.filled.insert(BaseOf(program_, id));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckInPlace(size_t index, const Step& step,
                            const std::vector<BufferAccess>& accesses) {
    const int count = static_cast<int>(step.args.size());
    for (const auto& [output, input] : step.in_place) {
      const bool in_range = output >= 0 && output < count && input >= 0 && input < count;
      if (!in_range || !accesses[output].written || accesses[input].written) {
        return Wrong("step ", index, ": in_place ", output, " <- ", input, " names no such pair");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckOutputsWritten() {
    for (BufferId id : program_.outputs) {
      const BufferId base = BaseOf(program_, id);
      const bool is_known = written_.contains(base) || shared_.contains(base);
      if (!is_known && program_.buffers[id].bytes > 0) {
        return Wrong("output %", program_.buffers[id].name, " is never written");
      }
    }
    return absl::OkStatus();
  }

  const Program& program_;
  const Bounds bounds_;
  std::set<BufferId> written_;
  std::set<BufferId> shared_;       // outputs in which inputs lie
  std::set<BufferId> overwritten_;  // whatever some way through the program writes
  std::vector<Open> open_;
};

}  // namespace

absl::Status VerifyProgram(const Program& program) { return Verifier(program).Run(); }

}  // namespace aotc
