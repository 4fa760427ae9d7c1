// Counters, and whom to ask for room.
#include "runtime/base/temporary_space.h"

#include "runtime/base/readable.h"
#include "runtime/base/unnamed_file.h"

#include <utility>

namespace headrace {

TemporarySpace &TemporarySpace::instance() {
  static TemporarySpace space;
  return space;
}

void TemporarySpace::use(std::string directory, int64_t limitBytes) {
  std::lock_guard lock(mutex_);
  directory_ = std::move(directory);
  limit_ = limitBytes;
}

std::string TemporarySpace::directory() const {
  std::lock_guard lock(mutex_);
  return directory_.empty() ? temporaryDirectory() : directory_;
}

Status TemporarySpace::take(int64_t bytes) {
  const int64_t limit = limit_;
  copied_ += bytes;
  if (limit > 0 && copied_ > limit) {
    dropUnread();
    if (copied_ > limit) {
      copied_ -= bytes;
      return makeError(ErrorKind::kMemory,
                       "tables of sessions, and copies of files that are read in another form, "
                       "exceed spillLimit, ",
                       formatBytes(limit), "; raise it");
    }
  }
  return Status();
}

int64_t TemporarySpace::copiedBytes(int64_t most) {
  if (copied_ > most) {
    dropUnread();
  }
  return copied_;
}

void TemporarySpace::add(std::weak_ptr<const std::function<void()>> drop) {
  std::lock_guard lock(mutex_);
  std::erase_if(drops_, [](const auto &each) { return each.expired(); });
  drops_.push_back(std::move(drop));
}

void TemporarySpace::dropUnread() {
  std::vector<std::weak_ptr<const std::function<void()>>> asked;
  {
    std::lock_guard lock(mutex_);
    asked = drops_;
  }
  for (const auto &each : asked) {
    if (auto drop = each.lock()) {
      (*drop)();
    }
  }
}

} // namespace headrace
