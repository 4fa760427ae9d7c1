// The way to a file, whether it is here or in a store.
#pragma once

#include "runtime/storage/files/input_file.h"

#include <string_view>

namespace headrace::storage {

/// A path, or an address of a store, which is not asked for what is `known` of the file already.
/// kUser: not a regular file; kIo: it cannot be opened.
Expected<std::shared_ptr<const InputFile>> openFile(const std::string &path,
                                                    const FileStamp *known = nullptr);

/// A file without a name that is written once and then read; gone with its last reference. It lies
/// in TemporarySpace, and counts there.
class TemporaryFile {
public:
  /// kIo. `path`: of the file whose contents it has, for messages.
  static Expected<TemporaryFile> make(std::string path);
  TemporaryFile(TemporaryFile &&other) noexcept;
  ~TemporaryFile();

  /// kIo: the disk is full, for example; kMemory: the limit.
  Status append(std::string_view bytes);
  int descriptor() const { return descriptor_; }
  /// What was appended.
  std::shared_ptr<const InputFile> finish() &&;

private:
  TemporaryFile(int descriptor, std::string directory, std::string path);
  Status failed(int error) const;
  int descriptor_;
  std::string directory_;
  std::string path_;
  uint64_t bytes_ = 0;
};

} // namespace headrace::storage
