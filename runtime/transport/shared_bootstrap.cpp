// The bootstrap table of ranks in one process.
#include "runtime/transport/shared_bootstrap.h"

#include <algorithm>

namespace headrace {

Status checkBootstrapValue(std::string_view key, std::string_view value) {
  auto bytes = static_cast<int64_t>(key.size() + value.size());
  if (key.empty() || bytes > Bootstrap::kValueBytesMax) {
    return makeError(ErrorKind::kInternal, "bootstrap key and value must have 1 to ",
                     Bootstrap::kValueBytesMax, " bytes, got: ", bytes);
  }
  return {};
}

BootstrapTable::BootstrapTable(std::vector<Inbox *> inboxes)
    : inboxes_(std::move(inboxes)), fencesEntered_(inboxes_.size(), 0),
      left_(inboxes_.size(), false) {}

Status BootstrapTable::put(int rank, std::string_view key, std::string_view value) {
  HR_RETURN_IF_ERROR(checkBootstrapValue(key, value));
  std::lock_guard lock(mutex_);
  uint64_t fences = fencesEntered_[static_cast<size_t>(rank)];
  if (!values_.emplace(std::string(key), Value{std::string(value), rank, fences}).second) {
    return makeError(ErrorKind::kMismatch, "bootstrap key was put before: ", key);
  }
  return {};
}

Expected<std::string> BootstrapTable::get(int rank, std::string_view key) {
  std::lock_guard lock(mutex_);
  auto found = values_.find(key);
  if (found == values_.end() ||
      (found->second.writer != rank &&
       found->second.fencesBefore >= fencesEntered_[static_cast<size_t>(rank)])) {
    return makeError(ErrorKind::kMismatch, "no bootstrap value under the key (fence first): ", key);
  }
  return found->second.text;
}

Expected<uint64_t> BootstrapTable::enterFence(int rank) {
  std::lock_guard lock(mutex_);
  uint64_t fence = fencesEntered_[static_cast<size_t>(rank)]++;
  if (*std::min_element(fencesEntered_.begin(), fencesEntered_.end()) > fence) {
    for (Inbox *inbox : inboxes_) {
      inbox->ring();
    }
  }
  return fence;
}

Expected<bool> BootstrapTable::fencePassed(uint64_t fence) {
  std::lock_guard lock(mutex_);
  for (size_t rank = 0; rank < fencesEntered_.size(); ++rank) {
    if (fencesEntered_[rank] <= fence) {
      if (left_[rank]) {
        return makeError(ErrorKind::kIo, "a rank left before the fence, rank: ", rank);
      }
      return false;
    }
  }
  return true;
}

void BootstrapTable::leave(int rank) {
  std::lock_guard lock(mutex_);
  left_[static_cast<size_t>(rank)] = true;
  for (Inbox *inbox : inboxes_) {
    inbox->ring();
  }
}

} // namespace headrace
