// Rows of a fixed size in blocks: what group tables and row buffers keep their rows
// in.
#pragma once

#include "runtime/exec/memory/memory_account.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace headrace::exec {

/// A run of rows side by side in memory.
struct RowSpan {
  uint8_t *rows = nullptr;
  uint64_t count = 0;
};

/// Purpose: appends rows; never moves one. Not thread-safe. Owns the memory.
class RowStore {
public:
  RowStore(std::shared_ptr<MemoryAccount> account, uint64_t rowBytes)
      : account_(std::move(account)), rowBytes_(rowBytes) {}
  RowStore(RowStore &&) = default;
  RowStore &operator=(RowStore &&other) noexcept;
  ~RowStore() { blocks_.clear(); }

  /// Room for rows not yet counted: [next, end) of the newest block.
  uint8_t *next() const { return next_; }
  uint8_t *end() const { return end_; }
  uint64_t rowBytes() const { return rowBytes_; }
  /// Says where the writer has come to.
  void setNext(uint8_t *next) { next_ = next; }
  /// A new block; afterwards next() < end(). What the old one had left is lost.
  Status grow();
  /// One row, contents undefined.
  Expected<uint8_t *> append();

  /// Rows that the blocks have room for.
  uint64_t capacity() const { return capacity_; }

  /// All rows so far, in the order they were appended.
  std::vector<RowSpan> spans() const;

private:
  struct Piece {
    Block block;
    uint64_t count; ///< rows, of full pieces
  };
  std::shared_ptr<MemoryAccount> account_;
  uint64_t rowBytes_;
  std::vector<Piece> blocks_;
  uint8_t *next_ = nullptr;
  uint8_t *end_ = nullptr;
  uint64_t capacity_ = 0;
};

} // namespace headrace::exec
