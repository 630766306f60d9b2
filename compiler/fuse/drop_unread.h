// What no output needs goes: operands that only shapes were read from, copies whose readers read
// the source.
//
//   DropUnread(region.outputs, places, views, kernels);
#ifndef AOTC_COMPILER_FUSE_DROP_UNREAD_H_
#define AOTC_COMPILER_FUSE_DROP_UNREAD_H_

#include <vector>

#include "compiler/fuse/kernel_uses.h"
#include "compiler/fuse/places.h"

namespace aotc {

// Empties the slots of such kernels and erases such views. Parts that are read become views of what
// they lie in, as do views of them.
void DropUnread(const std::vector<ValueId>& wanted, const Places& places,
                std::vector<ValueView>& views, KernelSlots& kernels);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_DROP_UNREAD_H_
