// A file mapped into memory, read only.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::storage {

/// What the file system says about a file; a difference means another or a changed file.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modifiedNanoseconds = 0;

  bool operator==(const FileStamp &) const = default;
};

Expected<FileStamp> stampOf(const std::string &path);

/// Unmapped with the last reference. A file cut short while it is mapped ends the process (SIGBUS):
/// files are replaced, not rewritten, while queries run.
class MappedFile {
public:
  static Expected<std::shared_ptr<const MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const uint8_t *data() const { return data_; }
  uint64_t bytes() const { return stamp_.bytes; }
  /// Bytes that can be read, past the end too (to the end of the last page of memory).
  uint64_t readableBytes() const { return readableBytes_; }
  const FileStamp &stamp() const { return stamp_; }

private:
  MappedFile() = default;
  const uint8_t *data_ = nullptr;
  uint64_t readableBytes_ = 0;
  FileStamp stamp_;
};

} // namespace headrace::storage
