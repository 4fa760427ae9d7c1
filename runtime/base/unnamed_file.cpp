// O_TMPFILE, or where a file system has none, a name that is removed at once.
#include "runtime/base/unnamed_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace headrace {

std::string temporaryDirectory() {
  const char *named = std::getenv("TMPDIR");
  return named && *named ? named : "/var/tmp";
}

int openUnnamedFile(const std::string &directory) {
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    std::string name = directory + "/headrace-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) {
      ::unlink(name.c_str());
    }
  }
  return descriptor;
}

} // namespace headrace
