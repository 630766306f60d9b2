// What a schedule should cost on a GPU, in seconds: products and bytes against the limits, blocks
// dealt to multiprocessors in rounds. Not fitted to measurements yet.
#include <algorithm>
#include <cmath>

#include "compiler/ir/program_access.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

double MostOf(const Expr& extent, const Bounds& bounds) {
  constexpr int64_t kUnknown = 64;
  const int64_t most = RangeOf(extent, bounds).max;
  return static_cast<double>(most == INT64_MAX ? kUnknown : std::max<int64_t>(most, 0));
}

double CountOf(const std::vector<Axis>& axes, const Bounds& bounds) {
  double count = 1;
  for (const Axis& axis : axes) count *= MostOf(axis.extent, bounds);
  return count;
}

// The share of the peak that a thread with such a tile reaches: of its products and its loads from
// shared memory.
double ShareOf(int64_t rows, int64_t columns) {
  constexpr double kOfLoad = 2;
  const auto products = static_cast<double>(rows * columns);
  return products / (products + kOfLoad * static_cast<double>(rows + columns));
}

// Of one schedule of a kernel.
class CudaCosts {
 public:
  CudaCosts(const Kernel& kernel, const Schedule& schedule, const CudaLimits& limits)
      : kernel_(kernel),
        schedule_(schedule),
        limits_(limits),
        bounds_(BoundsOf(kernel.symbols)),
        per_clock_(static_cast<double>(limits.sms) * limits.clock_hz) {
    for (const TensorId id : kernel.params) bytes_ += BytesOf(id) / RateOf(BytesOf(id));
  }

  double Seconds() const {
    const std::string& by = HeartOf(schedule_).by;
    if (by == "updates") return OfMoves() + OfUpdates();
    return OfMoves() - bytes_ + (IsPlainLoops(by) ? OfLoops() : OfTiles());
  }

  double OfMoves() const { return limits_.launch_seconds + kStart + bytes_; }

 private:
  static constexpr double kStart = 1e-6;  // from the first block's begin to the last one's end

  double BytesOf(TensorId id) const {
    const KernelTensor& tensor = kernel_.tensors[id];
    double bytes = BitWidth(tensor.dtype) / 8.0;
    for (const Expr& extent : tensor.shape) bytes *= MostOf(extent, bounds_);
    return bytes;
  }

  // Bytes per second of what comes again and again, or has just been written.
  double RateOf(double bytes) const {
    constexpr double kOfCache = 0.5;
    const bool stays = bytes <= kOfCache * static_cast<double>(limits_.l2_bytes);
    return stays ? limits_.l2_bandwidth : limits_.memory_bandwidth;
  }

  // Of the axes of a cut, which are those of the result.
  double ExtentOf(const Cut& cut) const {
    const Stage* stage = DefiningStage(kernel_, MainOutput(kernel_));
    double extent = 1;
    for (const std::string& name : cut.axes) {
      const auto axis = std::ranges::find(stage->axes, name, &Axis::name);
      if (axis != stage->axes.end()) extent *= MostOf(axis->extent, bounds_);
    }
    return extent;
  }

  double Blocks() const {
    double blocks = 1;
    for (const Cut& cut : schedule_.tasks)
      blocks *= std::ceil(ExtentOf(cut) / static_cast<double>(cut.block));
    return std::max(blocks, 1.0);
  }

  // How much longer all takes than if no multiprocessor were idle.
  double Idle() const {
    const double blocks = Blocks(), sms = static_cast<double>(limits_.sms);
    return std::ceil(blocks / sms) * sms / blocks;
  }

  // Multiply-adds per second of the whole GPU.
  double RateOfTile() const {
    constexpr double kOfOthers = 0.4, kOfBytes = 2;
    const SchedulePart& heart = HeartOf(schedule_);
    const std::vector<int64_t>& p = heart.params;
    const double plain = per_clock_ * limits_.f32_fma_per_clock;
    if (heart.by == "matmul_tile") return plain * ShareOf(p[3], p[4]);
    if (heart.by == "mma_tile" || heart.by == "mma_tile_int8") {
      const double of_f16 = limits_.f16_mma_fma_per_clock * ShareOf(p[3] / 4, p[4] / 4);
      return per_clock_ * of_f16 * (heart.by == "mma_tile" ? 1 : kOfBytes);
    }
    return plain * kOfOthers;
  }

  double OfTiles() const {
    const double products = KernelFlops(kernel_) / 2 * RowsComputed();
    return std::max(products / RateOfTile() * Idle(), bytes_);
  }

  // Rows of the blocks of attention for each that there is: few leave most of a block empty.
  double RowsComputed() const {
    if (HeartOf(schedule_).by != "attention_tile") return 1;
    double computed = 1;
    for (const Cut& cut : schedule_.tasks) {
      const double extent = ExtentOf(cut), block = static_cast<double>(cut.block);
      if (extent > 0) computed *= std::ceil(extent / block) * block / extent;
    }
    return computed;
  }

  // Each thread looks at the updates one after another, which it has asked for ahead.
  double OfUpdates() const {
    constexpr double kStep = 10, kIssue = 4;  // cycles of a thread; instructions
    const Stage& stage = kernel_.stages[0];
    const std::vector<int64_t>& p = HeartOf(schedule_).params;
    const double updates = CountOf(stage.reduce_axes, bounds_);
    const double elements = CountOf(stage.axes, bounds_);
    const double owners = std::min(elements, static_cast<double>(p[0] * p[1]));
    const double issued = owners * updates * kIssue / (per_clock_ * limits_.f32_fma_per_clock);
    return std::max(issued, (updates + elements / owners) * kStep / limits_.clock_hz);
  }

  // A thread, or a group of threads, to a row; a thread to a point.
  double OfLoops() const {
    const absl::StatusOr<Nest> nest = BuildNest(kernel_);
    if (!nest.ok()) return bytes_;
    constexpr double kOfPeak = 0.12;  // of the multiply-adds: each by itself, with its loads
    const double operations =
        KernelFlops(kernel_) / 2 / (per_clock_ * limits_.f32_fma_per_clock * kOfPeak);
    double again = 0, steps = 0;
    for (const FlatStage& stage : nest->stages) {
      again += Again(*nest, stage);
      steps += CountOf(stage.inner, nest->bounds) * CountOf(stage.reduce, nest->bounds);
    }
    return std::max({operations * Idle(), bytes_ + again * Idle(), Latency(*nest, steps)});
  }

  bool IsGrouped() const { return HeartOf(schedule_).by == "row_groups"; }

  // Seconds for what a stage reads beyond a first time, and for temps of a thread, which lie in its
  // local memory. What a row reads stays in a multiprocessor's own cache if it fits.
  double Again(const Nest& nest, const FlatStage& stage) const {
    constexpr double kSector = 32, kOfL1 = 96 * 1024, kBytesOfClock = 128;
    double points = 1;
    for (const NestAxis& axis : nest.outer) points *= MostOf(axis.extent, nest.bounds);
    const double row = CountOf(stage.inner, nest.bounds) * CountOf(stage.reduce, nest.bounds);
    double seconds = 0;
    for (const Expr& body : stage.bodies) {
      for (const Expr& load : LoadsOf(body)) {
        const LoopBuffer& buffer = nest.buffers[load->tensor];
        const double width = BitWidth(buffer.dtype) / 8.0;
        const bool is_local = buffer.place != BufferPlace::kParam;
        if (is_local && IsGrouped()) continue;  // shared memory
        const bool is_apart = !is_local && !IsGrouped() && !LiesTogether(nest, load);
        const double once = is_local ? 0 : BytesOf(load->tensor);
        const double all = points * row * (is_apart ? kSector : width);
        const double own = row * width * (IsGrouped() ? 1 : kSector);
        const double rate =
            own <= kOfL1 && !is_apart ? per_clock_ * kBytesOfClock : limits_.l2_bandwidth;
        seconds += std::max(all - once, 0.0) / rate;
      }
    }
    return seconds;
  }

  // Whether neighbouring threads read neighbours, or the same element.
  static bool LiesTogether(const Nest& nest, const Expr& load) {
    if (nest.outer.empty()) return true;
    const std::string& inner = nest.outer.back().name;
    const auto affine = AsAffine(load.arg(0), {inner}, nest.bounds);
    if (!affine) return !UsesVar(load.arg(0), inner);
    const auto found = affine->coefficients.find(inner);
    constexpr int64_t kNear = 4;
    return found == affine->coefficients.end() || found->second.AsInt().value_or(kNear) < kNear;
  }

  // Of the steps that a thread takes one after another.
  double Latency(const Nest& nest, double steps) const {
    constexpr double kStep = 40, kStage = 600;  // cycles of a load in turn; of meeting all threads
    const std::vector<int64_t>& p = HeartOf(schedule_).params;
    const double threads = IsGrouped() ? static_cast<double>(p[0]) : 1;
    const double rounds = std::ceil(Blocks() * static_cast<double>(p.back()) /
                                    static_cast<double>(limits_.sms * limits_.threads_per_sm));
    const double stages = IsGrouped() ? static_cast<double>(nest.stages.size()) * kStage : 0;
    return rounds * (std::ceil(steps / threads) * kStep + stages) / limits_.clock_hz;
  }

  const Kernel& kernel_;
  const Schedule& schedule_;
  const CudaLimits& limits_;
  const Bounds bounds_;
  const double per_clock_;  // multiprocessors by clocks of a second
  double bytes_ = 0;        // seconds for all operands once
};

}  // namespace

double CudaCost(const Kernel& kernel, const Schedule& schedule, const CudaLimits& limits) {
  return CudaCosts(kernel, schedule, limits).Seconds();
}

double CudaMoveCost(const Kernel& kernel, const CudaLimits& limits) {
  return CudaCosts(kernel, {}, limits).OfMoves();
}

}  // namespace aotc
