// What a writer of files writes its bytes to.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <string_view>

namespace headrace::storage {

/// Bytes one behind the other.
class ByteSink {
public:
  virtual ~ByteSink() = default;
  virtual Status write(std::string_view bytes) = 0;
};

/// A file, written over what may be there. kIo: what the system says of it: "cannot write NAME: …".
class FileSink final : public ByteSink {
public:
  static Expected<std::unique_ptr<FileSink>> open(const std::string &path, std::string name);
  ~FileSink() override;
  FileSink(const FileSink &) = delete;
  FileSink &operator=(const FileSink &) = delete;

  Status write(std::string_view bytes) override;
  /// What the system has kept back it says here.
  Status close();

private:
  FileSink(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}

  std::string name_;
  int descriptor_;
};

} // namespace headrace::storage
