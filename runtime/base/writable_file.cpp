// A file of another name in the same folder is what writers begin with too.
#include "runtime/base/writable_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace {

Status checkWritable(const std::string &path, const char *what) {
  auto refused = [&](int reason) {
    return makeError(ErrorKind::kIo, "cannot write ", what, ": ", path, ": ",
                     std::strerror(reason));
  };
  struct stat there;
  if (stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) {
    return refused(EISDIR);
  }
  const std::string partial = path + "." + std::to_string(getpid()) + ".partial";
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    return refused(errno);
  }
  close(file);
  unlink(partial.c_str());
  return {};
}

} // namespace headrace
