// Written under another name, synchronised, renamed.
#include "tools/command_line/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace headrace {

OutputFile::OutputFile(std::string target)
    : target_(std::move(target)), path_(target_ + "." + std::to_string(getpid()) + ".partial") {}

OutputFile::~OutputFile() {
  if (!path_.empty()) {
    unlink(path_.c_str());
  }
}

Status OutputFile::commit() {
  int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  bool written = file >= 0 && fsync(file) == 0;
  int reason = errno;
  if (file >= 0) {
    close(file);
  }
  if (!written || std::rename(path_.c_str(), target_.c_str()) != 0) {
    return makeError(ErrorKind::kIo, "cannot write ", target_, ": ",
                     std::strerror(written ? errno : reason));
  }
  path_.clear();
  return {};
}

} // namespace headrace
