// Layout, copying of bits and offsets, and checks on the way in.
#include "runtime/exec/chunk/chunk_codec.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/base/check.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

struct WireColumn {
  uint32_t data = 0;
  uint32_t validity = 0;
  uint32_t heap = 0;
  uint32_t heapBytes = 0;
};
struct WireHeader {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t orderWords = 0;
};

uint64_t padded(uint64_t bytes) { return (bytes + HR_PADDING + 63) & ~uint64_t(63); }
uint64_t bitmapBytes(uint64_t rows) { return (rows + 7) / 8; }

uint64_t dataBytes(HrType type, uint64_t rows) {
  return type == HR_STRING ? (rows + 1) * 4
         : type == HR_BOOL ? bitmapBytes(rows)
                           : rows * abi::bytesOf(type);
}

uint64_t orderOffset(size_t columns) { return sizeof(WireHeader) + columns * sizeof(WireColumn); }
uint64_t headerBytes(size_t columns, size_t orderWords) {
  return (orderOffset(columns) + orderWords * sizeof(uint32_t) + 63) & ~uint64_t(63);
}

/// Of the order of some rows of a chunk: that of the chunk, and the number of the first.
size_t orderWords(const Chunk &chunk) { return chunk.order.empty() ? 0 : chunk.order.size() + 1; }

uint64_t heapSpan(const HrSegment &segment, uint32_t firstRow, uint32_t rows) {
  const auto *offsets = static_cast<const uint32_t *>(segment.data);
  return offsets[firstRow + rows] - offsets[firstRow];
}

void copyBits(const uint8_t *from, uint32_t firstBit, uint32_t count, uint8_t *to) {
  if (firstBit % 8 == 0) {
    std::memcpy(to, from + firstBit / 8, bitmapBytes(count));
    return;
  }
  std::memset(to, 0, bitmapBytes(count));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t bit = firstBit + i;
    to[i / 8] |= static_cast<uint8_t>((from[bit / 8] >> (bit % 8) & 1) << (i % 8));
  }
}

/// What is placed in a whole, of which a body has a part.
class PartWriter {
public:
  PartWriter(std::span<uint8_t> body, uint64_t first) : body_(body), first_(first) {}
  void put(uint64_t at, const void *from, uint64_t bytes) const {
    const uint64_t begin = std::max(at, first_);
    const uint64_t end = std::min(at + bytes, first_ + body_.size());
    if (begin < end) {
      std::memcpy(body_.data() + (begin - first_),
                  static_cast<const uint8_t *>(from) + (begin - at), end - begin);
    }
  }

private:
  std::span<uint8_t> body_;
  uint64_t first_;
};

} // namespace

uint64_t encodedBytes(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow,
                      uint32_t rows) {
  uint64_t bytes = headerBytes(schema.columns.size(), orderWords(chunk));
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const HrSegment &segment = chunk.segments[c];
    bytes += padded(dataBytes(schema.columns[c].type, rows));
    if (segment.validity) {
      bytes += padded(bitmapBytes(rows));
    }
    if (schema.columns[c].type == HR_STRING) {
      bytes += padded(heapSpan(segment, firstRow, rows));
    }
  }
  return bytes;
}

uint32_t rowsThatFit(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow,
                     uint64_t capacityBytes) {
  uint32_t most = chunk.rows - firstRow;
  if (encodedBytes(chunk, schema, firstRow, most) <= capacityBytes) {
    return most;
  }
  uint32_t least = 0; // fits; most does not
  while (most - least > 1) {
    uint32_t middle = least + (most - least) / 2;
    (encodedBytes(chunk, schema, firstRow, middle) <= capacityBytes ? least : most) = middle;
  }
  // Whole bytes of bitmaps copy fast.
  return least > 64 ? least & ~63u : least;
}

void encodeRows(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow, uint32_t rows,
                uint8_t *base) {
  const size_t words = orderWords(chunk);
  WireHeader header{rows, static_cast<uint32_t>(schema.columns.size()),
                    static_cast<uint32_t>(words)};
  std::memcpy(base, &header, sizeof header);
  if (words != 0) {
    uint8_t *order = base + orderOffset(schema.columns.size());
    std::memcpy(order, chunk.order.data(), (words - 1) * sizeof(uint32_t));
    std::memcpy(order + (words - 1) * sizeof(uint32_t), &firstRow, sizeof firstRow);
  }
  uint64_t at = headerBytes(schema.columns.size(), words);
  auto reserve = [&](uint64_t bytes) {
    uint64_t start = at;
    at += padded(bytes);
    return static_cast<uint32_t>(start);
  };
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const HrSegment &segment = chunk.segments[c];
    const auto *data = static_cast<const uint8_t *>(segment.data);
    HrType type = schema.columns[c].type;
    WireColumn wire;
    wire.data = reserve(dataBytes(type, rows));
    if (type == HR_BOOL) {
      copyBits(data, firstRow, rows, base + wire.data);
    } else if (type == HR_STRING) {
      const auto *offsets = static_cast<const uint32_t *>(segment.data) + firstRow;
      auto *out = reinterpret_cast<uint32_t *>(base + wire.data);
      for (uint32_t i = 0; i <= rows; ++i) {
        out[i] = offsets[i] - offsets[0];
      }
      wire.heapBytes = out[rows];
      wire.heap = reserve(wire.heapBytes);
      if (wire.heapBytes != 0) {
        std::memcpy(base + wire.heap, segment.heap + offsets[0], wire.heapBytes);
      }
    } else {
      uint64_t width = abi::bytesOf(type);
      std::memcpy(base + wire.data, data + firstRow * width, rows * width);
    }
    if (segment.validity) {
      wire.validity = reserve(bitmapBytes(rows));
      copyBits(segment.validity, firstRow, rows, base + wire.validity);
    }
    std::memcpy(base + sizeof header + c * sizeof wire, &wire, sizeof wire);
  }
}

void encodeRows(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow, uint32_t rows,
                const BufferRef &body) {
  const auto bytes = static_cast<int64_t>(encodedBytes(chunk, schema, firstRow, rows));
  HR_CHECK(bytes <= body.capacity());
  encodeRows(chunk, schema, firstRow, rows, reinterpret_cast<uint8_t *>(body.mutableData()));
  body.resize(bytes);
  body.seal();
}

void encodePart(const Chunk &chunk, const plan::Schema &schema, uint32_t row, uint64_t first,
                const BufferRef &body) {
  const uint64_t whole = encodedBytes(chunk, schema, row, 1);
  HR_CHECK(first < whole && whole <= kRowBytesMax);
  body.resize(
      static_cast<int64_t>(std::min(whole - first, static_cast<uint64_t>(body.capacity()))));
  const PartWriter part(
      {reinterpret_cast<uint8_t *>(body.mutableData()), static_cast<size_t>(body.size())}, first);
  const size_t words = orderWords(chunk);
  const WireHeader header{1, static_cast<uint32_t>(schema.columns.size()),
                          static_cast<uint32_t>(words)};
  part.put(0, &header, sizeof header);
  if (words != 0) {
    const uint64_t order = orderOffset(schema.columns.size());
    part.put(order, chunk.order.data(), (words - 1) * sizeof(uint32_t));
    part.put(order + (words - 1) * sizeof(uint32_t), &row, sizeof row);
  }
  uint64_t at = headerBytes(schema.columns.size(), words);
  auto place = [&](const void *from, uint64_t bytes) {
    const uint64_t start = at;
    part.put(start, from, bytes);
    at += padded(bytes);
    return static_cast<uint32_t>(start);
  };
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    const HrSegment &segment = chunk.segments[c];
    const HrType type = schema.columns[c].type;
    WireColumn wire;
    uint8_t bit = 0;
    if (type == HR_BOOL) {
      copyBits(static_cast<const uint8_t *>(segment.data), row, 1, &bit);
      wire.data = place(&bit, 1);
    } else if (type == HR_STRING) {
      wire.heapBytes = static_cast<uint32_t>(heapSpan(segment, row, 1));
      const uint32_t offsets[] = {0, wire.heapBytes};
      wire.data = place(offsets, sizeof offsets);
      wire.heap =
          place(segment.heap + static_cast<const uint32_t *>(segment.data)[row], wire.heapBytes);
    } else {
      const uint64_t width = abi::bytesOf(type);
      wire.data = place(static_cast<const uint8_t *>(segment.data) + row * width, width);
    }
    if (segment.validity) {
      copyBits(segment.validity, row, 1, &bit);
      wire.validity = place(&bit, 1);
    }
    part.put(sizeof header + c * sizeof wire, &wire, sizeof wire);
  }
  body.seal();
}

Expected<std::shared_ptr<Chunk>> decodeRows(std::span<const uint8_t> body,
                                            const plan::Schema &schema) {
  const uint8_t *base = body.data();
  const uint64_t size = body.size();
  auto corrupt = [](const char *what) {
    return makeError(ErrorKind::kCorrupt, "exchange message: ", what);
  };
  WireHeader header;
  if (size < headerBytes(schema.columns.size(), 0)) {
    return corrupt("shorter than its header");
  }
  std::memcpy(&header, base, sizeof header);
  if (header.columns != schema.columns.size() || header.rows > INT32_MAX) {
    return corrupt("another schema");
  }
  if (size < headerBytes(schema.columns.size(), header.orderWords)) {
    return corrupt("shorter than its order");
  }
  auto fits = [&](uint64_t offset, uint64_t bytes) {
    return offset % 64 == 0 && offset <= size && padded(bytes) <= size - offset;
  };
  auto chunk = std::make_shared<Chunk>();
  chunk->rows = header.rows;
  if (header.orderWords != 0) {
    chunk->order.resize(header.orderWords);
    std::memcpy(chunk->order.data(), base + orderOffset(schema.columns.size()),
                header.orderWords * sizeof(uint32_t));
  }
  for (size_t c = 0; c < schema.columns.size(); ++c) {
    WireColumn wire;
    std::memcpy(&wire, base + sizeof header + c * sizeof wire, sizeof wire);
    HrType type = schema.columns[c].type;
    HrSegment segment{};
    segment.rows = header.rows;
    segment.encoding = type == HR_STRING ? HR_OFFSETS : type == HR_BOOL ? HR_BITMAP : HR_VALUES;
    segment.bytes = dataBytes(type, header.rows);
    if (!fits(wire.data, segment.bytes) ||
        (wire.validity != 0 && !fits(wire.validity, bitmapBytes(header.rows)))) {
      return corrupt("a column exceeds the body");
    }
    segment.data = base + wire.data;
    segment.validity = wire.validity != 0 ? base + wire.validity : nullptr;
    if (type == HR_STRING) {
      const auto *offsets = reinterpret_cast<const uint32_t *>(segment.data);
      if (!fits(wire.heap, wire.heapBytes) || offsets[0] != 0 ||
          offsets[header.rows] != wire.heapBytes ||
          !std::is_sorted(offsets, offsets + header.rows + 1)) {
        return corrupt("string offsets");
      }
      segment.heap = base + wire.heap;
    }
    chunk->segments.push_back(segment);
    chunk->heapBytes.push_back(wire.heapBytes);
  }
  return chunk;
}

Expected<std::shared_ptr<Chunk>> decodeRows(const BufferRef &body, const plan::Schema &schema) {
  HR_ASSIGN_OR_RETURN(
      std::shared_ptr<Chunk> chunk,
      decodeRows({reinterpret_cast<const uint8_t *>(body.data()), static_cast<size_t>(body.size())},
                 schema));
  chunk->pooled = true;
  chunk->pins.push_back(std::make_shared<BufferRef>(body));
  return chunk;
}

} // namespace headrace::exec
