// The place on disk where a process keeps what memory has no room for, and how much of it is taken.
#pragma once

#include "runtime/base/status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace {

/// Purpose: copies of files that are read in another form (plain CSV, rows of JSON) lie where rows
/// of ranks wait, and count against the same limit. One for a process. Thread-safe.
class TemporarySpace {
public:
  static TemporarySpace &instance();

  /// What holds from now on; files that are there stay. `directory`: empty: $TMPDIR, or /var/tmp;
  /// `limitBytes`: 0: what the disk has.
  void use(std::string directory, int64_t limitBytes);
  std::string directory() const;

  /// Counts bytes of copies. kMemory, and nothing is counted, if they exceed the limit.
  Status take(int64_t bytes);
  void give(int64_t bytes) { copied_ -= bytes; }
  /// Of copies; those that nobody reads are dropped first where otherwise more than `most` were.
  int64_t copiedBytes(int64_t most);

  /// `drop` gives up copies that nobody reads; asked for as long as somebody holds it.
  void add(std::weak_ptr<const std::function<void()>> drop);

private:
  void dropUnread();

  mutable std::mutex mutex_;
  std::string directory_;
  std::atomic<int64_t> limit_ = 0;
  std::atomic<int64_t> copied_ = 0;
  std::vector<std::weak_ptr<const std::function<void()>>> drops_;
};

} // namespace headrace
