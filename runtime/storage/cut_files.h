// What happens when a file becomes shorter while it is mapped: zeros are read instead of a SIGBUS
// that ends the process, and whoever reads the mapping is told.
#pragma once

#include <atomic>
#include <cstddef>

namespace headrace::storage {

/// Purpose: keeps one mapping known to the process's handler of SIGBUS, which puts zero pages where
/// the file has none any more. Ownership: the mapping is the caller's and outlives this.
/// Thread-safety: full; `cut` may be read at any time. A handler that was there before gets all
/// other faults.
class GuardedMapping {
public:
  GuardedMapping(const void *begin, size_t bytes);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping &) = delete;
  GuardedMapping &operator=(const GuardedMapping &) = delete;

  /// The file was cut short since it was mapped: what was read may be zeros.
  bool cut() const { return entry_->cut.load(std::memory_order_acquire); }

  /// One for each mapping, found by the handler; used again, never freed.
  struct Entry {
    std::atomic<const char *> begin{nullptr}; ///< null: free
    std::atomic<size_t> bytes{0};
    std::atomic<bool> cut{false};
    Entry *next = nullptr;
  };

private:
  Entry *entry_;
};

} // namespace headrace::storage
