// Offsets, and what goes there.
#include "runtime/exec/gpu/launch_args.h"

#include "runtime/exec/gpu/device_bytes.h"

#include <cstring>

namespace headrace::exec {

namespace {
constexpr size_t kAlign = 64;

void putAll(std::byte *at, const void *values, size_t bytes) {
  if (bytes > 0) {
    std::memcpy(at, values, bytes);
  }
}
} // namespace

int64_t LaunchArgs::take(size_t bytes) {
  const int64_t at = bytes_;
  bytes_ += static_cast<int64_t>((bytes + kAlign - 1) / kAlign * kAlign);
  return at;
}

LaunchArgs::LaunchArgs(size_t states, size_t columns, uint64_t stateRows) {
  take(sizeof(HrArgs));
  morselAt_ = take(sizeof(HrMorsel));
  statesAt_ = take(sizeof(uint64_t) * states);
  columnsAt_ = take(sizeof(HrColumn) * columns);
  rowsAt_ = take(sizeof(uint64_t) * stateRows);
}

void LaunchArgs::write(std::byte *host, uint64_t device, const HrMorsel &morsel,
                       std::span<const HrColumn> columns, uint64_t literals,
                       std::span<const uint64_t> states) const {
  auto there = [&](int64_t offset) { return device + static_cast<uint64_t>(offset); };
  HrArgs args = {};
  args.morsel = devicePointer<const HrMorsel>(there(morselAt_));
  args.literals = devicePointer<const void>(literals);
  args.states = devicePointer<void *const>(there(statesAt_));
  putBytes(host, args);
  putAll(host + statesAt_, states.data(), states.size_bytes());
  HrMorsel written = {};
  written.rows = morsel.rows;
  written.columnCount = morsel.columnCount;
  written.firstRow = morsel.firstRow;
  written.columns = devicePointer<const HrColumn>(there(columnsAt_));
  putAll(host + columnsAt_, columns.data(), columns.size_bytes());
  if (morsel.stateRows) {
    written.stateRows = devicePointer<const uint8_t *const>(there(rowsAt_));
    putAll(host + rowsAt_, morsel.stateRows, sizeof(uint64_t) * morsel.rows);
  }
  putBytes(host + morselAt_, written);
}

} // namespace headrace::exec
