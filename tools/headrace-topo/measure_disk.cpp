// Writes with fsync and reads past the page cache where the file system allows it.
#include "tools/headrace-topo/measure_disk.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <random>
#include <sys/statvfs.h>
#include <unistd.h>

namespace headrace::topo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kBlockBytes = size_t{4} << 20;
constexpr int64_t kBlocksMax = 64;
constexpr size_t kPageBytes = 4096;
constexpr double kSecondsMax = 1;
constexpr int kReads = 200;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class File {
public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  int get() const { return descriptor_; }

private:
  int descriptor_;
};

/// An open file without a name: it is gone when it is closed, also by a crash.
int openNameless(const std::string &folder) {
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) {
    return file;
  }
  std::string name = folder + "/headrace-topo.XXXXXX";
  file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) {
    unlink(name.c_str());
  }
  return file;
}

Status ioError(const char *what, const std::string &folder) {
  return makeError(ErrorKind::kIo, what, " in ", folder, ": ", std::strerror(errno));
}

void setDirect(int file, bool direct) {
  int flags = fcntl(file, F_GETFL);
  fcntl(file, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

} // namespace

Expected<DiskRates> measureDisk(const std::string &folder) {
  File file(openNameless(folder));
  if (file.get() < 0) {
    return ioError("cannot make a file", folder);
  }
  std::unique_ptr<char, decltype(&std::free)> buffer(
      static_cast<char *>(std::aligned_alloc(kPageBytes, kBlockBytes)), &std::free);
  std::mt19937_64 random(1);
  for (size_t at = 0; at < kBlockBytes; at += sizeof(uint64_t)) {
    uint64_t value = random(); // no file system compresses it away
    std::memcpy(buffer.get() + at, &value, sizeof(value));
  }
  // tmpfs and some others refuse to go around the cache: then it is the cache that is measured.
  setDirect(file.get(), true);
  DiskRates rates;
  int64_t blocks = 0;
  Clock::time_point start = Clock::now();
  while (blocks < kBlocksMax && secondsSince(start) < kSecondsMax) {
    off_t at = static_cast<off_t>(blocks) * static_cast<off_t>(kBlockBytes);
    if (pwrite(file.get(), buffer.get(), kBlockBytes, at) != static_cast<ssize_t>(kBlockBytes)) {
      if (blocks == 0) {
        setDirect(file.get(), false);
        if (pwrite(file.get(), buffer.get(), kBlockBytes, at) ==
            static_cast<ssize_t>(kBlockBytes)) {
          blocks = 1;
          continue;
        }
        return ioError("cannot write", folder);
      }
      break; // full: what fits was measured
    }
    ++blocks;
  }
  if (fsync(file.get()) != 0) {
    return ioError("cannot write", folder);
  }
  double bytes = static_cast<double>(blocks) * static_cast<double>(kBlockBytes);
  rates.writeBytesPerSecond = bytes / secondsSince(start);
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);

  start = Clock::now();
  int64_t read = 0;
  for (; read < blocks && secondsSince(start) < kSecondsMax; ++read) {
    off_t at = static_cast<off_t>(read) * static_cast<off_t>(kBlockBytes);
    if (pread(file.get(), buffer.get(), kBlockBytes, at) != static_cast<ssize_t>(kBlockBytes)) {
      return ioError("cannot read", folder);
    }
  }
  rates.readBytesPerSecond =
      static_cast<double>(read) * static_cast<double>(kBlockBytes) / secondsSince(start);

  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  start = Clock::now();
  int reads = 0;
  for (; reads < kReads && secondsSince(start) < kSecondsMax / 2; ++reads) {
    uint64_t pages = static_cast<uint64_t>(bytes) / kPageBytes;
    off_t at = static_cast<off_t>(random() % pages * kPageBytes);
    if (pread(file.get(), buffer.get(), kPageBytes, at) != static_cast<ssize_t>(kPageBytes)) {
      return ioError("cannot read", folder);
    }
  }
  rates.latencySeconds = secondsSince(start) / std::max(1, reads);
  return rates;
}

double fileSystemBytes(const std::string &folder) {
  struct statvfs info = {};
  if (statvfs(folder.c_str(), &info) != 0) {
    return 0;
  }
  return static_cast<double>(info.f_blocks) * static_cast<double>(info.f_frsize);
}

} // namespace headrace::topo
