// Sums of minimum reservations that can be live together.
#include "runtime/model/plan/reservations.h"

namespace headrace::plan {

int32_t releaseOf(const Plan &plan, int32_t reserve) {
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (plan.tasks[t].kind == TaskKind::kRelease && plan.tasks[t].reservation == reserve) {
      return static_cast<int32_t>(t);
    }
  }
  return kNone;
}

PeakReservation peakReservation(const Plan &plan, const Dependencies &order,
                                const std::string &tier) {
  std::vector<Region> regions = regionsOf(plan);
  std::vector<int32_t> reserves;
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (plan.tasks[t].kind == TaskKind::kReserve && plan.tasks[t].tier == tier) {
      reserves.push_back(static_cast<int32_t>(t));
    }
  }
  PeakReservation peak;
  for (int32_t at : reserves) {
    uint64_t live = plan.tasks[at].bytes.min;
    for (int32_t other : reserves) {
      bool otherBranch = regions[other].owner != kNone &&
                         regions[other].owner == regions[at].owner &&
                         regions[other].branch != regions[at].branch;
      if (other == at || otherBranch || order.endsBefore(at, other)) {
        continue;
      }
      int32_t release = releaseOf(plan, other);
      if (release != kNone && order.endsBefore(release, at)) {
        continue;
      }
      if (__builtin_add_overflow(live, plan.tasks[other].bytes.min, &live)) {
        live = UINT64_MAX;
      }
    }
    if (peak.task == kNone || live > peak.bytes) {
      peak = {live, at};
    }
  }
  return peak;
}

PeakReservation peakReservation(const Plan &plan, const std::string &tier) {
  return peakReservation(plan, Dependencies(plan, BackPressure::kIgnored), tier);
}

} // namespace headrace::plan
