#include "compiler/fuse/memoized_veto.h"

#include <memory>
#include <set>
#include <utility>

#include "compiler/ir/kernel_text.h"

namespace aotc {

FusionVeto Memoized(FusionVeto veto) {
  const auto accepted = std::make_shared<std::set<std::string>>();
  return [veto = std::move(veto), accepted](const Kernel& producer, const Kernel& consumer,
                                            const Kernel& merged) {
    std::string text = PrintKernelWithoutNames(producer);
    text += PrintKernelWithoutNames(consumer);
    text += PrintKernelWithoutNames(merged);
    if (accepted->contains(text)) return std::string();
    std::string reason = veto(producer, consumer, merged);
    if (reason.empty()) accepted->insert(std::move(text));
    return reason;
  };
}

}  // namespace aotc
