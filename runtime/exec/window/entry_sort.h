// Sorts entries of a window that fit a worker's cache.
#pragma once

#include "runtime/exec/memory/scratch_array.h"
#include "runtime/exec/window/entry_order.h"

namespace headrace::exec {

/// Purpose: sorts by distributing, and compares only what that leaves undecided. One a worker.
class EntrySort {
public:
  EntrySort(const EntryOrder &order, std::shared_ptr<MemoryAccount> account)
      : order_(order), other_(std::move(account)) {}

  Status sort(std::span<Entry> entries);

private:
  const EntryOrder &order_;
  ScratchArray<Entry> other_;
};

} // namespace headrace::exec
