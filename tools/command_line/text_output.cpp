// Writes beside the target and renames.
#include "tools/command_line/text_output.h"

#include <cerrno>
#include <cstring>
#include <iostream>

namespace headrace {

Status TextOutput::open(const std::string &path) {
  if (path.empty()) {
    return {};
  }
  target_.emplace(path);
  file_.open(target_->path(), std::ios::binary);
  return file_ ? Status()
               : makeError(ErrorKind::kIo, "cannot write ", path, ": ", std::strerror(errno));
}

Status TextOutput::write(const std::string &text) {
  std::ostream &stream = target_ ? static_cast<std::ostream &>(file_) : std::cout;
  stream << text << std::flush;
  if (!stream) {
    return makeError(ErrorKind::kIo, "cannot write ",
                     target_ ? target_->path() : "to standard output");
  }
  if (!target_) {
    return {};
  }
  file_.close();
  return target_->commit();
}

} // namespace headrace
