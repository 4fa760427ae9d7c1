// pwrite and pread at places that are handed out by size.
#include "runtime/exec/spill/spill_file.h"

#include "runtime/base/content_hash.h"
#include "runtime/base/settings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace headrace::exec {
namespace {

/// Extents begin at and take multiples of it, so that freed ones fit others.
constexpr uint64_t kStepBytes = 16 << 10;
/// An extent is not put where more than this part of it would be lost.
constexpr uint64_t kLostPart = 4;

uint64_t stepped(uint64_t bytes) { return (bytes + kStepBytes - 1) / kStepBytes * kStepBytes; }

std::string defaultDirectory() {
  const char *named = std::getenv("TMPDIR");
  return named && *named ? named : "/var/tmp"; // /tmp is often memory
}

} // namespace

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status SpillFile::failed(const char *what, int error) const {
  return makeError(ErrorKind::kIo, "cannot ", what, " rows that memory has no room for in ",
                   directory_, ": ", std::strerror(error),
                   "; set spillDirectory to a directory on a disk with room");
}

Status SpillFile::open() {
  if (descriptor_ >= 0) {
    return {};
  }
  directory_ = options_.directory.empty() ? defaultDirectory() : options_.directory;
  descriptor_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    std::string name = directory_ + "/headrace-spill-XXXXXX";
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ >= 0) {
      ::unlink(name.c_str());
    }
  }
  return descriptor_ >= 0 ? Status() : failed("keep", errno);
}

Expected<uint64_t> SpillFile::place(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  HR_RETURN_IF_ERROR(open());
  if (auto found = free_.lower_bound(bytes);
      found != free_.end() && found->first - bytes <= found->first / kLostPart) {
    const auto [size, offset] = *found;
    free_.erase(found);
    if (size > bytes) {
      free_.emplace(size - bytes, offset + bytes);
    }
    return offset;
  }
  if (options_.limitBytes > 0 && end_ + bytes > static_cast<uint64_t>(options_.limitBytes)) {
    return makeError(ErrorKind::kMemory, "rows that memory has no room for exceed spillLimit, ",
                     formatBytes(options_.limitBytes), "; raise it, or --memory");
  }
  end_ += bytes;
  return end_ - bytes;
}

Expected<SpillFile::Extent> SpillFile::write(std::span<const uint8_t> bytes) {
  HR_ASSIGN_OR_RETURN(uint64_t offset, place(stepped(bytes.size())));
  Extent extent{offset, bytes.size(), checksumBytes(bytes.data(), bytes.size())};
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(offset + done));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      release(extent);
      return failed("write", error);
    }
    done += static_cast<size_t>(written);
  }
  std::lock_guard lock(mutex_);
  written_ += static_cast<int64_t>(bytes.size());
  return extent;
}

Status SpillFile::read(const Extent &extent, uint8_t *out) const {
  for (size_t done = 0; done < extent.bytes;) {
    const ssize_t taken = ::pread(descriptor_, out + done, extent.bytes - done,
                                  static_cast<off_t>(extent.offset + done));
    if (taken < 0 && errno == EINTR) {
      continue;
    }
    if (taken <= 0) {
      return failed("read back", taken < 0 ? errno : EIO);
    }
    done += static_cast<size_t>(taken);
  }
  if (checksumBytes(out, extent.bytes) != extent.checksum) {
    return makeError(ErrorKind::kCorrupt, "the disk gave back other bytes than were written, in ",
                     directory_, " at byte ", extent.offset);
  }
  return {};
}

void SpillFile::release(const Extent &extent) {
  std::lock_guard lock(mutex_);
  free_.emplace(stepped(extent.bytes), extent.offset);
}

int64_t SpillFile::writtenBytes() const {
  std::lock_guard lock(mutex_);
  return written_;
}

} // namespace headrace::exec
