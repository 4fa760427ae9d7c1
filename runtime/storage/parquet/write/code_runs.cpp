// A run is taken where a whole block is alike: shorter ones cost readers more than they save bytes.
#include "runtime/storage/parquet/write/code_runs.h"

#include <algorithm>
#include <cstring>

namespace headrace::storage {
namespace {

/// Codes that are alike or not as one; a multiple of 8.
constexpr size_t kBlock = 64;

void appendVarint(uint64_t value, std::vector<uint8_t> &out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<uint8_t>(value) | 0x80);
  }
  out.push_back(static_cast<uint8_t>(value));
}

template <typename Code> bool areAlike(const Code *codes) {
  Code different = 0;
  for (size_t i = 1; i < kBlock; ++i) {
    different |= codes[i] ^ codes[0];
  }
  return different == 0;
}

/// Groups of eight; the last is filled with zeros.
template <typename Code>
void appendPacked(std::span<const Code> codes, uint32_t width, std::vector<uint8_t> &out) {
  if (codes.empty()) {
    return;
  }
  const uint64_t groups = (codes.size() + 7) / 8;
  appendVarint(groups << 1 | 1, out);
  const size_t begin = out.size(), bytes = groups * width;
  out.resize(begin + bytes + sizeof(uint64_t)); // room for the last store
  uint8_t *next = out.data() + begin;
  uint64_t bits = 0;
  uint32_t held = 0;
  for (Code code : codes) {
    bits |= static_cast<uint64_t>(code) << held;
    held += width;
    if (held >= 32) {
      std::memcpy(next, &bits, sizeof(uint32_t));
      next += sizeof(uint32_t);
      bits >>= 32;
      held -= 32;
    }
  }
  std::memcpy(next, &bits, sizeof(bits));
  out.resize(begin + bytes);
}

/// One code `count` times.
void appendRun(uint32_t code, uint64_t count, uint32_t width, std::vector<uint8_t> &out) {
  appendVarint(count << 1, out);
  for (uint32_t bit = 0; bit < width; bit += 8) {
    out.push_back(static_cast<uint8_t>(code >> bit));
  }
}

template <typename Code>
void append(std::span<const Code> codes, uint32_t width, std::vector<uint8_t> &out) {
  size_t packed = 0; // the first that is not written yet
  for (size_t block = 0; block + kBlock <= codes.size(); block += kBlock) {
    if (block < packed || !areAlike(codes.data() + block)) {
      continue;
    }
    appendPacked(codes.subspan(packed, block - packed), width, out);
    size_t end = block + kBlock;
    while (end + kBlock <= codes.size() && codes[end] == codes[block] &&
           areAlike(codes.data() + end)) {
      end += kBlock;
    }
    appendRun(codes[block], end - block, width, out);
    packed = end;
  }
  appendPacked(codes.subspan(packed), width, out);
}

} // namespace

void appendCodes(std::span<const uint32_t> codes, uint32_t width, std::vector<uint8_t> &out) {
  append(codes, width, out);
}

void appendCodes(std::span<const uint16_t> codes, uint32_t width, std::vector<uint8_t> &out) {
  append(codes, width, out);
}

} // namespace headrace::storage
