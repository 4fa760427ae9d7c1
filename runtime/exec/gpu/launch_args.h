// LaunchArgs: the arguments of a kernel for threads, for a block of memory.
#pragma once

#include "runtime/abi/kernel.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::exec {

/// Purpose: where they lie: HrArgs | HrMorsel | states | HrColumn… | pointers to rows of a state.
/// Thread-safety: of a plain value.
class LaunchArgs {
public:
  /// `stateRows`: how many row pointers follow.
  LaunchArgs(size_t states, size_t columns, uint64_t stateRows);
  int64_t bytes() const { return bytes_; }
  /// At `host`, which the device will have at `device`. `columns` (in place of the morsel's), row
  /// pointers, `literals` and `states` are addresses there.
  void write(std::byte *host, uint64_t device, const HrMorsel &morsel,
             std::span<const HrColumn> columns, uint64_t literals,
             std::span<const uint64_t> states) const;

private:
  int64_t take(size_t bytes);
  int64_t bytes_ = 0;
  int64_t morselAt_, statesAt_, columnsAt_, rowsAt_;
};

} // namespace headrace::exec
