// A file mapped into memory, read only.
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/cut_files.h"

#include <cstdint>
#include <memory>
#include <optional>
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

/// Unmapped with the last reference. Of a file that is cut short while it is mapped zeros are read,
/// and intact() says so: who has read asks it before what was read is believed.
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
  /// kIo if the file was cut short since it was opened.
  Status intact() const;

private:
  MappedFile() = default;
  const uint8_t *data_ = nullptr;
  uint64_t readableBytes_ = 0;
  FileStamp stamp_;
  std::string path_;
  std::optional<GuardedMapping> guard_;
};

} // namespace headrace::storage
