// One queue, the heaviest piece first, so that no thread is left with it when the others are done.
#include "passes/driver/contained_workers.h"

#include "passes/driver/containment.h"
#include "runtime/base/check.h"
#include "runtime/base/stop.h"

#include <algorithm>

namespace headrace::driver {

ContainedWorkers::~ContainedWorkers() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread &thread : threads_) {
    thread.join();
  }
}

void ContainedWorkers::add(size_t weight, std::function<void()> piece) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({weight, std::move(piece)});
    std::push_heap(waiting_.begin(), waiting_.end());
  }
  if (threads_.size() < others_) {
    threads_.emplace_back([this] { workOnThread(); });
  }
  changed_.notify_one();
}

bool ContainedWorkers::finish() {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    runHeaviest(lock);
  }
  changed_.wait(lock, [&] { return running_ == 0; });
  return death_.empty() && !stopped_;
}

std::string ContainedWorkers::death() {
  std::lock_guard lock(mutex_);
  return death_;
}

void ContainedWorkers::runHeaviest(std::unique_lock<std::mutex> &lock) {
  std::pop_heap(waiting_.begin(), waiting_.end());
  std::function<void()> run = std::move(waiting_.back().run);
  waiting_.pop_back();
  ++running_;
  lock.unlock();
  if (!stopped_) {
    run();
  }
  run = nullptr; // frees what it worked on before anyone waits for the lock
  lock.lock();
  --running_;
}

void ContainedWorkers::workHere() {
  currentWork = "phase lower";
  const StopScope scope(stopped_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) {
      return;
    }
    runHeaviest(lock);
    changed_.notify_all();
  }
}

void ContainedWorkers::workOnThread() {
  std::string death;
  if (runContained([this] { workHere(); }, death)) {
    return;
  }
  std::lock_guard lock(mutex_);
  death_ = death;
  waiting_.clear(); // nobody wants the other kernels now
  --running_;
  changed_.notify_all();
}

} // namespace headrace::driver
