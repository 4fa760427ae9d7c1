// Tasks are few and long enough for a lock each.
#include "runtime/base/thread_team.h"

namespace headrace {

ThreadTeam::ThreadTeam(int threads) {
  for (int i = 1; i < threads; ++i) {
    threads_.emplace_back([this] { serve(); });
  }
}

ThreadTeam::~ThreadTeam() {
  {
    std::lock_guard lock(mutex_);
    isOver_ = true;
  }
  wake_.notify_all();
  for (std::thread &thread : threads_) {
    thread.join();
  }
}

void ThreadTeam::run(size_t count, const std::function<void(size_t)> &task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  next_ = ended_ = 0;
  count_ = count;
  if (count > 1) {
    wake_.notify_all();
  }
  take(lock);
  done_.wait(lock, [&] { return ended_ == count_; });
}

void ThreadTeam::take(std::unique_lock<std::mutex> &lock) {
  while (next_ < count_) {
    const size_t number = next_++;
    const auto *task = task_;
    lock.unlock();
    (*task)(number);
    lock.lock();
    if (++ended_ == count_) {
      done_.notify_one();
    }
  }
}

void ThreadTeam::serve() {
  std::unique_lock lock(mutex_);
  while (!isOver_) {
    take(lock);
    wake_.wait(lock, [&] { return isOver_ || next_ < count_; });
  }
}

} // namespace headrace
