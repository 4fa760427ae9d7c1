// Device code in one translation unit, compiled to bitcode per target: the primitives for threads,
// and the row-level imports under the names of runtime/abi/imports.def, from the same sources as
// the CPU's.
#include "runtime/primitives/gpu/device.h"

#include "runtime/abi/row_pointer.h"
#include "runtime/primitives/gpu/decode_codes.h"

#define HR_ISA_LEVEL 0
#include "runtime/primitives/number/decimal.cpp"
#include "runtime/primitives/string/compare.cpp"
#include "runtime/primitives/string/hash.cpp"
#include "runtime/primitives/string/search_body.h"
#include "runtime/primitives/string/substring.cpp"

using namespace headrace::primitives;
using headrace::abi::kClaimedRow;
using headrace::abi::kRowPointerMask;

#define HR_INLINE __attribute__((always_inline)) inline

namespace {
// Loads of what no thread writes, each once.
HR_INLINE uint64_t load32(const void *place) {
#ifdef __NVPTX__
  uint32_t value;
  asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(value) : "l"(place));
  return value;
#else
  return *static_cast<const uint32_t *>(place);
#endif
}
HR_INLINE uint64_t load64(const void *place) {
#ifdef __NVPTX__
  uint64_t value;
  asm volatile("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(value) : "l"(place));
  return value;
#else
  return *static_cast<const uint64_t *>(place);
#endif
}

// The scope is the device, of what is called hr_block_* the block, see passes/lower/gpu: the host
// reads after the launch. Templates and static functions are inlined by clang already, into both.
template <typename T> HR_INLINE T addRelaxed(T *place, T value) {
  return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}
template <typename T> HR_INLINE bool exchangeIf(T *place, T *expected, T wanted, int success) {
  return __atomic_compare_exchange_n(place, expected, wanted, false, success, __ATOMIC_RELAXED);
}

HR_INLINE uint64_t entryAt(const uint64_t *entry) {
  return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}
HR_INLINE int32_t claim(uint64_t *entry, uint64_t hash) {
  uint64_t empty = 0;
  return exchangeIf(entry, &empty, kClaimedRow | (hash & ~kRowPointerMask), __ATOMIC_RELAXED);
}
HR_INLINE void publish(uint64_t *entry, uint64_t value) {
  __atomic_store_n(entry, value, __ATOMIC_RELEASE);
}
/// A number below the limit that nobody else has; the limit if there is none left.
template <typename T> HR_INLINE T nextNumber(T *numbers, T limit) {
  T number = addRelaxed<T>(numbers, 1);
  if (number < limit) {
    return number;
  }
  addRelaxed<T>(numbers, ~T(0)); // so that they end as many as there are
  return limit;
}
} // namespace

extern "C" {

// ---- columns ----

const void *hr_device_value(uint32_t encoding, const void *data, const void *dictionary,
                            uint64_t row, uint32_t bytes) {
  if (encoding == HR_INDICES) {
    row = static_cast<const uint32_t *>(data)[row];
    data = dictionary;
  }
  return static_cast<const uint8_t *>(data) + row * bytes;
}

const HrString *hr_device_string(uint32_t encoding, const void *data, const void *dictionary,
                                 const uint8_t *heap, uint64_t row, HrString *view) {
  if (encoding != HR_OFFSETS) {
    // A copy, so that the view is in registers whatever the encoding.
    *view = *static_cast<const HrString *>(
        hr_device_value(encoding, data, dictionary, row, sizeof(HrString)));
    return view;
  }
  const uint32_t *offsets = static_cast<const uint32_t *>(data) + row;
  *view = makeString(heap + offsets[0], offsets[1] - offsets[0]);
  return view;
}

uint32_t hr_device_bool(uint32_t encoding, const void *data, const void *dictionary, uint64_t row) {
  if (encoding == HR_BITMAP) {
    return static_cast<const uint8_t *>(data)[row >> 3] >> (row & 7) & 1;
  }
  return *static_cast<const uint8_t *>(hr_device_value(encoding, data, dictionary, row, 1)) != 0;
}

uint32_t hr_device_valid(const uint8_t *validity, uint64_t row) {
  return validity == nullptr || (validity[row >> 3] >> (row & 7) & 1) != 0;
}

uint64_t hr_device_first(uint32_t encoding, const void *data, uint64_t row, uint32_t bytes) {
  const uint32_t width = encoding == HR_INDICES ? 4 : bytes;
  const uint8_t *place = static_cast<const uint8_t *>(data) + row * width;
  switch (width) {
  case 1:
    return *place;
  case 2:
    return *reinterpret_cast<const uint16_t *>(place);
  case 4:
    return load32(place);
  default:
    return load64(place);
  }
}

void hr_device_prefetch([[maybe_unused]] uint32_t encoding, [[maybe_unused]] const void *data,
                        [[maybe_unused]] uint64_t row, [[maybe_unused]] uint32_t bytes) {
#ifdef __NVPTX__
  const uint32_t width = encoding == HR_INDICES ? 4 : bytes;
  asm volatile("prefetch.global.L2 [%0];"
               :
               : "l"(static_cast<const uint8_t *>(data) + row * width));
#endif
}

void hr_device_decode_pages(const HrArgs *args, uint32_t thread, uint32_t threads, uint32_t block,
                            uint32_t blocks) {
  const auto *all = static_cast<const headrace::decode::DecodePagesParameters *>(args->literals);
  headrace::decode::decodeCodes(all->pages, all->groupsBefore, all->pageCount,
                                uint64_t(block) * threads + thread, uint64_t(blocks) * threads);
}

// ---- errors ----

void hr_device_fail(HrDevice *device, int32_t code, uint32_t place, uint64_t row) {
  int32_t none = HR_OK;
  if (exchangeIf(&device->error.code, &none, code, __ATOMIC_RELAXED)) {
    device->error.place = place;
    device->error.row = row;
  }
}

// ---- group tables ----

uint64_t hr_device_entry(const uint64_t *entry) { return entryAt(entry); }
uint64_t hr_block_entry(const uint64_t *entry) { return entryAt(entry); }
int32_t hr_device_claim(uint64_t *entry, uint64_t hash) { return claim(entry, hash); }
int32_t hr_block_claim(uint64_t *entry, uint64_t hash) { return claim(entry, hash); }
void hr_device_publish(uint64_t *entry, uint64_t value) { publish(entry, value); }
void hr_block_publish(uint64_t *entry, uint64_t value) { publish(entry, value); }

int32_t hr_device_full(const HrGroupTable *table) {
  return __atomic_load_n(&table->rows, __ATOMIC_RELAXED) >= table->limit;
}

int32_t hr_block_full(const uint32_t *rows, uint32_t limit) {
  return __atomic_load_n(rows, __ATOMIC_RELAXED) >= limit;
}

uint64_t hr_device_new_group(HrGroupTable *table, uint32_t rowBytes) {
  uint64_t number = nextNumber(&table->rows, table->limit);
  if (number == table->limit) {
    return 0;
  }
  return reinterpret_cast<uint64_t>(static_cast<HrDeviceStore *>(table->owner)->rows) +
         number * rowBytes;
}

int32_t hr_block_new_group(uint32_t *rows, uint32_t limit) {
  uint32_t number = nextNumber(rows, limit);
  return number == limit ? -1 : static_cast<int32_t>(number);
}

uint32_t hr_block_group_of_code(const uint32_t *place) {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}
void hr_block_keep_group_of_code(uint32_t *place, uint32_t group) {
  __atomic_store_n(place, group, __ATOMIC_RELEASE);
}

// ---- rows ----

uint8_t *hr_device_append(HrRowBuffer *buffer, uint64_t rowBytes) {
  auto *next = reinterpret_cast<uint64_t *>(&buffer->next);
  auto *row = reinterpret_cast<uint8_t *>(addRelaxed<uint64_t>(next, rowBytes));
  if (row + rowBytes > buffer->end) {
    return nullptr;
  }
  addRelaxed<uint64_t>(&buffer->rows, 1);
  return row;
}

int32_t hr_device_keep(HrDeviceStore *store, HrString *text) {
  if (store->heap == nullptr) {
    return HR_OK;
  }
  uint64_t offset = addRelaxed<uint64_t>(&store->heapUsed, text->length);
  if (offset + text->length > store->heapBytes) {
    return HR_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < text->length; ++i) {
    store->heap[offset + i] = text->data[i];
  }
  text->data = store->heap + offset;
  return HR_OK;
}

void hr_device_chain(uint64_t *entry, uint8_t *row, uint64_t tagBit) {
  uint64_t seen = __atomic_load_n(entry, __ATOMIC_RELAXED);
  uint64_t wanted;
  do {
    *reinterpret_cast<uint64_t *>(row) = seen & kRowPointerMask;
    wanted = reinterpret_cast<uint64_t>(row) | (seen & ~kRowPointerMask) | tagBit;
  } while (!exchangeIf(entry, &seen, wanted, __ATOMIC_RELEASE));
}

uint32_t hr_device_output_row(HrOutput *output) {
  uint32_t row = addRelaxed<uint32_t>(&output->rows, 1);
  return row < output->capacity ? row : UINT32_MAX;
}

// ---- fields ----

int32_t hr_device_add_i128(uint64_t *place, uint64_t low, uint64_t high) {
  // The carry of every addition to the low word is known from the value it met; carries and high
  // words add up in any order.
  uint64_t before = low == 0 ? 0 : addRelaxed<uint64_t>(place, low);
  uint64_t carry = low != 0 && before + low < before ? 1 : 0;
  uint64_t addend = high + carry;
  if (addend == 0) {
    return 0;
  }
  uint64_t old = addRelaxed<uint64_t>(place + 1, addend);
  int64_t sum;
  return __builtin_add_overflow(static_cast<int64_t>(old), static_cast<int64_t>(addend), &sum);
}

void hr_block_add_i64(uint32_t *place, uint64_t value) {
  auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  uint32_t before = addRelaxed<uint32_t>(place, low);
  high += before + low < before ? 1 : 0;
  if (high != 0) {
    addRelaxed<uint32_t>(place + 1, high);
  }
}

// ---- the row-level imports ----

int32_t hr_string_equal(const HrString *a, const HrString *b) { return stringEqual(a, b); }
int32_t hr_string_compare(const HrString *a, const HrString *b) { return stringCompare(a, b); }
uint64_t hr_string_hash(const HrString *text) { return stringHash(text); }
int32_t hr_string_contains(const HrString *text, const HrString *part) {
  return stringContains(text, part);
}
int32_t hr_string_starts_with(const HrString *text, const HrString *part) {
  return stringStartsWith(text, part);
}
int32_t hr_string_ends_with(const HrString *text, const HrString *part) {
  return stringEndsWith(text, part);
}
int32_t hr_string_like(const HrString *text, const HrString *pattern, int32_t escape) {
  return stringLike(text, pattern, escape);
}
void hr_string_substring(const HrString *text, int64_t start, int64_t length, HrString *out) {
  stringSubstring(text, start, length, out);
}
int32_t hr_multiply_i128(const void *a, const void *b, void *out) {
  return multiplyI128(a, b, out);
}
int32_t hr_divide_i128(const void *a, const void *scale, const void *b, void *out) {
  return divideI128(a, scale, b, out);
}
double hr_i128_to_f64(const void *value) { return i128ToDouble(value); }

// ---- what a code generator may call on its own (built with -fno-builtin: these stay loops) ----

int memcmp(const void *a, const void *b, size_t bytes) {
  const auto *left = static_cast<const uint8_t *>(a), *right = static_cast<const uint8_t *>(b);
  for (size_t i = 0; i < bytes; ++i) {
    if (left[i] != right[i]) {
      return left[i] < right[i] ? -1 : 1;
    }
  }
  return 0;
}

void *memcpy(void *target, const void *source, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    static_cast<uint8_t *>(target)[i] = static_cast<const uint8_t *>(source)[i];
  }
  return target;
}
}
