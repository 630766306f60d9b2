// Parser of the text form of programs.
#include <map>
#include <utility>

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/ir/program_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Parser {
 public:
  explicit Parser(Scanner& scanner) : scanner_(scanner) {}

  absl::StatusOr<Program> Run() {
    AOTC_RETURN_IF_ERROR(ParseHeader());
    AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
    while (!scanner_.TryConsume("}")) AOTC_RETURN_IF_ERROR(ParseItem());
    AOTC_ASSIGN_OR_RETURN(program_.inputs, Find(inputs_));
    AOTC_ASSIGN_OR_RETURN(program_.outputs, Find(outputs_));
    return std::move(program_);
  }

 private:
  // --- Header -------------------------------------------------------------------------------

  absl::Status ParseHeader() {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("program"));
    AOTC_ASSIGN_OR_RETURN(program_.name, scanner_.ExpectName('@'));
    AOTC_ASSIGN_OR_RETURN(inputs_, ParseNames());
    AOTC_RETURN_IF_ERROR(scanner_.Expect("->"));
    AOTC_ASSIGN_OR_RETURN(outputs_, ParseNames());
    AOTC_RETURN_IF_ERROR(ParseCount("arena", program_.arena_bytes));
    AOTC_RETURN_IF_ERROR(ParseCount("align", program_.arena_align));
    AOTC_RETURN_IF_ERROR(ParseCount("bound", program_.lower_bound));
    program_.arena_is_least = scanner_.TryConsume("least");
    AOTC_RETURN_IF_ERROR(ParseCount("workers", program_.max_workers));
    int64_t weights = 0;
    const Token token = scanner_.Peek();
    AOTC_RETURN_IF_ERROR(ParseCount("weights", weights));
    constexpr int64_t kMostWeights = int64_t{1} << 36;
    if (weights > kMostWeights) return scanner_.ErrorAt(token, "impossible size of the weights");
    program_.weights.resize(static_cast<size_t>(weights));
    return absl::OkStatus();
  }

  // (%a, %b)
  absl::StatusOr<std::vector<Token>> ParseNames() {
    std::vector<Token> names;
    AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
    while (!scanner_.At(")")) {
      if (!names.empty()) AOTC_RETURN_IF_ERROR(scanner_.Expect(","));
      names.push_back(scanner_.Peek());
      AOTC_RETURN_IF_ERROR(scanner_.ExpectName('%').status());
    }
    AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
    return names;
  }

  // A word and a number that is not negative.
  absl::Status ParseCount(std::string_view word, int64_t& count) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect(word));
    const Token token = scanner_.Peek();
    AOTC_ASSIGN_OR_RETURN(count, scanner_.ExpectInteger());
    return count < 0 ? scanner_.ErrorAt(token, "expected no negative number") : absl::OkStatus();
  }

  absl::StatusOr<BufferId> Find(const Token& name) const {
    const auto found = buffers_.find(name.text);
    if (found != buffers_.end()) return found->second;
    return scanner_.ErrorAt(name, StrCat("unknown buffer %", name.text));
  }

  absl::StatusOr<std::vector<BufferId>> Find(const std::vector<Token>& names) const {
    std::vector<BufferId> ids;
    for (const Token& name : names) {
      AOTC_ASSIGN_OR_RETURN(const BufferId id, Find(name));
      ids.push_back(id);
    }
    return ids;
  }

  absl::Status ParseItem() {
    if (scanner_.At("symbol")) {
      AOTC_ASSIGN_OR_RETURN(Symbol symbol, ParseSymbol(scanner_));
      program_.symbols.push_back(std::move(symbol));
      return absl::OkStatus();
    }
    if (scanner_.TryConsume("pool")) return ParsePool();
    if (scanner_.At("kernel")) return ParseProgramKernel();
    if (scanner_.TryConsume("also")) return ParseAlso();
    if (scanner_.TryConsume("pack")) return ParsePack();
    if (scanner_.TryConsume("variant")) return ParseVariant();
    if (scanner_.TryConsume("step")) return ParseStep();
    for (BufferKind kind : {BufferKind::kInput, BufferKind::kOutput, BufferKind::kWeights,
                            BufferKind::kArena, BufferKind::kView, BufferKind::kHost}) {
      if (scanner_.TryConsume(BufferKindName(kind))) return ParseBuffer(kind);
    }
    return scanner_.Error("expected a pool, symbol, buffer, kernel, variant or step");
  }

  // --- Buffers ------------------------------------------------------------------------------

  // %fast limit 4096 offset 0 bytes 4032 bound 3968 least
  absl::Status ParsePool() {
    const Token token = scanner_.Peek();
    Pool pool;
    AOTC_ASSIGN_OR_RETURN(pool.name, scanner_.ExpectName('%'));
    if (scanner_.At("limit")) {
      AOTC_RETURN_IF_ERROR(ParseCount("limit", pool.limit.emplace()));
    }
    AOTC_RETURN_IF_ERROR(ParseCount("offset", pool.offset));
    AOTC_RETURN_IF_ERROR(ParseCount("bytes", pool.bytes));
    AOTC_RETURN_IF_ERROR(ParseCount("bound", pool.lower_bound));
    pool.is_least = scanner_.TryConsume("least");
    const auto [at, is_new] = pools_.emplace(pool.name, PoolId());
    if (!is_new) return scanner_.ErrorAt(token, StrCat("two pools %", pool.name));
    at->second = program_.pools.Add(std::move(pool));
    return absl::OkStatus();
  }

  absl::Status ParsePoolOf(Buffer& buffer) {
    const Token name = scanner_.Peek();
    AOTC_RETURN_IF_ERROR(scanner_.ExpectName('%').status());
    const auto found = pools_.find(name.text);
    if (found == pools_.end()) return scanner_.ErrorAt(name, StrCat("unknown pool %", name.text));
    buffer.pool = found->second;
    return absl::OkStatus();
  }

  // %name = %base + offset: f32[m, 4] bytes 64 offset 0 in %pool steps 0..3 of "value"
  // %k: i64[1] bytes 8 elements(k_0)
  absl::Status ParseBuffer(BufferKind kind) {
    const Token token = scanner_.Peek();
    Buffer buffer{.kind = kind};
    AOTC_ASSIGN_OR_RETURN(buffer.name, scanner_.ExpectName('%'));
    if (kind == BufferKind::kView) AOTC_RETURN_IF_ERROR(ParseBase(buffer));
    AOTC_RETURN_IF_ERROR(scanner_.Expect(":"));
    AOTC_ASSIGN_OR_RETURN(TensorText type, ExpectTensorText(scanner_));
    buffer.dtype = type.dtype;
    buffer.shape = std::move(type.shape);
    buffer.layout = std::move(type.layout);
    AOTC_RETURN_IF_ERROR(ParseCount("bytes", buffer.bytes));
    if (scanner_.At("offset")) AOTC_RETURN_IF_ERROR(ParseCount("offset", buffer.offset));
    if (scanner_.TryConsume("in")) AOTC_RETURN_IF_ERROR(ParsePoolOf(buffer));
    if (scanner_.TryConsume("steps")) AOTC_RETURN_IF_ERROR(ParseLifetime(buffer));
    buffer.value = buffer.name;
    if (scanner_.TryConsume("of")) {
      AOTC_ASSIGN_OR_RETURN(buffer.value, scanner_.ExpectString());
    }
    if (scanner_.TryConsume("elements")) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
      AOTC_ASSIGN_OR_RETURN(buffer.elements, ExpectDims(scanner_, ")"));
    }
    const std::string name = buffer.name;
    const auto [at, is_new] = buffers_.emplace(name, BufferId());
    if (!is_new) return scanner_.ErrorAt(token, StrCat("%", name, " is declared twice"));
    at->second = program_.buffers.Add(std::move(buffer));
    return absl::OkStatus();
  }

  absl::Status ParseBase(Buffer& buffer) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("="));
    const Token base = scanner_.Peek();
    AOTC_RETURN_IF_ERROR(scanner_.ExpectName('%').status());
    AOTC_ASSIGN_OR_RETURN(buffer.base, Find(base));
    AOTC_RETURN_IF_ERROR(scanner_.Expect("+"));
    AOTC_ASSIGN_OR_RETURN(buffer.element_offset, ExpectDim(scanner_));
    if (!scanner_.TryConsume("at")) return absl::OkStatus();
    AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
    AOTC_ASSIGN_OR_RETURN(buffer.start, ExpectDims(scanner_, "]"));
    return scanner_.TryConsume("step") ? ParseStep(buffer) : absl::OkStatus();
  }

  absl::Status ParseStep(Buffer& buffer) {
    AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
    do {
      AOTC_ASSIGN_OR_RETURN(const int step, ParseSmall());
      buffer.step.push_back(step);
    } while (scanner_.TryConsume(","));
    return scanner_.Expect("]");
  }

  absl::Status ParseLifetime(Buffer& buffer) {
    AOTC_ASSIGN_OR_RETURN(buffer.first_step, ParseSmall());
    AOTC_RETURN_IF_ERROR(scanner_.Expect(".."));
    AOTC_ASSIGN_OR_RETURN(buffer.last_step, ParseSmall());
    return absl::OkStatus();
  }

  // A number of a step or an argument.
  absl::StatusOr<int> ParseSmall() {
    const Token token = scanner_.Peek();
    AOTC_ASSIGN_OR_RETURN(const int64_t value, scanner_.ExpectInteger());
    if (value < 0 || value > INT32_MAX) return scanner_.ErrorAt(token, "number out of range");
    return static_cast<int>(value);
  }

  // --- Kernels ------------------------------------------------------------------------------

  absl::Status ParseProgramKernel() {
    const Token token = scanner_.Peek(1);
    ProgramKernel kernel;
    AOTC_ASSIGN_OR_RETURN(kernel.kernel, ParseKernel(scanner_));
    const auto [at, is_new] = kernels_.emplace(kernel.kernel.name, KernelId());
    if (!is_new) return scanner_.ErrorAt(token, StrCat("@", token.text, " is defined twice"));
    at->second = last_kernel_ = program_.kernels.Add(std::move(kernel));
    return absl::OkStatus();
  }

  absl::Status ParseAlso() {
    if (!last_kernel_.valid()) return scanner_.Error("the word 'also' before any kernel");
    AOTC_ASSIGN_OR_RETURN(std::string source, scanner_.ExpectString());
    program_.kernels[last_kernel_].also.push_back(std::move(source));
    return absl::OkStatus();
  }

  // pack %w: f32(0/32, 1, 0%32)
  absl::Status ParsePack() {
    if (!last_kernel_.valid()) return scanner_.Error("the word 'pack' before any kernel");
    ProgramKernel& kernel = program_.kernels[last_kernel_];
    const Token token = scanner_.Peek();
    AOTC_ASSIGN_OR_RETURN(const std::string name, scanner_.ExpectName('%'));
    const auto found = std::ranges::find(kernel.kernel.tensors, name, &KernelTensor::name);
    if (found == kernel.kernel.tensors.end()) {
      return scanner_.ErrorAt(token, StrCat("the kernel has no %", name));
    }
    PackedConstant packed;
    packed.tensor = TensorId(static_cast<int>(found - kernel.kernel.tensors.begin()));
    AOTC_RETURN_IF_ERROR(scanner_.Expect(":"));
    AOTC_ASSIGN_OR_RETURN(packed.dtype, ExpectDType(scanner_));
    if (scanner_.At("(")) {
      AOTC_ASSIGN_OR_RETURN(packed.layout, ParseLayout(scanner_));
    }
    kernel.packing.push_back(std::move(packed));
    return absl::OkStatus();
  }

  // variant loops if m == 1 feature "..." schedule "..." reason "..." loops @name ...
  absl::Status ParseVariant() {
    if (!last_kernel_.valid()) return scanner_.Error("a variant before any kernel");
    KernelVariant variant;
    AOTC_ASSIGN_OR_RETURN(variant.realisation, scanner_.ExpectIdentifier());
    if (scanner_.TryConsume("if")) {
      AOTC_ASSIGN_OR_RETURN(variant.guard, ParseExpr(scanner_));
    }
    for (const auto& [word, text] :
         {std::pair("feature", &variant.feature), std::pair("schedule", &variant.schedule),
          std::pair("reason", &variant.reason)}) {
      if (!scanner_.TryConsume(word)) continue;
      AOTC_ASSIGN_OR_RETURN(*text, scanner_.ExpectString());
    }
    AOTC_ASSIGN_OR_RETURN(variant.loops, ParseLoops(scanner_));
    program_.kernels[last_kernel_].variants.push_back(std::move(variant));
    return absl::OkStatus();
  }

  // --- Steps --------------------------------------------------------------------------------

  absl::Status ParseStep() {
    Step step;
    for (StepKind kind :
         {StepKind::kCopy, StepKind::kCheck, StepKind::kDecode, StepKind::kSizes,
          StepKind::kSetSizes, StepKind::kIf, StepKind::kElse, StepKind::kLoop, StepKind::kEnd}) {
      if (step.kind == StepKind::kLaunch && scanner_.TryConsume(StepKindName(kind))) {
        step.kind = kind;
      }
    }
    if (step.kind == StepKind::kLaunch) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("launch"));
      AOTC_ASSIGN_OR_RETURN(step.kernel, ParseKernelName());
    }
    AOTC_ASSIGN_OR_RETURN(const std::vector<Token> args, ParseNames());
    AOTC_ASSIGN_OR_RETURN(step.args, Find(args));
    AOTC_RETURN_IF_ERROR(ParseStepDetails(step));
    program_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::StatusOr<KernelId> ParseKernelName() {
    const Token name = scanner_.Peek();
    AOTC_RETURN_IF_ERROR(scanner_.ExpectName('@').status());
    const auto found = kernels_.find(name.text);
    if (found != kernels_.end()) return found->second;
    return scanner_.ErrorAt(name, StrCat("unknown kernel @", name.text));
  }

  // in_place 2 <- 0 scratch %space counter round to m no_barrier of "fc (Gemm)", "relu (Relu)"
  absl::Status ParseStepDetails(Step& step) {
    while (scanner_.TryConsume("in_place")) {
      AOTC_ASSIGN_OR_RETURN(const int output, ParseSmall());
      AOTC_RETURN_IF_ERROR(scanner_.Expect("<"));
      AOTC_RETURN_IF_ERROR(scanner_.Expect("-"));
      AOTC_ASSIGN_OR_RETURN(const int input, ParseSmall());
      step.in_place.emplace_back(output, input);
    }
    if (scanner_.TryConsume("scratch")) {
      const Token name = scanner_.Peek();
      AOTC_RETURN_IF_ERROR(scanner_.ExpectName('%').status());
      AOTC_ASSIGN_OR_RETURN(step.scratch, Find(name));
    }
    if (scanner_.TryConsume("elements")) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
      AOTC_ASSIGN_OR_RETURN(step.elements, ExpectDims(scanner_, ")"));
    }
    if (scanner_.TryConsume("values")) {
      AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
      AOTC_ASSIGN_OR_RETURN(step.values, ExpectDims(scanner_, ")"));
    }
    if (scanner_.TryConsume("counter")) {
      AOTC_ASSIGN_OR_RETURN(step.counter, scanner_.ExpectIdentifier());
    }
    if (scanner_.TryConsume("rounds")) {
      AOTC_ASSIGN_OR_RETURN(step.rounds, scanner_.ExpectIdentifier());
    }
    if (scanner_.TryConsume("to")) {
      AOTC_ASSIGN_OR_RETURN(step.trip, ExpectDim(scanner_));
    }
    if (scanner_.TryConsume("as")) {
      AOTC_ASSIGN_OR_RETURN(step.pixel_format, scanner_.ExpectString());
    }
    step.barrier = !scanner_.TryConsume("no_barrier");
    if (!scanner_.TryConsume("of")) return absl::OkStatus();
    do {
      AOTC_ASSIGN_OR_RETURN(std::string source, scanner_.ExpectString());
      step.sources.push_back(std::move(source));
    } while (scanner_.TryConsume(","));
    return absl::OkStatus();
  }

  Scanner& scanner_;
  Program program_;
  std::vector<Token> inputs_, outputs_;
  std::map<std::string, PoolId> pools_;
  std::map<std::string, BufferId> buffers_;
  std::map<std::string, KernelId> kernels_;
  KernelId last_kernel_ = {};
};

}  // namespace

absl::StatusOr<Program> ParseProgram(Scanner& scanner) { return Parser(scanner).Run(); }

absl::StatusOr<Program> ParseProgram(std::string_view text) {
  Scanner scanner(text);
  AOTC_ASSIGN_OR_RETURN(Program program, ParseProgram(scanner));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return program;
}

}  // namespace aotc
