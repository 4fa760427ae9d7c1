// Threads for the back end, each contained: a kernel that kills the code generator ends the
// compilation, not the process.
#pragma once

#include "passes/lower/machine/workers.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace headrace::driver {

/// To be made outside of the contained work that adds pieces: if that dies, the destructor drops
/// what has not begun and waits for the rest.
class ContainedWorkers : public lower::Workers {
public:
  /// `threads`: of all, the caller's in `finish` among them. Each starts when there is work for it.
  /// Pieces that have not begun when `stopped` is true are left out; it outlives this.
  ContainedWorkers(int threads, const std::atomic<bool> &stopped)
      : others_(static_cast<size_t>(threads - 1)), stopped_(stopped) {}
  ~ContainedWorkers() override;
  void add(size_t weight, std::function<void()> piece) override;
  bool finish() override;
  /// How a piece on one of the threads died; empty: none did.
  std::string death();

private:
  struct Piece {
    size_t weight;
    std::function<void()> run;
    bool operator<(const Piece &other) const { return weight < other.weight; }
  };
  void workHere();
  void workOnThread();
  void runHeaviest(std::unique_lock<std::mutex> &lock);

  const size_t others_;
  const std::atomic<bool> &stopped_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Piece> waiting_; ///< a heap
  size_t running_ = 0;         ///< pieces, on all threads
  bool closed_ = false;
  std::string death_;
  std::vector<std::thread> threads_;
};

} // namespace headrace::driver
