// Sums of minimum bytes that can be live together.
#include "model/plan/reservations.h"

#include "model/plan/mesh.h"

#include <algorithm>
#include <cmath>

namespace headrace::plan {

int32_t releaseOf(const Plan &plan, int32_t reserve) {
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const auto *release = plan.tasks[t].as<ReleaseTask>();
    if (release && release->reservation == reserve) {
      return static_cast<int32_t>(t);
    }
  }
  return kNone;
}

std::vector<int32_t> usersOfBuffers(const Plan &plan) {
  std::vector<int32_t> users(plan.buffers.size(), 0);
  for (const Task &task : plan.tasks) {
    for (std::span<const int32_t> used : {task.inputs(), task.outputs()}) {
      for (int32_t buffer : used) {
        ++users[buffer];
      }
    }
    if (const auto *result = task.as<TensorResultTask>()) {
      ++users[result->buffer];
    }
  }
  return users;
}

namespace {

/// Memory that a task takes.
struct Holding {
  int32_t from = kNone;
  uint64_t bytes = 0;
  std::vector<int32_t> until; ///< given back when all of these have ended; none: never
  int32_t buffer = kNone;
};

/// Of a rank's part of a tensor; 0 ranks: of all of it.
uint64_t bytesOnRank(const Plan &plan, const Buffer &buffer, int64_t ranks) {
  double bytes = static_cast<double>(buffer.bytes);
  for (const Split &split : buffer.splits) {
    const auto extent = static_cast<double>(buffer.shape[split.dimension]);
    if (ranks > 0 && !split.ragged && extent > 0) {
      bytes *= std::ceil(extent / partsAlong(plan, split.axes, ranks)) / extent;
    }
  }
  return static_cast<uint64_t>(std::ceil(bytes));
}

std::vector<Holding> holdingsOf(const Plan &plan, Tier tier, int64_t ranks) {
  std::vector<Holding> out;
  std::vector<std::vector<int32_t>> users(plan.buffers.size());
  std::vector<bool> kept(plan.buffers.size(), false);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const Task &task = plan.tasks[t];
    auto index = static_cast<int32_t>(t);
    const auto *reserve = task.as<ReserveTask>();
    if (reserve && plan.states[reserve->state].tier == tier) {
      int32_t release = releaseOf(plan, index);
      out.push_back({index, reserve->bytes.min, {}, kNone});
      if (release != kNone) {
        out.back().until = {release};
      }
    }
    for (std::span<const int32_t> used : {task.inputs(), task.outputs()}) {
      for (int32_t buffer : used) {
        users[buffer].push_back(index);
      }
    }
    if (const auto *result = task.as<TensorResultTask>()) {
      kept[result->buffer] = true;
    }
  }
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    for (int32_t buffer : plan.tasks[t].outputs()) {
      const Buffer &described = plan.buffers[buffer];
      if (described.tier == tier && described.sizedBy == kNone) {
        out.push_back({static_cast<int32_t>(t), bytesOnRank(plan, described, ranks),
                       kept[buffer] ? std::vector<int32_t>() : users[buffer], buffer});
      }
    }
  }
  return out;
}

PeakReservation peakOf(const Plan &plan, const Dependencies &order, Tier tier, int64_t ranks) {
  std::vector<Region> regions = regionsOf(plan);
  std::vector<Holding> holdings = holdingsOf(plan, tier, ranks);
  PeakReservation peak;
  for (const Holding &at : holdings) {
    uint64_t live = at.bytes;
    for (const Holding &other : holdings) {
      bool otherBranch = regions[other.from].owner != kNone &&
                         regions[other.from].owner == regions[at.from].owner &&
                         regions[other.from].branch != regions[at.from].branch;
      bool sameBuffer = at.buffer != kNone && other.buffer == at.buffer;
      if (&other == &at || sameBuffer || otherBranch || order.endsBefore(at.from, other.from)) {
        continue;
      }
      bool givenBack = !other.until.empty() &&
                       std::all_of(other.until.begin(), other.until.end(),
                                   [&](int32_t user) { return order.endsBefore(user, at.from); });
      if (givenBack) {
        continue;
      }
      if (__builtin_add_overflow(live, other.bytes, &live)) {
        live = UINT64_MAX;
      }
    }
    if (peak.task == kNone || live > peak.bytes) {
      peak = {live, at.from};
    }
  }
  return peak;
}

} // namespace

PeakReservation peakReservation(const Plan &plan, const Dependencies &order, Tier tier) {
  return peakOf(plan, order, tier, /*ranks=*/0);
}

PeakReservation peakReservation(const Plan &plan, Tier tier) {
  return peakReservation(plan, tier, /*ranks=*/0);
}

PeakReservation peakReservation(const Plan &plan, Tier tier, int64_t ranks) {
  return peakOf(plan, Dependencies(plan, BackPressure::kIgnored), tier, ranks);
}

} // namespace headrace::plan
