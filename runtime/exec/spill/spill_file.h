// The file in which rows of a rank wait that memory has no room for.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace headrace::exec {

struct SpillOptions {
  std::string directory;  ///< empty: $TMPDIR, or /var/tmp
  int64_t limitBytes = 0; ///< of one file; 0: what the disk has
};

/// Purpose: extents of bytes, written once, read as often as wished, then used again. The file has
/// no name: it goes with the process, however that ends. Thread-safe. Errors of the disk are kIo
/// and say what to change; bytes that come back changed are kCorrupt.
class SpillFile {
public:
  struct Extent {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t checksum = 0;
  };

  explicit SpillFile(SpillOptions options) : options_(std::move(options)) {}
  ~SpillFile();
  SpillFile(const SpillFile &) = delete;
  SpillFile &operator=(const SpillFile &) = delete;

  /// Blocks. The file is made with the first.
  Expected<Extent> write(std::span<const uint8_t> bytes);
  /// Blocks; `out` has room for extent.bytes.
  Status read(const Extent &extent, uint8_t *out) const;
  /// What is no longer needed: the next writes take its place.
  void release(const Extent &extent);

  /// All that was written so far.
  int64_t writtenBytes() const;

private:
  Status open();
  Expected<uint64_t> place(uint64_t bytes);
  Status failed(const char *what, int error) const;

  const SpillOptions options_;
  std::string directory_;
  int descriptor_ = -1;
  mutable std::mutex mutex_;
  std::multimap<uint64_t, uint64_t> free_; ///< bytes -> offset
  uint64_t end_ = 0;
  int64_t written_ = 0;
};

} // namespace headrace::exec
