// Writes beside the target and renames.
#include "tools/command_line/text_output.h"

#include "runtime/base/writable_file.h"

#include <fstream>
#include <iostream>

namespace headrace {

Status TextOutput::open(const std::string &path) {
  if (path.empty()) {
    return {};
  }
  HR_RETURN_IF_ERROR(checkWritable(path, "the output"));
  target_.emplace(path);
  return {};
}

Status TextOutput::write(const std::string &text) {
  std::ofstream file;
  if (target_) { // not before: nothing is left of a command that is ended while it works
    file.open(target_->path(), std::ios::binary);
  }
  std::ostream &stream = target_ ? static_cast<std::ostream &>(file) : std::cout;
  stream << text << std::flush;
  if (!stream) {
    return makeError(ErrorKind::kIo, "cannot write ",
                     target_ ? target_->path() : "to standard output");
  }
  if (!target_) {
    return {};
  }
  file.close();
  return target_->commit();
}

} // namespace headrace
