// Values of a leaf in the types that Parquet stores.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/parquet/write/leaf_rows.h"

#include <parquet/schema.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headrace::storage {

/// Room that conversions take, to be used again.
struct ValueRoom {
  std::vector<uint8_t> bytes;
  std::vector<std::string_view> views;
};

/// Those of a leaf of numbers, as many as `leaf` has: of the array itself where it stores the same,
/// else in `room`. Number: int32_t, int64_t, float, double, or uint8_t for booleans, 0 and 1.
/// kUnsupported: an array of other values.
template <typename Number>
Expected<std::span<const Number>> numbersOf(const LeafRows &leaf, ValueRoom &room);

/// Texts, bytes, and what Parquet stores as bytes of a fixed length: decimals (the highest byte
/// first), intervals, UUIDs. kData: a number of more than 38 digits, an interval below zero.
Expected<std::span<const std::string_view>>
bytesOf(const LeafRows &leaf, const parquet::ColumnDescriptor &column, ValueRoom &room);

} // namespace headrace::storage
