// The columns of chunks that an order is by, as rows that RowOrder compares.
#pragma once

#include "runtime/exec/chunk/chunk.h"
#include "runtime/exec/rows/row_order.h"

#include <span>
#include <vector>

namespace headrace::exec {

/// Purpose: reads the keys of rows. Thread-safe after construction.
class OrderKeys {
public:
  OrderKeys(const plan::Schema &schema, const std::vector<plan::OrderKey> &order);

  /// The key columns alone, and where they are among all.
  const plan::Schema &schema() const { return schema_; }
  std::span<const int32_t> columns() const { return columns_; }
  std::span<const int32_t> ownColumns() const { return own_; }
  const RowOrder &order() const { return order_; }
  uint32_t rowBytes() const { return state_.rowBytes; }

  /// RowOrder::prefix() of the chunk's rows from `begin` on.
  void prefixes(const Chunk &chunk, uint32_t begin, std::span<uint64_t> prefixes) const;
  /// The keys of a row of a chunk that has them at these columns. Strings point into the chunk.
  void read(const Chunk &chunk, std::span<const int32_t> columns, uint32_t row, uint8_t *to) const;

private:
  static plan::State stateOf(const plan::Schema &schema, const std::vector<plan::OrderKey> &order);

  plan::State state_;
  RowOrder order_;
  plan::Schema schema_;
  std::vector<int32_t> columns_, own_;
};

} // namespace headrace::exec
