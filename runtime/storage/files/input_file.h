// A file that is read by ranges. What is read lies in memory of the reader, so that memory is
// counted where it is used, and a file that is cut short is an error and not a fault.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::storage {

/// What the file system or a store says about a file; a difference means another or a changed file.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modifiedNanoseconds = 0;
  std::string tag = {}; ///< of a store (ETag); empty: it gives none

  bool operator==(const FileStamp &) const = default;
};

/// Purpose: an open file. Closed with the last reference. Thread-safe.
class InputFile {
public:
  virtual ~InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  /// As messages show it.
  const std::string &path() const { return path_; }
  const FileStamp &stamp() const { return stamp_; }
  uint64_t bytes() const { return stamp_.bytes; }
  /// Behind a network: each read takes as long as an answer does.
  virtual bool isRemote() const { return false; }

  /// Fills out[0, bytes) from `offset` on; blocks. kIo: the file ends before, is another by now, or
  /// the system says so.
  virtual Status read(uint64_t offset, uint64_t bytes, void *out) const = 0;

protected:
  InputFile(FileStamp stamp, std::string path) : stamp_(std::move(stamp)), path_(std::move(path)) {}

private:
  const FileStamp stamp_;
  const std::string path_;
};

} // namespace headrace::storage
