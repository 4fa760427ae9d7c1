// pwrite and pread at places that are handed out by size, in the file that has the fewest writers.
#include "runtime/exec/memory/spill_file.h"

#include "runtime/base/content_hash.h"
#include "runtime/base/readable.h"
#include "runtime/base/temporary_space.h"
#include "runtime/base/unnamed_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace headrace::exec {
namespace {

/// Extents begin at and take multiples of it: pages, so that there are no holes between them. With
/// holes each extent is a piece of its own for the file system: to close 1.7 GB of 8 KB in steps of
/// 16 KB took 4 to 36 s, 0.4 without.
constexpr uint64_t kStepBytes = 4 << 10;
/// An extent is not put where more than this part of it would be lost.
constexpr uint64_t kLostPart = 4;

/// More writers at once share files.
constexpr size_t kFilesMax = 16;

uint64_t stepped(uint64_t bytes) { return (bytes + kStepBytes - 1) / kStepBytes * kStepBytes; }

} // namespace

ssize_t SpillDisk::write(int descriptor, std::span<const uint8_t> bytes, uint64_t offset) {
  return ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
}

ssize_t SpillDisk::read(int descriptor, std::span<uint8_t> bytes, uint64_t offset) {
  return ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
}

SpillFile::SpillFile(SpillOptions options)
    : options_(std::move(options)),
      directory_(options_.directory.empty() ? temporaryDirectory() : options_.directory) {}

SpillFile::~SpillFile() {
  for (const File &file : files_) {
    ::close(file.descriptor);
  }
}

Status SpillFile::failed(const char *what, int error) const {
  return makeError(ErrorKind::kIo, "cannot ", what, " rows that memory has no room for in ",
                   directory_, ": ", std::strerror(error),
                   "; set spillDirectory to a directory on a disk with room");
}

Status SpillFile::openFile() {
  const int descriptor = openUnnamedFile(directory_);
  if (descriptor < 0) {
    return failed("keep", errno);
  }
  files_.emplace_back().descriptor = descriptor;
  return {};
}

Expected<size_t> SpillFile::chooseFile() {
  auto fewest = std::min_element(files_.begin(), files_.end(), [](const File &a, const File &b) {
    return a.writers < b.writers;
  });
  if (fewest != files_.end() && (fewest->writers == 0 || files_.size() == kFilesMax)) {
    return static_cast<size_t>(fewest - files_.begin());
  }
  HR_RETURN_IF_ERROR(openFile());
  return files_.size() - 1;
}

/// With the file's writer counted.
Expected<SpillFile::Extent> SpillFile::place(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  HR_ASSIGN_OR_RETURN(const size_t number, chooseFile());
  File &file = files_[number];
  if (auto found = file.free.lower_bound(bytes);
      found != file.free.end() && found->first - bytes <= found->first / kLostPart) {
    const auto [size, offset] = *found;
    file.free.erase(found);
    if (size > bytes) {
      file.free.emplace(size - bytes, offset + bytes);
    }
    ++file.writers;
    return Extent{offset, 0, 0, number};
  }
  uint64_t all = bytes;
  for (const File &each : files_) {
    all += each.end;
  }
  const int64_t left = options_.limitBytes - static_cast<int64_t>(all);
  if (options_.limitBytes > 0 && TemporarySpace::instance().copiedBytes(left) > left) {
    return makeError(ErrorKind::kMemory, "rows that memory has no room for exceed spillLimit, ",
                     formatBytes(options_.limitBytes), "; raise it, or --memory");
  }
  file.end += bytes;
  ++file.writers;
  return Extent{file.end - bytes, 0, 0, number};
}

int SpillFile::descriptorOf(const Extent &extent) const {
  std::lock_guard lock(mutex_);
  return files_[extent.file].descriptor;
}

Expected<SpillFile::Extent> SpillFile::write(std::span<const uint8_t> bytes) {
  HR_ASSIGN_OR_RETURN(Extent extent, place(stepped(bytes.size())));
  extent.bytes = bytes.size();
  extent.checksum = checksumBytes(bytes.data(), bytes.size());
  const Status status = writeAt(extent, bytes);
  {
    std::lock_guard lock(mutex_);
    --files_[extent.file].writers;
    written_ += status.ok() ? static_cast<int64_t>(bytes.size()) : 0;
  }
  if (!status.ok()) {
    release(extent);
    return status;
  }
  return extent;
}

Status SpillFile::writeAt(const Extent &extent, std::span<const uint8_t> bytes) const {
  const int descriptor = descriptorOf(extent);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written =
        options_.disk->write(descriptor, bytes.subspan(done), extent.offset + done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return failed("write", written < 0 ? errno : ENOSPC);
    }
    done += static_cast<size_t>(written);
  }
  return {};
}

Status SpillFile::read(const Extent &extent, uint8_t *out) const {
  const int descriptor = descriptorOf(extent);
  const std::span<uint8_t> bytes(out, extent.bytes);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t taken =
        options_.disk->read(descriptor, bytes.subspan(done), extent.offset + done);
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
  files_[extent.file].free.emplace(stepped(extent.bytes), extent.offset);
}

int64_t SpillFile::writtenBytes() const {
  std::lock_guard lock(mutex_);
  return written_;
}

} // namespace headrace::exec
