// What the tests of primitives share: seeds, padded buffers, the instruction sets of this machine.
#pragma once

#include "runtime/abi/imports.h"
#include "runtime/primitives/fill.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::primitives::testing {

/// The seed of a random test; HEADRACE_SEED repeats a failure.
inline uint64_t seed() {
  const char *text = std::getenv("HEADRACE_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20251121;
}

/// Exactly HR_PADDING readable bytes after the end, so that the address sanitizer sees the next
/// one.
class PaddedBytes {
public:
  PaddedBytes() : PaddedBytes(nullptr, 0) {}
  PaddedBytes(const void *data, size_t size) : size_(size), bytes_(new uint8_t[size + HR_PADDING]) {
    if (size != 0) {
      std::memcpy(bytes_.get(), data, size);
    }
    std::memset(bytes_.get() + size, 0xa5, HR_PADDING);
  }
  explicit PaddedBytes(const std::vector<uint8_t> &bytes)
      : PaddedBytes(bytes.data(), bytes.size()) {}
  explicit PaddedBytes(std::string_view text) : PaddedBytes(text.data(), text.size()) {}
  const uint8_t *data() const { return bytes_.get(); }
  size_t size() const { return size_; }

private:
  size_t size_;
  std::unique_ptr<uint8_t[]> bytes_;
};

inline std::vector<Isa> supportedIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kBaseline, Isa::kV3, Isa::kV4}) {
    if (isa <= detectIsa()) {
      isas.push_back(isa);
    }
  }
  return isas;
}

inline HrImports primitivesOf(Isa isa) {
  HrImports table{};
  fillPrimitiveImports(&table, isa);
  return table;
}

inline std::string isaTestName(Isa isa) {
  return isa == Isa::kBaseline ? "baseline" : isa == Isa::kV3 ? "v3" : "v4";
}

} // namespace headrace::primitives::testing
