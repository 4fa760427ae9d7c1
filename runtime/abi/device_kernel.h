/* The ABI of kernels shaped for threads (a GPU, or its emulation on the CPU). Inputs and literals
 * are HrArgs as for CPU kernels; all pointers are the device's. What differs: memory is reserved
 * before the launch and never grown, and errors and outputs are shared by all threads. */
#ifndef HEADRACE_RUNTIME_ABI_DEVICE_KERNEL_H
#define HEADRACE_RUNTIME_ABI_DEVICE_KERNEL_H

#include "runtime/abi/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* States, by kind:
 *   scalar: HrScalarState; `row` is the result, combined into by atomics.
 *   group: HrGroupTable; `rows` counts up to `limit`; row i is at store.rows + i * rowBytes, in no
 *     order. The directory has at least 2 * limit entries, zeroed; an entry under construction has
 *     the row pointer 1 (runtime/abi/row_pointer.h).
 *   join, filled: HrRowBuffer; `next` moves towards `end` (past it: rows did not fit).
 *   join, read, after the kernel link_STATE has run over [store.rows, next): HrJoinTable, whose
 *     directory was zeroed before.
 *   sort: HrRowBuffer, in no order.
 * Directories of groups and joins hold pointers of 48 bits. */

/* What `owner` of a state points to. */
typedef struct HrDeviceStore {
  uint8_t *rows; /* group: limit * rowBytes */
  uint8_t *heap; /* bytes of kept strings; null: strings are not kept */
  uint64_t heapBytes;
  uint64_t heapUsed; /* may end above heapBytes: then strings did not fit and the error is set */
} HrDeviceStore;

/* One launch. A column of a morsel has one segment: HR_VALUES, HR_INDICES, HR_OFFSETS or HR_BITMAP
 * (codes are unpacked before). An output's string column gets HrString views into the states and
 * columns they come from; rows beyond `capacity` are counted but not written: launch again with
 * room for `rows`. */
typedef struct HrDevice {
  HrError error; /* of the first thread that failed */
  HrOutput *outputs;
  uint32_t size; /* ranks of a partitioning sink */
  /* A launch over several morsels: their HrArgs are `argsBytes` apart, and each has as many blocks.
   * 0: one. */
  uint32_t morsels;
  uint32_t argsBytes;
  uint32_t reserved;
} HrDevice;

/* A kernel of the image of every plan for GPUs: HrArgs.literals points to the DecodePagesParameters
 * of runtime/primitives/gpu/code_run.h, and it makes codes (HR_INDICES) of pages. */
#define HR_DECODE_PAGES "hr_decode_pages"

/* Shared memory of a block is at most this. */
#define HR_BLOCK_SHARED_BYTES 49152

/* PTX entry: NAME(args, device), any number of blocks of Kernel's threads. */
typedef void (*HrDeviceKernel)(const HrArgs *args, HrDevice *device);
/* Emulated entry: threads first..last-1 of a block, one after the other, from one barrier of the
 * block to the next (a superstep). Ranges and blocks may run at once and in any order; superstep p
 * + 1 of a block starts when all its threads have done superstep p. `shared` is the block's,
 * 16-byte aligned, the bytes that the manifest says. */
typedef void (*HrEmulatedSuperstep)(const HrArgs *args, HrDevice *device, void *shared,
                                    uint32_t superstep, uint32_t block, uint32_t blocks,
                                    uint32_t first, uint32_t last, uint32_t threads);
/* What goes with an emulated entry NAME, under the name NAME.shape. */
typedef struct HrEmulatedShape {
  uint32_t supersteps;
  uint32_t sharedBytes;
  uint32_t threadsMax; /* of a block */
} HrEmulatedShape;

#ifdef __cplusplus
}
#endif
#endif
