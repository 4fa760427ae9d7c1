// A file that appears under its name only when it is complete.
#pragma once

#include "runtime/base/status.h"

#include <string>

namespace headrace {

/// Purpose: write to path(), then commit(). Dropped before that, nothing stays behind and a file
/// that was there is untouched. Not thread-safe.
class OutputFile {
public:
  explicit OutputFile(std::string target);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Where to write: in the folder of the target.
  const std::string &path() const { return path_; }
  /// Brings the bytes to the disk and the file under its name. Errors: kIo.
  Status commit();

private:
  std::string target_;
  std::string path_;
};

} // namespace headrace
