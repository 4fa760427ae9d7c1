// One loop for each type of a column; see runtime/primitives/hash/hash.h.
#include "runtime/exec/skew/key_hashes.h"

#include "runtime/primitives/hash/hash.h"
#include "runtime/primitives/string/string.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

bool bitOf(const uint8_t *bits, uint32_t row) { return (bits[row / 8] >> (row % 8) & 1) != 0; }

uint64_t hashText(const HrSegment &segment, uint32_t row) {
  const auto *offsets = static_cast<const uint32_t *>(segment.data);
  HrString text{};
  text.data = segment.heap + offsets[row];
  text.length = offsets[row + 1] - offsets[row];
  std::memcpy(text.prefix, text.data, std::min<size_t>(text.length, sizeof(text.prefix)));
  return primitives::stringHash(&text);
}

/// The columns of a chunk, one after another.
class Hasher {
public:
  Hasher(uint32_t rows, uint32_t first, uint32_t step, KeyHashes &out)
      : first_(first), step_(step), out_(out) {
    const uint32_t count = first < rows ? (rows - first + step - 1) / step : 0;
    out_.hashes.assign(count, 0);
    out_.null.clear();
  }

  void add(const HrSegment &segment, HrType type) {
    const void *data = segment.data;
    switch (type) {
    case HR_BOOL:
      return addValues(segment, [&](uint32_t row) {
        return primitives::hashInteger(bitOf(static_cast<const uint8_t *>(data), row));
      });
    case HR_I8:
      return addIntegers<int8_t>(segment);
    case HR_I16:
      return addIntegers<int16_t>(segment);
    case HR_I32:
      return addIntegers<int32_t>(segment);
    case HR_I64:
      return addIntegers<int64_t>(segment);
    case HR_I128:
      return addValues(segment, [&](uint32_t row) {
        __int128 value;
        std::memcpy(&value, static_cast<const uint8_t *>(data) + row * sizeof(value),
                    sizeof(value));
        return primitives::hashInteger128(value);
      });
    case HR_F32:
      return addValues(segment, [&](uint32_t row) {
        return primitives::hashDouble(static_cast<const float *>(data)[row]);
      });
    case HR_F64:
      return addValues(segment, [&](uint32_t row) {
        return primitives::hashDouble(static_cast<const double *>(data)[row]);
      });
    case HR_STRING:
      return addValues(segment, [&](uint32_t row) { return hashText(segment, row); });
    }
  }

private:
  template <typename Value> void addIntegers(const HrSegment &segment) {
    addValues(segment, [data = static_cast<const Value *>(segment.data)](uint32_t row) {
      return primitives::hashInteger(data[row]);
    });
  }

  template <typename Hash> void addValues(const HrSegment &segment, Hash hash) {
    if (segment.validity && out_.null.empty()) {
      out_.null.assign(out_.hashes.size(), 0);
    }
    uint32_t row = first_;
    for (size_t i = 0; i < out_.hashes.size(); ++i, row += step_) {
      const bool null = segment.validity && !bitOf(segment.validity, row);
      const uint64_t next = null ? primitives::kNullHash : hash(row);
      out_.hashes[i] = begun_ ? primitives::hashCombine(out_.hashes[i], next) : next;
      if (null) {
        out_.null[i] = 1;
      }
    }
    begun_ = true;
  }

  const uint32_t first_, step_;
  KeyHashes &out_;
  bool begun_ = false; ///< a column has been added
};

} // namespace

void hashKeys(const Chunk &chunk, const plan::Schema &schema, std::span<const int32_t> columns,
              uint32_t first, uint32_t step, KeyHashes &out) {
  Hasher hasher(chunk.rows, first, step, out);
  for (int32_t column : columns) {
    hasher.add(chunk.segments[column], schema.columns[column].type);
  }
}

bool hashesAreExact(const plan::Schema &schema, std::span<const int32_t> columns) {
  // The hash of 64 bits is one to one; of more, some have the same.
  const HrType type = schema.columns[columns.front()].type;
  return columns.size() == 1 && type != HR_STRING && type != HR_I128;
}

} // namespace headrace::exec
