// The files in which rows of a rank wait that memory has no room for.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace headrace::exec {

/// Writes and reads some of the bytes, as pwrite and pread do. Tests have one that fails.
class SpillDisk {
public:
  virtual ~SpillDisk() = default;
  virtual ssize_t write(int descriptor, std::span<const uint8_t> bytes, uint64_t offset);
  virtual ssize_t read(int descriptor, std::span<uint8_t> bytes, uint64_t offset);
};

struct SpillOptions {
  std::string directory;  ///< empty: $TMPDIR, or /var/tmp
  int64_t limitBytes = 0; ///< of one rank; 0: what the disk has
  std::shared_ptr<SpillDisk> disk = std::make_shared<SpillDisk>();
};

/// Purpose: extents of bytes, written once, read as often as wished, then used again. They lie in
/// as many files as writers were at work at once, since a file takes the bytes of one at a time.
/// Files have no name: they go with the process, however that ends. Thread-safe. Errors of the disk
/// are kIo and say what to change; bytes that come back changed are kCorrupt.
class SpillFile {
public:
  struct Extent {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t checksum = 0;
    size_t file = 0;
  };

  explicit SpillFile(SpillOptions options);
  ~SpillFile();
  SpillFile(const SpillFile &) = delete;
  SpillFile &operator=(const SpillFile &) = delete;

  /// Blocks. Files are made as they are needed.
  Expected<Extent> write(std::span<const uint8_t> bytes);
  /// Blocks; `out` has room for extent.bytes.
  Status read(const Extent &extent, uint8_t *out) const;
  /// What is no longer needed: the next writes take its place.
  void release(const Extent &extent);

  /// All that was written so far.
  int64_t writtenBytes() const;

private:
  struct File {
    int descriptor = -1;
    int writers = 0;
    std::multimap<uint64_t, uint64_t> free; ///< bytes -> offset
    uint64_t end = 0;
  };
  Status openFile();
  Expected<size_t> chooseFile();
  Expected<Extent> place(uint64_t bytes);
  Status writeAt(const Extent &extent, std::span<const uint8_t> bytes) const;
  int descriptorOf(const Extent &extent) const;
  Status failed(const char *what, int error) const;

  const SpillOptions options_;
  const std::string directory_;
  mutable std::mutex mutex_;
  std::vector<File> files_;
  int64_t written_ = 0;
};

} // namespace headrace::exec
