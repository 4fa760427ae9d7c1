// The way to a file, whether it is here or in a store.
#pragma once

#include "runtime/storage/input_file.h"

#include <string_view>

namespace headrace::storage {

/// A path, or an address of a store, which is not asked for what is `known` of the file already.
/// kUser: not a regular file; kIo: it cannot be opened.
Expected<std::shared_ptr<const InputFile>> openFile(const std::string &path,
                                                    const FileStamp *known = nullptr);

/// A file without a name that is written once and then read; gone with its last reference. Where:
/// $TMPDIR, or /var/tmp.
class TemporaryFile {
public:
  /// kIo. `path`: of the file whose contents it has, for messages.
  static Expected<TemporaryFile> make(std::string path);
  TemporaryFile(TemporaryFile &&other) noexcept;
  ~TemporaryFile();

  /// kIo: the disk is full, for example.
  Status append(std::string_view bytes);
  /// What was appended.
  std::shared_ptr<const InputFile> finish() &&;

private:
  TemporaryFile(int descriptor, std::string path);
  int descriptor_;
  std::string path_;
  uint64_t bytes_ = 0;
};

} // namespace headrace::storage
