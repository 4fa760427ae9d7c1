// What is in a column of nested values, leaf by leaf, as Parquet has it.
#pragma once

#include <arrow/array.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::storage {

/// Values of one leaf. An entry is a value, or what stands where there is none: a NULL or an empty
/// list of some level.
struct LeafRows {
  std::shared_ptr<arrow::Array> values; ///< neither nested nor an extension
  uint64_t entries = 0;
  /// By entry; empty: each is a value.
  std::vector<uint16_t> definition;
  /// By entry; empty: each begins a row.
  std::vector<uint16_t> repetition;
  /// By value where it lies in `values`; not filled where `isWhole`.
  std::vector<int64_t> places;
  bool isWhole = false; ///< all of `values`, in order
};

/// The leaves of a column in the order of the schema. isNullable: of the column itself.
std::vector<LeafRows> leavesOf(const std::shared_ptr<arrow::Array> &column, bool isNullable);

} // namespace headrace::storage
