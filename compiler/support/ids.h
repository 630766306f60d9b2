// Strong ids: 32-bit indices that cannot be mixed up, and vectors indexed by them.
//
//   using ValueId = Id<struct ValueTag>;
//   IdVector<ValueId, Value> values;
//   ValueId id = values.Add(Value{...});
//   values[id].name = "x";
#ifndef AOTC_COMPILER_SUPPORT_IDS_H_
#define AOTC_COMPILER_SUPPORT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace aotc {

// An index into the IdVector that owns the thing; a default-constructed id names nothing.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(int32_t index) : index_(index) {}

  constexpr int32_t index() const { return index_; }
  constexpr bool valid() const { return index_ >= 0; }

  friend constexpr auto operator<=>(const Id&, const Id&) = default;

  template <class H>
  friend H AbslHashValue(H state, const Id& id) {
    return H::combine(std::move(state), id.index_);
  }

 private:
  int32_t index_ = -1;
};

// A vector that is indexed by its own kind of id.
template <class IdType, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size, const T& value = T()) : items_(size, value) {}

  IdType Add(T item) {
    items_.push_back(std::move(item));
    return IdType(static_cast<int32_t>(items_.size()) - 1);
  }

  T& operator[](IdType id) { return items_[static_cast<size_t>(id.index())]; }
  const T& operator[](IdType id) const { return items_[static_cast<size_t>(id.index())]; }

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  bool Contains(IdType id) const {
    return id.valid() && static_cast<size_t>(id.index()) < items_.size();
  }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  // All ids in order.
  std::vector<IdType> ids() const {
    std::vector<IdType> result;
    result.reserve(items_.size());
    for (size_t i = 0; i < items_.size(); ++i) result.push_back(IdType(static_cast<int32_t>(i)));
    return result;
  }

 private:
  std::vector<T> items_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_IDS_H_
