#include "compiler/fuse/drop_unread.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/fuse/merge_kernels.h"

namespace aotc {
namespace {

class UnreadDropper {
 public:
  UnreadDropper(const Places& places, std::vector<ValueView>& views, KernelSlots& kernels)
      : places_(places), views_(views), kernels_(kernels) {
    for (const ValueView& view : views) bases_.emplace(view.value, view.base);
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (!kernels[i]) continue;
      for (ValueId value : OutputsOf(*kernels[i])) maker_[value] = i;
    }
  }

  void Run(const std::vector<ValueId>& wanted) {
    for (ValueId value : wanted) Note(value);
    for (size_t i = kernels_.size(); i-- > 0;) {
      if (!kernels_[i]) continue;
      const bool needed = kernels_[i]->gives_sizes ||
                          std::ranges::any_of(OutputsOf(*kernels_[i]), [&](ValueId value) {
                            return maker_.at(value) == i && IsRead(value);
                          });
      if (needed) {
        for (ValueId arg : kernels_[i]->args) Note(arg);
      } else {
        kernels_[i].reset();
      }
    }
    std::erase_if(views_, [&](const ValueView& view) { return !read_.contains(view.value); });
    AddBoxes();
  }

 private:
  static std::vector<ValueId> OutputsOf(const FusedKernel& fused) {
    std::vector<ValueId> outputs;
    for (size_t i = 0; i < fused.args.size(); ++i) {
      if (IsOutput(fused.kernel, fused.kernel.params[i])) outputs.push_back(fused.args[i]);
    }
    return outputs;
  }

  void Note(ValueId value) {
    read_.insert(value);
    const auto base = bases_.find(value);
    const ValueId at = base == bases_.end() ? value : base->second;
    if (places_.IsPart(at) || places_.HasParts(at)) roots_.insert(places_.RootOf(at));
  }

  bool IsRead(ValueId value) const {
    return read_.contains(value) || roots_.contains(places_.RootOf(value)) ||
           std::ranges::any_of(views_, [&](const ValueView& view) {
             return view.base == value && read_.contains(view.value);
           });
  }

  void AddBoxes() {
    for (ValueView& view : views_) {
      if (!places_.IsPart(view.base)) continue;
      const ValueView box = places_.ViewOf(view.base);
      view.base = box.base;
      view.offset = Simplify(view.offset + box.offset);
    }
    for (const auto& [value, box] : places_.Views()) {
      if (read_.contains(value)) views_.push_back(box);
    }
  }

  const Places& places_;
  std::vector<ValueView>& views_;
  KernelSlots& kernels_;
  std::map<ValueId, ValueId> bases_;
  std::map<ValueId, size_t> maker_;  // the last one
  std::set<ValueId> read_, roots_;   // of what parts lie in, of which something is read
};

}  // namespace

void DropUnread(const std::vector<ValueId>& wanted, const Places& places,
                std::vector<ValueView>& views, KernelSlots& kernels) {
  UnreadDropper(places, views, kernels).Run(wanted);
}

}  // namespace aotc
