/* The kernel ABI: everything generated code shares with the runtime. Plain C, no other dependency.
 * A kernel is one pipeline: it reads a morsel through column cursors, runs tile by tile, and ends
 * in states or output chunks. Version and layout are checked when a plan is loaded
 * (HR_ABI_VERSION). */
#ifndef HEADRACE_RUNTIME_ABI_KERNEL_H
#define HEADRACE_RUNTIME_ABI_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HR_ABI_VERSION 11
/* Rows of a tile: what a pipeline has in flight at once. */
#define HR_TILE_ROWS 1024
/* Selecting stages of a kernel whose rows it counts, at the head of its scratch. */
#define HR_COUNTED_STAGES 15
/* Every buffer a kernel reads has this many readable bytes past its end (content undefined). */
#define HR_PADDING 64

/* Physical type of a column inside kernels, states and chunks. Logical types (decimal, date) are
 * the compiler's: a decimal is a scaled integer, a date days since 1970-01-01 in HR_I32. */
typedef enum HrType {
  HR_BOOL = 0, /* one byte, 0 or 1, inside kernels and states; a bitmap in chunks */
  HR_I8 = 1,
  HR_I16 = 2,
  HR_I32 = 3,
  HR_I64 = 4,
  HR_I128 = 5,
  HR_F32 = 6,
  HR_F64 = 7,
  HR_STRING = 8 /* HrString inside kernels and states; offsets + bytes in chunks */
} HrType;

/* A string inside kernels and states. `data` has HR_PADDING readable bytes after its end. */
typedef struct HrString {
  uint32_t length;
  uint8_t prefix[4]; /* first bytes, zero filled: the first eight bytes of two equal strings are
                        equal */
  const uint8_t *data;
} HrString;

/* An argument of hr_text, as the function has it there, and what it gives. */
typedef union HrTextArgument {
  const HrString *text;
  int64_t number;
} HrTextArgument;
typedef struct HrTextResult {
  HrString text;
  int64_t number;
  int64_t none; /* 1: it has no value for these arguments */
} HrTextResult;

/* How a value reads as text: an integer scaled by a power of ten, a time or timestamp of as many
 * digits of a second, … */
typedef enum HrTextForm {
  HR_TEXT_INTEGER = 0,
  HR_TEXT_TIMESTAMP = 1,
  HR_TEXT_DATE = 2,
  HR_TEXT_BOOLEAN = 3,
  HR_TEXT_DOUBLE = 4,
  HR_TEXT_FLOAT = 5,
  HR_TEXT_ZONED_TIMESTAMP = 6,
  HR_TEXT_TIME = 7
} HrTextForm;
/* Bytes of memory for a value as text. */
#define HR_TEXT_PRINTED 64

/* Where a string is made, row after row; zero at first. */
typedef struct HrTextBuffer {
  uint8_t *data;
  uint64_t capacity;
} HrTextBuffer;

typedef enum HrEncoding {
  HR_VALUES =
      0, /* data: array of the column's physical type (HrString[] for strings; bytes for bools) */
  HR_CODES =
      1, /* data: Parquet RLE/bit-packed hybrid stream of dictionary codes, `bitWidth` bits */
  HR_OFFSETS = 2, /* strings of a chunk: data: uint32_t[rows + 1]; heap: bytes */
  HR_BITMAP = 3,  /* bools of a chunk: data: bits, least significant first */
  HR_INDICES = 4  /* data: uint32_t[rows] dictionary codes */
} HrEncoding;

/* A run of rows of one column in one encoding: a Parquet page, or a whole chunk column. */
typedef struct HrSegment {
  uint32_t rows;
  uint8_t encoding; /* HrEncoding */
  uint8_t bitWidth; /* HR_CODES: 0..32 */
  uint16_t reserved;
  uint64_t bytes; /* of `data` */
  const void *data;
  const uint8_t *heap; /* HR_OFFSETS */
  const uint8_t
      *validity; /* 1 bit a row, least significant first; null: all valid. Value under NULL is 0 */
} HrSegment;

/* One column of a morsel. Segments of different columns need not line up.
 * One dictionary per morsel and column: values of the physical type (HrString[] for strings). */
typedef struct HrColumn {
  const HrSegment *segments;
  uint32_t segmentCount;
  uint32_t dictionaryCount;
  const void *dictionary;
  uint32_t skip;         /* rows of the first segment that come before the morsel's first row */
  uint32_t dictionaryId; /* the same for all morsels with this dictionary; 0: nothing is known */
} HrColumn;

/* Numbers from `begin` on, without `end`. */
typedef struct HrRange {
  uint32_t begin;
  uint32_t end;
} HrRange;

/* Position of a kernel in a column; lives in the kernel's scratch. hr_cursor_* primitives use it.
 */
typedef struct HrCursor {
  const HrColumn *column;
  uint32_t segment;    /* index of the current segment */
  uint32_t row;        /* rows already taken from it */
  const uint8_t *next; /* HR_CODES: next unread byte of the hybrid stream */
  const uint8_t *end;
  uint32_t runRows;      /* rows left of the current run */
  uint32_t runValue;     /* the repeated code of an RLE run */
  const uint8_t *packed; /* start of the current bit-packed run, or null in an RLE run */
  uint32_t packedRow;    /* rows already taken from it */
  uint32_t reserved;
} HrCursor;

/* Rows handed to a kernel at once: a row group, a part of it, a received chunk, or rows of a state.
 */
typedef struct HrMorsel {
  uint32_t rows;
  uint32_t columnCount;
  const HrColumn *columns;
  uint64_t
      firstRow; /* index of the first row within the source on this rank, for errors and order */
  /* A state as the source: row pointers are read from the blocks instead of columns. */
  const uint8_t *const *stateRows; /* array of `rows` row pointers, or null */
} HrMorsel;

/* An output chunk under construction. */
typedef struct HrOutputColumn {
  void *data;    /* array of the physical type; strings: uint32_t offsets, bools: one byte a row */
  uint8_t *heap; /* strings: bytes */
  uint32_t heapUsed;
  uint32_t heapCapacity;
  uint8_t *validity; /* one BYTE a row (1 valid) while under construction; null if never NULL */
} HrOutputColumn;

typedef struct HrOutput {
  uint32_t rows;
  uint32_t capacity;
  HrOutputColumn *columns;
} HrOutput;

typedef enum HrResult {
  HR_DONE = 0, /* the morsel is finished */
  HR_OUTPUT_FULL =
      1, /* output `HrWorker.fullOutput` must be replaced; call again with the same morsel */
  HR_NEED_INPUT = 2, /* reserved for kernels over several streams */
  HR_ERROR = 3,      /* HrWorker.error is set */
  HR_STOPPED = 4     /* the run was given up */
} HrResult;

typedef enum HrErrorCode {
  HR_OK = 0,
  HR_ERROR_OVERFLOW = 1,
  HR_ERROR_DIVISION_BY_ZERO = 2,
  HR_ERROR_INVALID_CAST = 3,
  HR_ERROR_MEMORY = 4, /* an import could not get memory; the broker holds the details */
  HR_ERROR_MORE_THAN_ONE_ROW = 5,
  HR_ERROR_CORRUPT = 6, /* an encoded stream that does not decode */
  HR_ERROR_RANGE = 7,   /* a value outside what the statistics promised */
  HR_ERROR_RAISED = 8   /* by the query itself */
} HrErrorCode;

typedef struct HrError {
  int32_t code;   /* HrErrorCode; the first one stays */
  uint32_t place; /* index into the kernel's table of places in the user's program */
  uint64_t row;
} HrError;

struct HrImports;

/* What belongs to one worker running one kernel. */
typedef struct HrWorker {
  /* Kernel.scratchBytes, 64-byte aligned, kept between calls of one morsel. It begins with a word
   * of the kernel's own and HR_COUNTED_STAGES words in which it counts the rows that each selecting
   * stage let through, all zero at a morsel's first call. */
  uint8_t *scratch;
  HrOutput *outputs;
  uint32_t outputCount; /* 0, 1, or for a partitioning sink the ranks that it is for */
  uint32_t fullOutput;  /* set with HR_OUTPUT_FULL */
  HrError error;
  const struct HrImports *imports;
  void *arena; /* opaque to kernels: imports allocate from it; freed when the kernel's task ends */
  uint32_t rank;
  uint32_t size;
  const uint8_t *stop; /* not 0: the run is given up; looked at once a tile */
  int64_t seed;        /* drawn for the run, the same on all ranks */
  /* Of the places of keys (runtime/primitives/hash/hash.h) those of this rank, `keyPlaces` from
   * `firstKeyPlace` on; and by rank where its places begin, `size` + 1 bounds. Null: all ranks have
   * equally many. */
  uint64_t firstKeyPlace;
  uint64_t keyPlaces;
  const uint64_t *keyBounds;
} HrWorker;

typedef struct HrArgs {
  const HrMorsel *morsel;
  const void *literals; /* packed as Kernel.literals says; strings as HrString with absolute data */
  void *const *states; /* in the order of Kernel.states; per-worker states are this worker's copy */
} HrArgs;

typedef int32_t (*HrKernel)(const HrArgs *args, HrWorker *worker);

/* ---- states that kernels look into ---- */

/* Hash table of an aggregate or distinct set: open addressing, linear probing.
 * A directory entry is 0 or (row pointer | (hash >> 48) << 48). A row is {uint64_t hash;
 * fields...}. */
typedef struct HrGroupTable {
  uint64_t *directory;
  uint64_t mask; /* entries - 1 */
  uint64_t rows;
  uint64_t limit; /* rows at which the directory must grow */
  void *owner;    /* opaque to kernels */
} HrGroupTable;

/* Join build side after it is finished: directory of chains with 16 tag bits.
 * Slot = hash >> shift. Entry: row pointer | tags << 48; the tag of a hash is bit (48 + ((hash >>
 * 12) & 15)). A row is {uint8_t *next; uint64_t hash; fields...}. */
typedef struct HrJoinTable {
  uint64_t *directory;
  uint64_t shift;
  uint64_t rows;
  /* By an integer key in [base, base + extent), entries without tags. An array: one for each key of
   * the range, 0 if it is not there. Ranks: one for each key that is there, in their order. The
   * word ranks[slot / 32], slot = key - base, has in bit slot % 32 whether the key is there, and
   * above its 32 bits how many are in the words before. */
  const uint64_t *ranks;
  int64_t base;
  uint64_t extent;
  void *owner;
} HrJoinTable;

/* One row, for aggregates without keys: fields at the offsets of the state's layout. */
typedef struct HrScalarState {
  uint8_t *row;
  void *owner;
} HrScalarState;

/* Append-only rows (join build before finishing, sort, row buffers): rows of a fixed size in
 * blocks. */
typedef struct HrRowBuffer {
  uint8_t *next; /* where the next row goes */
  uint8_t *end;
  uint64_t rows;
  uint64_t rowBytes;
  void *owner;
  /* Of a sort that keeps the first rows only: whether rows whose first key comes after `bound` are
   * known not to be among them, and that key, as a row has it. */
  uint64_t isBounded;
  uint64_t bound[2] __attribute__((aligned(16)));
} HrRowBuffer;

#ifdef __cplusplus
}
#endif
#endif
