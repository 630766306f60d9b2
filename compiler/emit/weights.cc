// The packed weights: the blob, and the sources that link it.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

template <class T>
void Append(std::string& text, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) text.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t WordAt(const uint8_t* data, size_t bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes; ++i) word |= static_cast<uint64_t>(data[i]) << (8 * i);
  return word;
}

}  // namespace

// As aotc_weights_hash of runtime-lite/aotc/weights.h.
uint64_t WeightsHash(const std::vector<uint8_t>& data) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ data.size();
  for (size_t at = 0; at < data.size(); at += 8) {
    hash = (hash ^ WordAt(data.data() + at, std::min<size_t>(8, data.size() - at))) *
           0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::string WeightsBlob(const Program& program, uint64_t hash) {
  constexpr size_t kHeaderBytes = 64;
  std::string blob;
  blob.reserve(kHeaderBytes + program.weights.size());
  blob += "AOTCWGTS";
  Append<uint32_t>(blob, 1);
  Append<uint32_t>(blob, 0x01020304u);
  Append<uint64_t>(blob, program.weights.size());
  Append<uint64_t>(blob, hash);
  blob.resize(kHeaderBytes, '\0');
  blob.append(reinterpret_cast<const char*>(program.weights.data()), program.weights.size());
  return blob;
}

std::string EmitWeightsAssembly(const EmitContext& context) {
  CodeWriter w;
  w.Emit(R"(
    /* Links $name$_weights.bin in as it is: $bytes$ bytes of weights with hash
     * $hash$. Compile with -I of this folder; ELF, any processor. */
        .section .rodata
        .balign 64
        .globl $name$_weights_blob
        .hidden $name$_weights_blob
        .type $name$_weights_blob, %object
    $name$_weights_blob:
        .incbin "$name$_weights.bin"
        .size $name$_weights_blob, . - $name$_weights_blob
    #if defined(__linux__)
        .section .note.GNU-stack, "", %progbits
    #endif)",
         {{"name", context.interface.prefix},
          {"bytes", StrCat(context.program.weights.size())},
          {"hash", HashLiteral(context.weights_hash)}});
  return w.Take();
}

std::string EmitWeightsArray(const EmitContext& context, const std::string& blob) {
  CodeWriter w;
  w.Emit(R"(
    // The packed weights of $name$ as numbers, in words of eight bytes, header first.
    #include <stdint.h>

    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error "these weights are written for machines that store the low byte first"
    #endif

    extern "C" __attribute__((visibility("hidden"))) const uint64_t $name$_weights_blob[];
    )",
         {{"name", context.interface.prefix}});
  std::string text = w.Take();
  StrAppend(&text, "\nalignas(64) const uint64_t ", context.interface.prefix,
            "_weights_blob[] = {\n");
  const auto* data = reinterpret_cast<const uint8_t*>(blob.data());
  for (size_t at = 0; at < blob.size(); at += 8) {
    const uint64_t word = WordAt(data + at, std::min<size_t>(8, blob.size() - at));
    StrAppend(&text, "0x", absl::Hex(word), ",", at / 8 % 4 == 3 ? "\n" : " ");
  }
  return text + "};\n";
}

}  // namespace aotc
