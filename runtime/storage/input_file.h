// A file that is read by ranges. What is read lies in memory of the reader, so that memory is
// counted where it is used, and a file that is cut short is an error and not a fault.
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

/// Purpose: an open file. Closed with the last reference. Thread-safe.
class InputFile {
public:
  /// kUser: not a regular file; kIo: it cannot be opened.
  static Expected<std::shared_ptr<const InputFile>> open(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return path_; }
  const FileStamp &stamp() const { return stamp_; }
  uint64_t bytes() const { return stamp_.bytes; }

  /// Fills out[0, bytes) from `offset` on; blocks. kIo: the file ends before, or the system says
  /// so.
  Status read(uint64_t offset, uint64_t bytes, void *out) const;

private:
  InputFile(int descriptor, FileStamp stamp, std::string path)
      : descriptor_(descriptor), stamp_(stamp), path_(std::move(path)) {}
  const int descriptor_;
  const FileStamp stamp_;
  const std::string path_;
};

} // namespace headrace::storage
