// A memfd, sealed against shrinking.
#include "runtime/memory/shared_segment.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/check.h"

namespace headrace {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

} // namespace

SharedSegment::SharedSegment(int descriptor, std::byte *data, int64_t size)
    : descriptor_(descriptor), data_(data), size_(size), free_{{0, size}} {}

SharedSegment::~SharedSegment() {
  munmap(data_, static_cast<size_t>(size_));
  close(descriptor_);
}

Expected<std::shared_ptr<SharedSegment>> SharedSegment::create(int64_t bytes) {
  int file = memfd_create("headrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void *mapping = MAP_FAILED;
  if (file >= 0 && ftruncate(file, bytes) == 0 && fcntl(file, F_ADD_SEALS, kSeals) == 0) {
    mapping = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  if (mapping == MAP_FAILED) {
    Status refused = makeError(ErrorKind::kIo, "the system has no memory to share (",
                               std::strerror(errno), "), of bytes: ", bytes);
    close(file);
    return refused;
  }
  return std::shared_ptr<SharedSegment>(
      new SharedSegment(file, static_cast<std::byte *>(mapping), bytes));
}

Expected<std::shared_ptr<const SharedSegment>> SharedSegment::attach(int descriptor) {
  struct stat about{};
  int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(descriptor, &about) != 0) {
    close(descriptor);
    return makeError(ErrorKind::kCorrupt, "no file to be shared: its seals are ", seals);
  }
  void *mapping = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ,
                       MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (mapping == MAP_FAILED) {
    Status refused = makeError(ErrorKind::kIo, "memory of another process cannot be mapped (",
                               std::strerror(errno), "), of bytes: ", about.st_size);
    close(descriptor);
    return refused;
  }
  return std::shared_ptr<const SharedSegment>(
      new SharedSegment(descriptor, static_cast<std::byte *>(mapping), about.st_size));
}

bool SharedSegment::contains(const void *address) const {
  const auto *at = static_cast<const std::byte *>(address);
  return at >= data_ && at < data_ + size_;
}

int SharedSegment::descriptorForReading() const {
  return open(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), O_RDONLY | O_CLOEXEC);
}

std::byte *SharedSegment::take(int64_t bytes, int64_t alignment) {
  auto base = reinterpret_cast<uintptr_t>(data_);
  std::lock_guard lock(mutex_);
  for (auto [start, length] : free_) {
    auto address = base + static_cast<uintptr_t>(start);
    auto step = static_cast<uintptr_t>(alignment);
    auto skipped = static_cast<int64_t>((step - address % step) % step);
    if (length < skipped + bytes) {
      continue;
    }
    free_.erase(start);
    if (skipped > 0) {
      free_[start] = skipped;
    }
    if (length > skipped + bytes) {
      free_[start + skipped + bytes] = length - skipped - bytes;
    }
    return data_ + start + skipped;
  }
  return nullptr;
}

void SharedSegment::giveBack(std::byte *data, int64_t bytes) {
  dropPages(data, bytes);
  std::lock_guard lock(mutex_);
  auto next = free_.emplace(data - data_, bytes).first;
  if (auto after = std::next(next); after != free_.end() && next->first + bytes == after->first) {
    next->second += after->second;
    free_.erase(after);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == next->first) {
      before->second += next->second;
      free_.erase(next);
    }
  }
}

void SharedSegment::dropPages(std::byte *data, int64_t bytes) {
  if (!left_.load(std::memory_order_relaxed)) {
    madvise(data, static_cast<size_t>(bytes), MADV_REMOVE);
  }
}

} // namespace headrace
