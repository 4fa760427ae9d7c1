// What kernels shaped for threads call, beside the row-level imports that CPU kernels have too:
// reading a row of a column, and states that many threads change at once. Inlined into the kernel;
// no locks but a claimed group entry.
#pragma once

#include "runtime/abi/device_kernel.h"

extern "C" {

// ---- columns ----
/// Where the value of a row is: `bytes` wide, an entry of the dictionary (HR_INDICES) or of the
/// data.
const void *hr_device_value(uint32_t encoding, const void *data, const void *dictionary,
                            uint64_t row, uint32_t bytes);
/// The string of a row, in `view`.
const HrString *hr_device_string(uint32_t encoding, const void *data, const void *dictionary,
                                 const uint8_t *heap, uint64_t row, HrString *view);
/// The bool of a row (HR_VALUES: bytes; HR_BITMAP; HR_INDICES), 0 or 1.
uint32_t hr_device_bool(uint32_t encoding, const void *data, const void *dictionary, uint64_t row);
/// Bit `row`, or 1 without a bitmap.
uint32_t hr_device_valid(const uint8_t *validity, uint64_t row);
/// What the data has for a row, zero-extended: its code (HR_INDICES), or else the number of `bytes`
/// (1, 2, 4, 8). It is loaded here, not where it is used, and leaves the cache to dictionaries.
uint64_t hr_device_first(uint32_t encoding, const void *data, uint64_t row, uint32_t bytes);
/// Asks for the same of a row, perhaps past the end, to be read soon.
void hr_device_prefetch(uint32_t encoding, const void *data, uint64_t row, uint32_t bytes);

/// The body of HR_DECODE_PAGES.
void hr_device_decode_pages(const HrArgs *args, uint32_t thread, uint32_t threads, uint32_t block,
                            uint32_t blocks);

// ---- errors ----
/// Keeps the first error of the launch.
void hr_device_fail(HrDevice *device, int32_t code, uint32_t place, uint64_t row);

// ---- group tables ----
// hr_device_*: of a state, changed by all threads; hr_block_*: of a block, in its shared memory.
/// The entry, and with it all that was stored in its row before it was published.
uint64_t hr_device_entry(const uint64_t *entry);
uint64_t hr_block_entry(const uint64_t *entry);
/// Claims an empty entry for a key of this hash. 0: somebody else was faster.
int32_t hr_device_claim(uint64_t *entry, uint64_t hash);
int32_t hr_block_claim(uint64_t *entry, uint64_t hash);
/// Ends a claim: the row's address and the tag of the hash (0: no row could be had) become visible.
void hr_device_publish(uint64_t *entry, uint64_t value);
void hr_block_publish(uint64_t *entry, uint64_t value);
/// 1 if the table has no room for another row.
int32_t hr_device_full(const HrGroupTable *table);
int32_t hr_block_full(const uint32_t *rows, uint32_t limit);
/// The address of an unused row; 0: the table is full.
uint64_t hr_device_new_group(HrGroupTable *table, uint32_t rowBytes);
/// The number of an unused row; -1: the table is full.
int32_t hr_block_new_group(uint32_t *rows, uint32_t limit);
/// The number + 1 of the row for keys of some codes; 0: not known yet.
uint32_t hr_block_group_of_code(const uint32_t *place);
void hr_block_keep_group_of_code(uint32_t *place, uint32_t group);

// ---- rows ----
/// Room for a row; null: the buffer is full.
uint8_t *hr_device_append(HrRowBuffer *buffer, uint64_t rowBytes);
/// Copies a string into the store and redirects the view. HR_ERROR_MEMORY: no room.
int32_t hr_device_keep(HrDeviceStore *store, HrString *text);
/// Puts a row in front of a chain of a join directory.
void hr_device_chain(uint64_t *entry, uint8_t *row, uint64_t tagBit);
/// Counts a row of an output; where it goes, or UINT32_MAX if it does not fit.
uint32_t hr_device_output_row(HrOutput *output);

// ---- fields ----
/// *place += (high, low), 128 bits, exact once all threads are done. 1: overflow of the signed sum.
int32_t hr_device_add_i128(uint64_t *place, uint64_t low, uint64_t high);
/// *place += value in shared memory, which adds 32 bits at once: exact once all threads are done.
void hr_block_add_i64(uint32_t *place, uint64_t value);
}
