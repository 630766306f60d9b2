#include "compiler/ir/kernel_text.h"
namespace aotc { std::string PrintStages(const Kernel&) { return "stages"; } std::string PrintKernel(const Kernel&) { return "k"; } }
