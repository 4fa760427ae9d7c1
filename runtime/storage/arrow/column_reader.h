// A column of an Arrow array value by value, and the types that Arrow's are read as.
#pragma once

#include "runtime/base/logical_type.h"

#include <arrow/array.h>
#include <arrow/type.h>

#include <memory>
#include <string>
#include <string_view>

namespace headrace::storage {

struct TableColumn {
  std::string name;
  LogicalType type;
  std::string unsupported;
  bool nullable = false;
};

/// A column read value by value; `valid` first, then one of the others by the column's type.
class ColumnReader {
public:
  virtual ~ColumnReader() = default;
  virtual bool valid(int64_t row) const = 0;
  virtual __int128 integer(int64_t) const { return 0; }
  virtual double real(int64_t) const { return 0; }
  /// Of a list until the next one is read.
  virtual std::string_view text(int64_t) const { return {}; }
};

/// Null for a type that is not read. The array outlives it.
std::unique_ptr<ColumnReader> makeReader(const arrow::Array &array);

/// What a field is read as; `unsupported` says why it is not.
TableColumn describeField(const std::string &name, const arrow::DataType &type);
TableColumn describeField(const arrow::Field &field);

/// How many of the unit that is kept make one of the array's, of times and timestamps.
int64_t unitFactor(const arrow::DataType &type);

} // namespace headrace::storage
