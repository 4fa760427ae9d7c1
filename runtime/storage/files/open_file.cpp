// open, fstat, pread.
#include "runtime/storage/files/open_file.h"

#include "runtime/base/temporary_space.h"
#include "runtime/base/unnamed_file.h"
#include "runtime/storage/files/remote_file.h"
#include "runtime/storage/files/store_address.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headrace::storage {
namespace {

FileStamp stampFrom(const struct stat &info) {
  return {static_cast<uint64_t>(info.st_dev),
          static_cast<uint64_t>(info.st_ino),
          static_cast<uint64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
          {}};
}

Status systemError(const char *what, const std::string &path, int error) {
  return makeError(ErrorKind::kIo, what, " ", path, ": ", std::strerror(error));
}

class LocalFile : public InputFile {
public:
  LocalFile(int descriptor, FileStamp stamp, std::string path)
      : InputFile(std::move(stamp), std::move(path)), descriptor_(descriptor) {}
  ~LocalFile() override { ::close(descriptor_); }

  Status read(uint64_t offset, uint64_t bytes, void *out) const override;

private:
  const int descriptor_;
};

/// What TemporaryFile has written.
class CopiedFile final : public LocalFile {
public:
  CopiedFile(int descriptor, uint64_t bytes, std::string path)
      : LocalFile(descriptor, FileStamp{0, 0, bytes, 0, {}}, std::move(path)) {}
  ~CopiedFile() override { TemporarySpace::instance().give(static_cast<int64_t>(bytes())); }
};

} // namespace

Expected<std::shared_ptr<const InputFile>> openFile(const std::string &path,
                                                    const FileStamp *known) {
  if (StoreAddress::is(path)) {
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const RemoteFile> file, RemoteFile::open(path, known));
    return std::shared_ptr<const InputFile>(std::move(file));
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return systemError("cannot open file", path, errno);
  }
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    const int error = errno;
    ::close(descriptor);
    // no test: an open file has a status
    return systemError("cannot read file", path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return makeError(ErrorKind::kUser, "not a regular file: ", path);
  }
  return std::shared_ptr<const InputFile>(
      std::make_shared<const LocalFile>(descriptor, stampFrom(info), path));
}

Status LocalFile::read(uint64_t offset, uint64_t bytes, void *out) const {
  auto *next = static_cast<uint8_t *>(out);
  while (bytes != 0) {
    const ssize_t got = ::pread(descriptor_, next, bytes, static_cast<off_t>(offset));
    if (got == 0) {
      return makeError(ErrorKind::kIo, "the file was cut short while it was read: ", path());
    }
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      // no test: a file that can be opened can be read, but for a broken device
      return systemError("cannot read file", path(), errno);
    }
    next += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return Status();
}

TemporaryFile::TemporaryFile(int descriptor, std::string directory, std::string path)
    : descriptor_(descriptor), directory_(std::move(directory)), path_(std::move(path)) {}

TemporaryFile::TemporaryFile(TemporaryFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), directory_(std::move(other.directory_)),
      path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, 0)) {}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  TemporarySpace::instance().give(static_cast<int64_t>(bytes_));
}

Expected<TemporaryFile> TemporaryFile::make(std::string path) {
  TemporaryFile file(-1, TemporarySpace::instance().directory(), std::move(path));
  file.descriptor_ = openUnnamedFile(file.directory_);
  if (file.descriptor_ < 0) {
    return file.failed(errno);
  }
  return file;
}

Status TemporaryFile::failed(int error) const {
  return makeError(ErrorKind::kIo, "cannot keep a copy of ", path_, " in ", directory_, ": ",
                   std::strerror(error), "; set spillDirectory to a directory on a disk with room");
}

Status TemporaryFile::append(std::string_view bytes) {
  HR_RETURN_IF_ERROR(TemporarySpace::instance().take(static_cast<int64_t>(bytes.size())));
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return failed(errno);
    }
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  return Status();
}

std::shared_ptr<const InputFile> TemporaryFile::finish() && {
  return std::make_shared<const CopiedFile>(std::exchange(descriptor_, -1),
                                            std::exchange(bytes_, 0), std::move(path_));
}

} // namespace headrace::storage
