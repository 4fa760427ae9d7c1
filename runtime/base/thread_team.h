// Threads that stay for a number of short steps, each of independent tasks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace {

/// Purpose: to write files, which is no part of a run and has no workers of one.
/// Thread-safety: one thread at a time calls `run`; it takes part.
class ThreadTeam {
public:
  /// threads: that work, with the caller's; at least one.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;

  /// Calls `task` with 0 … count - 1, begun in this order, and returns when all have ended.
  void run(size_t count, const std::function<void(size_t)> &task);

private:
  void serve();
  /// Until none is left that has not begun.
  void take(std::unique_lock<std::mutex> &lock);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(size_t)> *task_ = nullptr;
  size_t next_ = 0, count_ = 0, ended_ = 0;
  bool isOver_ = false;
  std::vector<std::thread> threads_;
};

} // namespace headrace
