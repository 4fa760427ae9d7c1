// Rows that are larger than a message of an exchange: in parts on their way, whole where they
// arrive.
#pragma once

#include "runtime/communication/exchange.h"
#include "runtime/exec/memory/memory_account.h"

#include <memory>
#include <span>
#include <vector>

namespace headrace::exec {

/// The tag of a message: what it is, and of a part of a row the bytes of the whole row, else 0.
constexpr uint64_t messageTag(uint64_t kind, uint64_t rowBytes) { return kind | rowBytes << 8; }
constexpr uint64_t messageKind(uint64_t tag) { return tag & 0xff; }
constexpr uint64_t rowBytesOf(uint64_t tag) { return tag >> 8; }

/// One row as encodePart() made it; keeps what its memory is charged to.
struct WholeRow {
  std::shared_ptr<MemoryAccount> account;
  Block block;
  uint64_t bytes = 0;

  std::span<const uint8_t> body() const {
    return {reinterpret_cast<const uint8_t *>(block.data()), static_cast<size_t>(bytes)};
  }
};

/// Purpose: puts rows together from the parts that peers send, each one part after the other.
/// Ownership: a row that is whole is the caller's; its memory is charged to `account`.
/// Thread-safety: one thread at a time.
class RowParts {
public:
  RowParts(std::shared_ptr<MemoryAccount> account, size_t peers)
      : account_(std::move(account)), begun_(peers) {}

  /// The row whose last part this message is; null if there are more, or if it is no part.
  /// kCorrupt: the message is not the next part of what its peer has begun. kMemory.
  Expected<std::shared_ptr<const WholeRow>> add(const ExchangeMessage &message);

private:
  struct Begun {
    std::shared_ptr<WholeRow> row;
    uint64_t filled = 0;
  };
  const std::shared_ptr<MemoryAccount> account_;
  std::vector<Begun> begun_; ///< one a peer
};

} // namespace headrace::exec
