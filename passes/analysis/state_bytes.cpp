// The layout of rows and directories, times the rows.
#include "passes/analysis/state_bytes.h"

#include "passes/analysis/physical.h"
#include "runtime/abi/type_bytes.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace headrace::analysis {

namespace {

/// What the first row of a copy costs: the smallest block of memory.
constexpr uint64_t kBlockBytes = 64 << 10;
/// A group table's smallest directory, and what an entry of a directory costs.
constexpr uint64_t kGroupDirectoryBytes = 64 << 10;
constexpr uint64_t kEntryBytes = 8;
/// Of a row that a window sorts: its entry, and the entry's place in what it is sorted into.
constexpr uint64_t kSortedBytes = 2 * 16;

uint64_t times(uint64_t rows, uint64_t bytes) {
  uint64_t out;
  return __builtin_mul_overflow(rows, bytes, &out) ? UINT64_MAX : out;
}

uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t out;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

} // namespace

uint64_t rangeBytes(const plan::State &state) {
  switch (state.directory) {
  case plan::Directory::kHash:
    return 0;
  case plan::Directory::kArray:
    return times(state.extent, kEntryBytes);
  case plan::Directory::kRanks:
    return state.extent / 4; // two bits a key
  }
  return 0;
}

plan::Cardinality bytesOf(pipe::StateOp op) {
  plan::State state = layoutState(op);
  uint64_t perRow = state.rowBytes;
  plan::Cardinality bytes{kBlockBytes, kBlockBytes, kBlockBytes, UINT64_MAX};
  switch (state.kind) {
  case plan::StateKind::kScalar:
    bytes.max = kBlockBytes;
    return bytes;
  case plan::StateKind::kGroupTable:
    perRow += 2 * kEntryBytes; // the directory is at most half full
    bytes.min = kGroupDirectoryBytes + kBlockBytes;
    break;
  case plan::StateKind::kJoinTable:
    perRow += state.directory == plan::Directory::kArray ? 0 : kEntryBytes;
    bytes.min = kBlockBytes + std::max(kBlockBytes, rangeBytes(state));
    break;
  default:
    break;
  }
  bytes.expected = plus(bytes.min, times(state.rows.expected, perRow));
  bytes.p95 = plus(bytes.min, times(state.rows.p95, perRow));
  return bytes;
}

uint64_t likelyBytes(pipe::StateOp op, double textBytes) {
  const plan::Cardinality rows = cardinalityOf(op.getHoldsAttr());
  const plan::Cardinality bytes = bytesOf(op);
  const double share =
      rows.expected == 0
          ? 1
          : std::sqrt(static_cast<double>(rows.p95) / static_cast<double>(rows.expected));
  const auto likely = [](double count) { return static_cast<uint64_t>(std::min(count, 1e18)); };
  const double expected = static_cast<double>(bytes.expected - bytes.min) +
                          textBytes * static_cast<double>(rows.expected);
  const uint64_t held = plus(bytes.min, likely(expected * share));
  switch (op.getKind()) {
  case pipe::StateKind::Group: // twice while the workers' copies are merged
    return plus(held, plus(bytes.min, likely(expected)));
  case pipe::StateKind::Window:
    return plus(held, likely(kSortedBytes * static_cast<double>(rows.expected) * share));
  default:
    return held;
  }
}

uint64_t bytesOf(const plan::Schema &schema) {
  uint64_t bytes = 1;
  for (const plan::Column &column : schema.columns) {
    bytes += abi::bytesOf(column.type) + column.nullable;
  }
  return bytes;
}

} // namespace headrace::analysis
