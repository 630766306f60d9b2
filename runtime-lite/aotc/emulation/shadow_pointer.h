// What stands for pointers to shared memory, and for its elements, in the checking mode. Included
// by shadow.h.
#ifndef AOTC_EMULATION_SHADOW_POINTER_H_
#define AOTC_EMULATION_SHADOW_POINTER_H_

namespace {

template <typename T>
struct aotc_emulation_plain {
  typedef T type;
};
template <typename T>
struct aotc_emulation_plain<const T> {
  typedef T type;
};

template <typename T>
struct aotc_emulation_shared_element;

// Points to an element of `region`, or to outside of it: only accesses are checked.
template <typename T>
struct aotc_emulation_shared_pointer {
  const aotc_emulation_region *region;
  int64_t offset;  // in bytes

  typedef aotc_emulation_shared_element<T> element;
  element operator[](int64_t index) const { return *(*this + index); }
  element operator*() const { return element{*this}; }
  aotc_emulation_shared_pointer operator+(int64_t count) const {
    return {region, offset + count * static_cast<int64_t>(sizeof(T))};
  }
  aotc_emulation_shared_pointer operator-(int64_t count) const { return *this + -count; }
  aotc_emulation_shared_pointer &operator+=(int64_t count) { return *this = *this + count; }
  aotc_emulation_shared_pointer &operator-=(int64_t count) { return *this = *this - count; }
  aotc_emulation_shared_pointer &operator++() { return *this += 1; }
  operator aotc_emulation_shared_pointer<const T>() const { return {region, offset}; }
};

// An element that is read by conversion and written by assignment.
template <typename T>
struct aotc_emulation_shared_element {
  typedef typename aotc_emulation_plain<T>::type value;
  aotc_emulation_shared_pointer<T> at;

  operator value() const { return read(); }
  value read() const {
    value result;
    __builtin_memcpy(&result,
                     aotc_emulation_touch(at.region, at.offset, sizeof(T), AOTC_EMULATION_READ),
                     sizeof result);
    return result;
  }
  value operator=(value written) const {
    __builtin_memcpy(aotc_emulation_touch(at.region, at.offset, sizeof(T), AOTC_EMULATION_WRITE),
                     &written, sizeof written);
    return written;
  }
  value operator=(const aotc_emulation_shared_element &other) const { return *this = other.read(); }
  template <typename U>
  value operator=(const aotc_emulation_shared_element<U> &other) const {
    return *this = static_cast<value>(other.read());
  }
  template <typename U>
  value operator+=(U operand) const {
    return *this = static_cast<value>(read() + operand);
  }
  template <typename U>
  value operator-=(U operand) const {
    return *this = static_cast<value>(read() - operand);
  }
  template <typename U>
  value operator*=(U operand) const {
    return *this = static_cast<value>(read() * operand);
  }
  template <typename U>
  value operator|=(U operand) const {
    return *this = static_cast<value>(read() | operand);
  }
  value operator++() const { return *this += 1; }
  aotc_emulation_shared_pointer<T> operator&() const { return at; }
};

}  // namespace

#define AOTC_SHARED_POINTER(type) aotc_emulation_shared_pointer<type>

#define AOTC_SHARED(type, name, size)                                         \
  static char aotc_shared_key_##name;                                         \
  const aotc_emulation_shared_pointer<type> name = {                          \
      aotc_emulation_static_shared(&aotc_shared_key_##name, #name,            \
                                   sizeof(type) * static_cast<size_t>(size)), \
      0}

#define AOTC_DYNAMIC_SHARED(type, name) \
  const aotc_emulation_shared_pointer<type> name = {aotc_emulation_dynamic_shared(), 0}

// The same memory as elements of another type.
template <typename To, typename From>
static inline aotc_emulation_shared_pointer<To> aotc_shared_cast(
    aotc_emulation_shared_pointer<From> pointer) {
  return {pointer.region, pointer.offset};
}

// For functions of the emulation that reach shared memory themselves; ordinary pointers pass
// unchecked.
template <typename T>
static inline unsigned char *aotc_emulation_shared_write(aotc_emulation_shared_pointer<T> pointer,
                                                         size_t bytes) {
  return aotc_emulation_touch(pointer.region, pointer.offset, bytes, AOTC_EMULATION_WRITE);
}
template <typename T>
static inline const unsigned char *aotc_emulation_shared_read(
    aotc_emulation_shared_pointer<T> pointer, size_t bytes) {
  return aotc_emulation_touch(pointer.region, pointer.offset, bytes, AOTC_EMULATION_READ);
}
template <typename T>
static inline unsigned char *aotc_emulation_shared_write(T *pointer, size_t) {
  return reinterpret_cast<unsigned char *>(pointer);
}
template <typename T>
static inline const unsigned char *aotc_emulation_shared_read(const T *pointer, size_t) {
  return reinterpret_cast<const unsigned char *>(pointer);
}

#define AOTC_EMULATION_SHARED_ATOMIC(name)                                                      \
  template <typename T, typename... Operands>                                                   \
  static inline T name(aotc_emulation_shared_pointer<T> address, Operands... operands) {        \
    unsigned char *const memory =                                                               \
        aotc_emulation_touch(address.region, address.offset, sizeof(T), AOTC_EMULATION_ATOMIC); \
    return name(reinterpret_cast<T *>(memory), static_cast<T>(operands)...);                    \
  }
AOTC_EMULATION_SHARED_ATOMIC(aotc_atomic_add)
AOTC_EMULATION_SHARED_ATOMIC(aotc_atomic_or)
AOTC_EMULATION_SHARED_ATOMIC(aotc_atomic_max)
AOTC_EMULATION_SHARED_ATOMIC(aotc_atomic_min)
AOTC_EMULATION_SHARED_ATOMIC(aotc_atomic_exchange)
AOTC_EMULATION_SHARED_ATOMIC(aotc_atomic_cas)
#undef AOTC_EMULATION_SHARED_ATOMIC

#endif  // AOTC_EMULATION_SHADOW_POINTER_H_
