// Frames whose ends are a fixed number of rows away, or the ends of the partition.
#include "runtime/exec/window/frame_reach.h"

#include <algorithm>

namespace headrace::exec {
namespace {

using plan::FrameEdge;
using plan::WindowFunction;

/// Of rows: more are not kept for each row of a partition.
constexpr uint64_t kReachMax = 1 << 15;

void addSteps(FrameReach &reach, int64_t ahead) {
  const uint64_t steps =
      ahead < 0 ? uint64_t(0) - static_cast<uint64_t>(ahead) : static_cast<uint64_t>(ahead);
  uint64_t &side = ahead < 0 ? reach.behind : reach.ahead;
  side = std::max(side, steps);
  reach.any |= steps > kReachMax;
}

void addBound(FrameReach &reach, const plan::WindowColumn &window, const plan::FrameBound &bound) {
  switch (bound.edge) {
  case FrameEdge::kPreceding:
  case FrameEdge::kFollowing:
    // A distance that each row has, in values, or in groups of peers may be anything.
    if (window.unit != plan::FrameUnit::kRows || bound.distance.field != plan::kNone ||
        bound.distance.number < 0) {
      reach.any = true;
    } else {
      const int64_t rows = std::min<int64_t>(bound.distance.number, kReachMax + 1);
      addSteps(reach, bound.edge == FrameEdge::kPreceding ? -rows : rows);
    }
    break;
  default:
    break;
  }
}

void addFrame(FrameReach &reach, const plan::State &state, const plan::WindowColumn &window) {
  const bool fromFirst = window.start.edge == FrameEdge::kUnboundedPreceding;
  const bool byPeers = window.unit != plan::FrameUnit::kRows;
  const bool toLast = window.end.edge == FrameEdge::kUnboundedFollowing ||
                      (window.end.edge == FrameEdge::kCurrentRow && byPeers && state.order.empty());
  reach.any |= window.exclude != plan::FrameExclusion::kNone || window.distinct ||
               window.ignoreNulls || !window.order.empty() || (toLast && !fromFirst) ||
               (window.start.edge == FrameEdge::kCurrentRow && byPeers);
  addBound(reach, window, window.start);
  addBound(reach, window, window.end);
  switch (window.function) {
  case WindowFunction::kNthValue:
    if (fromFirst) {
      reach.any |= window.count.field != plan::kNone;
      reach.first = std::max(reach.first, static_cast<uint64_t>(std::clamp<int64_t>(
                                              window.count.number, 0, kReachMax + 1)));
      reach.any |= reach.first > kReachMax;
    }
    break;
  case WindowFunction::kFirstValue:
    reach.first = std::max<uint64_t>(reach.first, fromFirst ? 1 : 0);
    break;
  case WindowFunction::kLastValue:
    reach.peers |= byPeers && !toLast;
    break;
  default:
    break;
  }
}

} // namespace

FrameReach reachOf(const plan::State &state) {
  FrameReach reach;
  for (const plan::WindowColumn &window : state.windows) {
    if (window.hasFrame()) {
      addFrame(reach, state, window);
    }
    switch (window.function) {
    case WindowFunction::kRowNumber:
    case WindowFunction::kRank:
    case WindowFunction::kDenseRank:
    case WindowFunction::kPercentRank:
    case WindowFunction::kCumeDist:
    case WindowFunction::kNtile:
      break;
    case WindowFunction::kCollect:
    case WindowFunction::kMode:
    case WindowFunction::kQuantiles:
      reach.any = true;
      break;
    case WindowFunction::kLag:
    case WindowFunction::kLead: {
      reach.any |= window.ignoreNulls || window.count.field != plan::kNone;
      const int64_t count =
          std::clamp<int64_t>(window.count.number, -int64_t(kReachMax) - 1, int64_t(kReachMax) + 1);
      addSteps(reach, window.function == WindowFunction::kLead ? count : -count);
      break;
    }
    default:
      break;
    }
  }
  return reach;
}

} // namespace headrace::exec
