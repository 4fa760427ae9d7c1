// open, fstat, mmap.
#include "runtime/storage/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::storage {
namespace {

FileStamp stampFrom(const struct stat &info) {
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino),
          static_cast<uint64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

Status systemError(const char *what, const std::string &path, int error) {
  return makeError(ErrorKind::kIo, what, " ", path, ": ", std::strerror(error));
}

} // namespace

Expected<FileStamp> stampOf(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    return systemError("cannot open file", path, errno);
  }
  return stampFrom(info);
}

Expected<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return systemError("cannot open file", path, errno);
  }
  struct stat info;
  if (::fstat(file, &info) != 0) {
    int error = errno;
    ::close(file);
    // no test: an open file has a status
    return systemError("cannot read file", path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file);
    return makeError(ErrorKind::kUser, "not a regular file: ", path);
  }
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  mapped->stamp_ = stampFrom(info);
  mapped->path_ = path;
  if (mapped->stamp_.bytes != 0) {
    void *data = ::mmap(nullptr, mapped->stamp_.bytes, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      ::close(file);
      // no test: a regular file can be mapped
      return systemError("cannot map file", path, error);
    }
    mapped->data_ = static_cast<const uint8_t *>(data);
    uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    mapped->guard_.emplace(data, mapped->stamp_.bytes);
    mapped->readableBytes_ = (mapped->stamp_.bytes + page - 1) / page * page;
  }
  ::close(file);
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

Status MappedFile::intact() const {
  if (guard_ && guard_->cut()) {
    return makeError(ErrorKind::kIo, "the file was cut short while it was read: ", path_);
  }
  return Status();
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (data_) {
    ::munmap(const_cast<uint8_t *>(data_), stamp_.bytes);
  }
}

} // namespace headrace::storage
