// Rows of the same kernel are the same work on every rank.
#include "runtime/session/paces.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/plan/names.h"

namespace headrace::session {
namespace {

/// Work that was done before the last so many seconds counts less and less.
constexpr double kMemorySeconds = 0.5;
/// With less measured nothing is said of a rank.
constexpr double kKnownSeconds = 0.005;
/// Ranks that are not slower than this beside the quickest are as quick: what is measured differs
/// by as much between equal ones.
constexpr double kAlike = 0.75;
/// A rank keeps this part of what a quick one has, however slow it seems.
constexpr double kLeast = 1.0 / 32;
/// Keys that a quick rank has, in the unit of the parts.
constexpr double kUnit = 256;

} // namespace

void Paces::learn(const plan::Profile &profile) {
  struct Work {
    double rows = 0, seconds = 0;
  };
  auto isKernel = [&](const plan::TaskProfile &task) {
    return task.kind == plan::nameOf(plan::TaskKind::kRun) && task.rowsIn > 0 && task.rank >= 0 &&
           static_cast<size_t>(task.rank) < ranks_.size();
  };
  // Reading is left out: the one or the other may have to wait for a disk.
  auto seconds = [](const plan::TaskProfile &task) {
    return std::max(0.0, task.busySeconds - task.loadSeconds);
  };
  std::map<int32_t, Work> kernels;
  double busy = 0;
  for (const plan::TaskProfile &task : profile.tasks) {
    if (isKernel(task)) {
      kernels[task.task].rows += static_cast<double>(task.rowsIn);
      kernels[task.task].seconds += seconds(task);
      busy += seconds(task);
    }
  }
  const double left = std::exp(-busy / (kMemorySeconds * static_cast<double>(ranks_.size())));
  for (Pace &rank : ranks_) {
    rank.expectedSeconds *= left;
    rank.busySeconds *= left;
  }
  for (const plan::TaskProfile &task : profile.tasks) {
    if (isKernel(task)) {
      const Work &all = kernels[task.task];
      Pace &rank = ranks_[static_cast<size_t>(task.rank)];
      rank.expectedSeconds += static_cast<double>(task.rowsIn) * all.seconds / all.rows;
      rank.busySeconds += seconds(task);
    }
  }
}

std::vector<uint32_t> Paces::keyShares() const {
  std::vector<double> paces;
  for (const Pace &rank : ranks_) {
    if (rank.busySeconds < kKnownSeconds || rank.expectedSeconds <= 0) {
      return {};
    }
    paces.push_back(rank.expectedSeconds / rank.busySeconds);
  }
  const double quickest = *std::ranges::max_element(paces);
  std::vector<uint32_t> shares;
  bool alike = true;
  for (double pace : paces) {
    const double against = pace / quickest;
    alike &= against >= kAlike;
    shares.push_back(static_cast<uint32_t>(
        std::lround(kUnit * (against >= kAlike ? 1 : std::max(against, kLeast)))));
  }
  return alike ? std::vector<uint32_t>() : shares;
}

} // namespace headrace::session
