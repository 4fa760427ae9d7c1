// Ranges of morsels that are apart, by where they begin.
#include "runtime/exec/share/morsel_rights.h"

#include <algorithm>
#include <iterator>

namespace headrace::exec {

std::optional<size_t> MorselRights::take() {
  std::lock_guard lock(mutex_);
  if (ranges_.empty()) {
    return std::nullopt;
  }
  auto [first, end] = *ranges_.begin();
  ranges_.erase(ranges_.begin());
  if (first + 1 < end) {
    ranges_.emplace_hint(ranges_.begin(), first + 1, end);
  }
  --left_;
  ++taken_;
  ++loading_;
  if (moreMayCome_ && (left_ == low_ || left_ == 0)) {
    doorbell_->ring();
  }
  return first;
}

void MorselRights::settle() {
  std::lock_guard lock(mutex_);
  --loading_;
}

void MorselRights::putBack(size_t morsel) {
  std::lock_guard lock(mutex_);
  --loading_;
  --taken_;
  addLocked({morsel, morsel + 1});
}

void MorselRights::returnTaken(storage::MorselRange taken) {
  std::lock_guard lock(mutex_);
  taken_ -= taken.count();
  addLocked(taken);
}

size_t MorselRights::left() const {
  std::lock_guard lock(mutex_);
  return left_;
}

size_t MorselRights::taken() const {
  std::lock_guard lock(mutex_);
  return taken_;
}

bool MorselRights::ended() const {
  std::lock_guard lock(mutex_);
  return left_ == 0 && loading_ == 0 && !moreMayCome_;
}

void MorselRights::stop() {
  std::lock_guard lock(mutex_);
  ranges_.clear();
  left_ = 0;
  stopped_ = true;
  moreMayCome_ = false;
}

void MorselRights::expectMore(size_t low, Doorbell *doorbell) {
  std::lock_guard lock(mutex_);
  moreMayCome_ = !stopped_;
  low_ = low;
  doorbell_ = doorbell;
}

void MorselRights::endMore() {
  std::lock_guard lock(mutex_);
  moreMayCome_ = false;
}

bool MorselRights::wantsMore() const {
  std::lock_guard lock(mutex_);
  return moreMayCome_;
}

void MorselRights::add(storage::MorselRange more) {
  std::lock_guard lock(mutex_);
  addLocked(more);
}

void MorselRights::addLocked(storage::MorselRange more) {
  if (stopped_ || more.count() == 0) {
    return;
  }
  left_ += more.count();
  auto after = ranges_.lower_bound(more.first);
  if (after != ranges_.end() && after->first == more.end) {
    more.end = after->second;
    after = ranges_.erase(after);
  }
  if (after != ranges_.begin() && std::prev(after)->second == more.first) {
    std::prev(after)->second = more.end;
  } else {
    ranges_.emplace_hint(after, more.first, more.end);
  }
}

storage::MorselRange MorselRights::give(size_t count) {
  std::lock_guard lock(mutex_);
  if (ranges_.empty() || count == 0) {
    return {};
  }
  auto last = std::prev(ranges_.end());
  storage::MorselRange given{std::max(last->first, last->second - std::min(last->second, count)),
                             last->second};
  if (given.first == last->first) {
    ranges_.erase(last);
  } else {
    last->second = given.first;
  }
  left_ -= given.count();
  return given;
}

} // namespace headrace::exec
