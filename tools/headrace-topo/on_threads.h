// The same work on several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

namespace headrace::topo {

/// Runs `work(thread)` on all threads; returns the sum of what they report.
inline double onThreads(int64_t threads, const std::function<double(int64_t)> &work) {
  std::vector<double> results(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int64_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] { results[static_cast<size_t>(thread)] = work(thread); });
  }
  for (std::thread &thread : running) {
    thread.join();
  }
  return std::accumulate(results.begin(), results.end(), 0.0);
}

} // namespace headrace::topo
