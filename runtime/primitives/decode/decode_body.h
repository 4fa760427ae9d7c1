// Decoding of column segments to values, compiled once per instruction set (isa/body.h).
// A hybrid stream is a sequence of runs:
//
//   varint header: bit 0 = 1: bit-packed, (header >> 1) groups of eight codes of `width` bits
//   follow
//                  bit 0 = 0: repeated,   (header >> 1) times the code in the next ceil(width / 8)
//                  bytes
//
// A cursor may stop anywhere in a run. Every code is checked against the dictionary, a block at a
// time, so a corrupt page can at worst end in HR_ERROR_CORRUPT. Nothing is written past `rows`
// (`selected`) values.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/primitives/decode/cursor.h"
#include "runtime/primitives/decode/lookup_body.h"
#include "runtime/primitives/decode/unpack_body.h"

namespace headrace::primitives {
namespace {

/// Codes in flight between unpacking and lookup.
constexpr uint32_t kBlockCodes = 256;

inline const HrSegment &currentSegment(const HrCursor *cursor) {
  return cursor->column->segments[cursor->segment];
}

inline bool holdsRows(const HrCursor *cursor, uint32_t rows) {
  return cursor->segment < cursor->column->segmentCount &&
         rows <= currentSegment(cursor).rows - cursor->row;
}

/// Opens the next run of a hybrid stream with codes of 1..32 bits.
inline int32_t nextRun(HrCursor *cursor, uint32_t width) {
  do {
    uint64_t header = 0;
    for (uint32_t shift = 0;; shift += 7) {
      if (cursor->next == cursor->end || shift > 28) {
        return HR_ERROR_CORRUPT;
      }
      uint8_t byte = *cursor->next++;
      header |= static_cast<uint64_t>(byte & 127) << shift;
      if (!(byte & 128)) {
        break;
      }
    }
    uint64_t available = static_cast<uint64_t>(cursor->end - cursor->next);
    uint64_t rows;
    if (header & 1) {
      // The last group of a page may be cut by the writer: take the codes that are there.
      uint64_t bytes = (header >> 1) * width;
      bytes = bytes < available ? bytes : available;
      rows = bytes * 8 / width;
      cursor->packed = cursor->next;
      cursor->packedRow = 0;
      cursor->next += bytes;
      if (rows == 0 && (header >> 1) != 0) {
        return HR_ERROR_CORRUPT;
      }
    } else {
      uint32_t bytes = (width + 7) / 8;
      if (available < bytes) {
        return HR_ERROR_CORRUPT;
      }
      uint32_t value = 0;
      for (uint32_t i = 0; i < bytes; ++i) {
        value |= static_cast<uint32_t>(cursor->next[i]) << (8 * i);
      }
      cursor->next += bytes;
      cursor->packed = nullptr;
      cursor->runValue = value;
      rows = header >> 1;
    }
    cursor->runRows = rows < UINT32_MAX ? static_cast<uint32_t>(rows) : UINT32_MAX;
  } while (cursor->runRows == 0);
  return HR_OK;
}

/// Hands the next `rows` codes to sink.repeat(code, rows) or sink.packed(stream, firstRow, rows,
/// width).
template <typename Sink> inline int32_t takeCodes(HrCursor *cursor, uint32_t rows, Sink &sink) {
  const uint32_t width = currentSegment(cursor).bitWidth;
  cursor->row += rows;
  if (width == 0) {
    return sink.repeat(0, rows);
  }
  if (width > 32) {
    return HR_ERROR_CORRUPT;
  }
  while (rows != 0) {
    if (cursor->runRows == 0) {
      int32_t error = nextRun(cursor, width);
      if (error != HR_OK) {
        return error;
      }
    }
    uint32_t step = rows < cursor->runRows ? rows : cursor->runRows;
    int32_t error;
    if (cursor->packed) {
      error = sink.packed(cursor->packed, cursor->packedRow, step, width);
      cursor->packedRow += step;
    } else {
      error = sink.repeat(cursor->runValue, step);
    }
    if (error != HR_OK) {
      return error;
    }
    cursor->runRows -= step;
    rows -= step;
  }
  return HR_OK;
}

struct SkipSink {
  int32_t repeat(uint32_t, uint32_t) { return HR_OK; }
  int32_t packed(const uint8_t *, uint32_t, uint32_t, uint32_t) { return HR_OK; }
};

/// Every row through a table of `entries` values.
template <typename Value> struct LookupSink {
  const Value *table;
  uint32_t entries;
  Value *out;

  int32_t repeat(uint32_t code, uint32_t rows) {
    if (code >= entries) {
      return HR_ERROR_CORRUPT;
    }
    const Value value = table[code];
    for (uint32_t i = 0; i < rows; ++i) {
      out[i] = value;
    }
    out += rows;
    return HR_OK;
  }

  template <typename Code>
  int32_t blocks(const uint8_t *packed, uint64_t bit, uint32_t rows, uint32_t width) {
    alignas(64) Code codes[kBlockCodes + kUnpackSlack];
    const SmallTable<Code, Value> small(table, entries);
    while (rows != 0) {
      uint32_t step = rows < kBlockCodes ? rows : kBlockCodes;
      if (unpackCodes(packed, bit, step, width, codes) >= entries) {
        return HR_ERROR_CORRUPT;
      }
      if (!small.lookup(codes, step, out)) {
        lookupEach(codes, step, table, out);
      }
      out += step;
      rows -= step;
      bit += uint64_t{step} * width;
    }
    return HR_OK;
  }

  int32_t packed(const uint8_t *packed, uint32_t firstRow, uint32_t rows, uint32_t width) {
    const uint64_t bit = uint64_t{firstRow} * width;
#if HR_ISA_LEVEL >= 3
    if (width <= 8) {
      return blocks<uint8_t>(packed, bit, rows, width);
    }
    if (width <= 16) {
      return blocks<uint16_t>(packed, bit, rows, width);
    }
#endif
    return blocks<uint32_t>(packed, bit, rows, width);
  }
};

/// The selected rows through a table. The selection is ascending and relative to the first row of
/// the call.
template <typename Value> struct SelectedSink {
  const Value *table;
  uint32_t entries;
  const uint16_t *selection;
  const uint16_t *selectionEnd;
  Value *out;
  uint32_t firstRow; // of the call, that the next code belongs to

  int32_t repeat(uint32_t code, uint32_t rows) {
    const uint32_t end = firstRow + rows;
    firstRow = end;
    if (selection == selectionEnd || *selection >= end) {
      return HR_OK;
    }
    if (code >= entries) {
      return HR_ERROR_CORRUPT;
    }
    const Value value = table[code];
    while (selection != selectionEnd && *selection < end) {
      *out++ = value;
      ++selection;
    }
    return HR_OK;
  }

  int32_t packed(const uint8_t *packed, uint32_t packedRow, uint32_t rows, uint32_t width) {
    const uint32_t mask = codeMask(width);
    const uint32_t end = firstRow + rows;
    const int64_t origin = static_cast<int64_t>(packedRow) - firstRow;
    while (selection != selectionEnd && *selection < end) {
      uint64_t row = static_cast<uint64_t>(origin + *selection++);
      uint32_t code = extractCode(packed, row * width, mask);
      if (code >= entries) {
        return HR_ERROR_CORRUPT;
      }
      *out++ = table[code];
    }
    firstRow = end;
    return HR_OK;
  }
};

/// out[i] = values[selection[i] - first]. Where most rows are selected, eight in a row often follow
/// each other.
template <typename Value>
inline void gatherSelected(const Value *values, uint32_t first, const uint16_t *selection,
                           uint32_t selected, Value *out) {
  constexpr uint32_t kStep = 8;
  uint32_t i = 0;
  for (; i + kStep <= selected; i += kStep) {
    const Value *from = values + (selection[i] - first);
    if (selection[i + kStep - 1] - selection[i] == kStep - 1) {
      memcpy(out + i, from, kStep * sizeof(Value));
    } else {
      for (uint32_t j = i; j < i + kStep; ++j) {
        out[j] = values[selection[j] - first];
      }
    }
  }
  for (; i < selected; ++i) {
    out[i] = values[selection[i] - first];
  }
}

/// How many entries of an ascending selection are below `end`.
inline uint32_t selectedBelow(const uint16_t *selection, uint32_t selected, uint32_t end) {
  uint32_t low = 0;
  while (low < selected) {
    const uint32_t middle = low + (selected - low) / 2;
    if (selection[middle] < end) {
      low = middle + 1;
    } else {
      selected = middle;
    }
  }
  return low;
}

/// Codes of which many are selected: all of a tile are looked up, which is fast, then the selected
/// ones kept.
template <typename Value>
inline int32_t decodeSelectedDense(HrCursor *cursor, uint32_t rows, const Value *dictionary,
                                   uint32_t entries, const uint16_t *selection, uint32_t selected,
                                   Value *out) {
  alignas(64) Value tile[HR_TILE_ROWS];
  for (uint32_t done = 0; done < rows; done += HR_TILE_ROWS) {
    const uint32_t step = rows - done < HR_TILE_ROWS ? rows - done : HR_TILE_ROWS;
    LookupSink<Value> sink{dictionary, entries, tile};
    int32_t error = takeCodes(cursor, step, sink);
    if (error != HR_OK) {
      return error;
    }
    const uint32_t here =
        step == rows - done ? selected : selectedBelow(selection, selected, done + step);
    gatherSelected(tile, done, selection, here, out);
    selection += here;
    selected -= here;
    out += here;
  }
  return HR_OK;
}

inline bool bitAt(const uint8_t *bits, uint64_t index) {
  return bits[index >> 3] >> (index & 7) & 1;
}

inline void expandBits(const uint8_t *bits, uint64_t first, uint32_t rows, uint8_t *out) {
  uint32_t i = 0;
  for (; i < rows && ((first + i) & 7) != 0; ++i) {
    out[i] = bitAt(bits, first + i);
  }
  for (; i + 8 <= rows; i += 8) {
    // A copy of the byte in each byte of a word, each masked to its own bit, and then not-zero to
    // one.
    uint64_t bit = bits[(first + i) >> 3] * 0x0101010101010101ull & 0x8040201008040201ull;
    uint64_t carried = (bit & 0x7f7f7f7f7f7f7f7full) + 0x7f7f7f7f7f7f7f7full;
    uint64_t word = ((bit | carried) >> 7) & 0x0101010101010101ull;
    memcpy(out + i, &word, 8);
  }
  for (; i < rows; ++i) {
    out[i] = bitAt(bits, first + i);
  }
}

/// The string of row `row` of an HR_OFFSETS segment; reads 4 bytes of its text whatever its length.
inline HrString stringAt(const HrSegment &segment, uint64_t row) {
  const uint32_t *offsets = static_cast<const uint32_t *>(segment.data);
  HrString text;
  text.length = offsets[row + 1] - offsets[row];
  text.data = segment.heap + offsets[row];
  uint32_t prefix;
  memcpy(&prefix, text.data, 4);
  prefix = text.length >= 4 ? prefix : prefix & ((1u << (8 * text.length)) - 1);
  memcpy(text.prefix, &prefix, 4);
  return text;
}

template <typename Value> constexpr bool isByte = sizeof(Value) == 1;
template <typename Value> constexpr bool isString = sizeof(Value) == 16;

template <typename Value>
inline int32_t lookupIndices(const uint32_t *codes, uint32_t rows, const Value *table,
                             uint32_t entries, Value *out) {
  uint32_t max = 0;
  for (uint32_t i = 0; i < rows; ++i) {
    max = codes[i] > max ? codes[i] : max;
  }
  if (rows != 0 && max >= entries) {
    return HR_ERROR_CORRUPT;
  }
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = table[codes[i]];
  }
  return HR_OK;
}

template <typename Value> int32_t decode(HrCursor *cursor, uint32_t rows, void *target) {
  if (rows == 0) {
    return HR_OK;
  }
  if (!holdsRows(cursor, rows)) {
    return HR_ERROR_CORRUPT;
  }
  Value *out = static_cast<Value *>(target);
  const HrSegment &segment = currentSegment(cursor);
  const HrColumn &column = *cursor->column;
  const Value *dictionary = static_cast<const Value *>(column.dictionary);
  const uint32_t first = cursor->row;
  switch (segment.encoding) {
  case HR_CODES: {
    LookupSink<Value> sink{dictionary, column.dictionaryCount, out};
    return takeCodes(cursor, rows, sink);
  }
  case HR_VALUES:
    memcpy(out, static_cast<const Value *>(segment.data) + first, uint64_t{rows} * sizeof(Value));
    break;
  case HR_INDICES: {
    int32_t error = lookupIndices(static_cast<const uint32_t *>(segment.data) + first, rows,
                                  dictionary, column.dictionaryCount, out);
    if (error != HR_OK) {
      return error;
    }
    break;
  }
  case HR_BITMAP:
    if constexpr (isByte<Value>) {
      expandBits(static_cast<const uint8_t *>(segment.data), first, rows, out);
      break;
    }
    return HR_ERROR_CORRUPT;
  case HR_OFFSETS:
    if constexpr (isString<Value>) {
      for (uint32_t i = 0; i < rows; ++i) {
        HrString text = stringAt(segment, uint64_t{first} + i);
        memcpy(out + i, &text, sizeof text);
      }
      break;
    }
    return HR_ERROR_CORRUPT;
  default:
    return HR_ERROR_CORRUPT;
  }
  cursor->row += rows;
  return HR_OK;
}

int32_t cursorSkip(HrCursor *cursor, uint32_t rows) {
  if (rows == 0) {
    return HR_OK;
  }
  if (!holdsRows(cursor, rows)) {
    return HR_ERROR_CORRUPT;
  }
  if (currentSegment(cursor).encoding == HR_CODES) {
    SkipSink sink;
    return takeCodes(cursor, rows, sink);
  }
  cursor->row += rows;
  return HR_OK;
}

/// Before the morsel's first row. Pages were checked when they were loaded, so skipping goes well.
void cursorOpenAt(HrCursor *cursor, const HrColumn *column) {
  cursorOpen(cursor, column);
  cursorSkip(cursor, column->skip);
}

template <typename Value>
int32_t decodeSelected(HrCursor *cursor, uint32_t rows, const uint16_t *selection,
                       uint32_t selected, void *target) {
  if (selected == 0) {
    return cursorSkip(cursor, rows);
  }
  if (!holdsRows(cursor, rows) || selection[selected - 1] >= rows) {
    return HR_ERROR_CORRUPT;
  }
  Value *out = static_cast<Value *>(target);
  const HrSegment &segment = currentSegment(cursor);
  const HrColumn &column = *cursor->column;
  const Value *dictionary = static_cast<const Value *>(column.dictionary);
  const uint32_t first = cursor->row;
  switch (segment.encoding) {
  case HR_CODES: {
    if (selected == rows) {
      LookupSink<Value> all{dictionary, column.dictionaryCount, out};
      return takeCodes(cursor, rows, all);
    }
    if (selected >= rows / 4) {
      return decodeSelectedDense(cursor, rows, dictionary, column.dictionaryCount, selection,
                                 selected, out);
    }
    SelectedSink<Value> sink{
        dictionary, column.dictionaryCount, selection, selection + selected, out, 0};
    return takeCodes(cursor, rows, sink);
  }
  case HR_VALUES: {
    gatherSelected(static_cast<const Value *>(segment.data) + first, 0, selection, selected, out);
    break;
  }
  case HR_INDICES: {
    const uint32_t *codes = static_cast<const uint32_t *>(segment.data) + first;
    for (uint32_t i = 0; i < selected; ++i) {
      uint32_t code = codes[selection[i]];
      if (code >= column.dictionaryCount) {
        return HR_ERROR_CORRUPT;
      }
      out[i] = dictionary[code];
    }
    break;
  }
  case HR_BITMAP:
    if constexpr (isByte<Value>) {
      for (uint32_t i = 0; i < selected; ++i) {
        out[i] = bitAt(static_cast<const uint8_t *>(segment.data), uint64_t{first} + selection[i]);
      }
      break;
    }
    return HR_ERROR_CORRUPT;
  case HR_OFFSETS:
    if constexpr (isString<Value>) {
      for (uint32_t i = 0; i < selected; ++i) {
        HrString text = stringAt(segment, uint64_t{first} + selection[i]);
        memcpy(out + i, &text, sizeof text);
      }
      break;
    }
    return HR_ERROR_CORRUPT;
  default:
    return HR_ERROR_CORRUPT;
  }
  cursor->row += rows;
  return HR_OK;
}

template <typename Value>
int32_t decodeMapped(HrCursor *cursor, uint32_t rows, const void *map, void *target) {
  if (rows == 0) {
    return HR_OK;
  }
  if (!holdsRows(cursor, rows)) {
    return HR_ERROR_CORRUPT;
  }
  Value *out = static_cast<Value *>(target);
  const HrSegment &segment = currentSegment(cursor);
  const uint32_t entries = cursor->column->dictionaryCount;
  const Value *table = static_cast<const Value *>(map);
  if (segment.encoding == HR_CODES) {
    LookupSink<Value> sink{table, entries, out};
    return takeCodes(cursor, rows, sink);
  }
  if (segment.encoding != HR_INDICES) {
    return HR_ERROR_CORRUPT;
  }
  int32_t error = lookupIndices(static_cast<const uint32_t *>(segment.data) + cursor->row, rows,
                                table, entries, out);
  cursor->row += rows;
  return error;
}

int32_t decodeValidity(const HrCursor *cursor, uint32_t rows, uint8_t *out) {
  if (rows == 0) {
    return HR_OK;
  }
  if (!holdsRows(cursor, rows)) {
    return HR_ERROR_CORRUPT;
  }
  const uint8_t *validity = currentSegment(cursor).validity;
  if (validity) {
    expandBits(validity, cursor->row, rows, out);
  } else {
    memset(out, 1, rows);
  }
  return HR_OK;
}

} // namespace
} // namespace headrace::primitives
