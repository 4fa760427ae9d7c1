// Kernels that make columns of encoded pages.
#include "runtime/abi/hand_kernel.h"
#include "runtime/primitives/gpu/decode_codes.h"

using headrace::decode::DecodeCodesParameters;
using headrace::decode::kSpreadChunk;
using headrace::decode::SpreadParameters;

HR_HAND_KERNEL(decode_codes, DecodeCodesParameters, 256) {
  const DecodeCodesParameters page = parameters; // stores may not change it
  headrace::decode::decodeCodes(&page, nullptr, 1, place.first(), place.stride());
}

namespace {

constexpr uint64_t kWordRows = 32;

uint64_t wordsOf(const SpreadParameters &page) { return (page.rows + kWordRows - 1) / kWordRows; }

int64_t loadInteger(const uint8_t *place, uint32_t bytes) {
  return bytes == 8 ? *reinterpret_cast<const int64_t *>(place)
                    : *reinterpret_cast<const int32_t *>(place);
}

/// False if it does not fit.
bool storeInteger(uint8_t *place, uint32_t bytes, int64_t value) {
  const uint32_t unused = 64 - 8 * bytes;
  if (static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused != value) {
    return false;
  }
  switch (bytes) {
  case 1:
    *reinterpret_cast<int8_t *>(place) = static_cast<int8_t>(value);
    break;
  case 2:
    *reinterpret_cast<int16_t *>(place) = static_cast<int16_t>(value);
    break;
  case 4:
    *reinterpret_cast<int32_t *>(place) = static_cast<int32_t>(value);
    break;
  default:
    *reinterpret_cast<int64_t *>(place) = value;
  }
  return true;
}

} // namespace

HR_HAND_KERNEL(pack_levels, SpreadParameters, 256) {
  for (uint64_t word = place.first(); word < wordsOf(parameters); word += place.stride()) {
    uint32_t bits = 0;
    for (uint64_t i = 0; i < kWordRows && word * kWordRows + i < parameters.rows; ++i) {
      bits |= (parameters.levels[word * kWordRows + i] & 1) << i;
    }
    parameters.validity[word] = bits;
  }
}

HR_HAND_KERNEL(count_levels, SpreadParameters, 256) {
  const uint64_t words = wordsOf(parameters);
  for (uint64_t chunk = place.first(); chunk * kSpreadChunk < words; chunk += place.stride()) {
    uint32_t count = 0;
    for (uint64_t word = chunk * kSpreadChunk; word < (chunk + 1) * kSpreadChunk && word < words;
         ++word) {
      parameters.wordStarts[word] = count;
      count += static_cast<uint32_t>(__builtin_popcount(parameters.validity[word]));
    }
    parameters.chunkStarts[chunk] = count;
  }
}

/// One thread: there are few chunks.
HR_HAND_KERNEL(sum_chunks, SpreadParameters, 32) {
  const uint64_t words = wordsOf(parameters);
  uint64_t before = 0;
  for (uint64_t chunk = 0; place.first() == 0 && chunk * kSpreadChunk < words; ++chunk) {
    uint64_t count = parameters.chunkStarts[chunk];
    parameters.chunkStarts[chunk] = before;
    before += count;
  }
}

HR_HAND_KERNEL(spread_values, SpreadParameters, 256) {
  const SpreadParameters page = parameters; // stores may not change it
  for (uint64_t row = place.first(); row < page.rows; row += place.stride()) {
    const uint64_t word = row / kWordRows;
    uint64_t value = row;
    uint8_t *target = page.target + row * page.targetBytes;
    if (page.levels != nullptr) {
      uint32_t bits = page.validity[word], bit = uint32_t(1) << (row % kWordRows);
      if ((bits & bit) == 0) {
        for (uint32_t i = 0; i < page.targetBytes; ++i) {
          target[i] = 0;
        }
        continue;
      }
      value = page.chunkStarts[word / kSpreadChunk] + page.wordStarts[word] +
              static_cast<uint64_t>(__builtin_popcount(bits & (bit - 1)));
    }
    const uint8_t *source = page.source + value * page.sourceBytes;
    if (page.sourceBytes != 4 && page.sourceBytes != 8) {
      for (uint32_t i = 0; i < page.targetBytes; ++i) {
        target[i] = source[i];
      }
    } else if (!storeInteger(target, page.targetBytes, loadInteger(source, page.sourceBytes))) {
      int32_t none = HR_OK;
      if (__atomic_compare_exchange_n(&device->error.code, &none, HR_ERROR_RANGE, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        device->error.row = row;
      }
    }
  }
}
