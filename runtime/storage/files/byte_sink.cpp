// Files of this machine, by the system's calls.
#include "runtime/storage/files/byte_sink.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace headrace::storage {
namespace {

Status cannotWrite(const std::string &name) {
  return makeError(ErrorKind::kIo, "cannot write ", name, ": ", std::strerror(errno));
}

} // namespace

Expected<std::unique_ptr<FileSink>> FileSink::open(const std::string &path, std::string name) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return cannotWrite(name);
  }
  return std::unique_ptr<FileSink>(new FileSink(std::move(name), descriptor));
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return cannotWrite(name_);
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return Status();
}

Status FileSink::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  return ::close(descriptor) == 0 ? Status() : cannotWrite(name_);
}

} // namespace headrace::storage
