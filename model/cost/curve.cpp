// Terms of the curve of a fitted collective.
#include "model/cost/curve.h"

#include <cmath>

namespace headrace::cost {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

namespace {

// Stands for "no limit" where a fit finds that bytes cost nothing; finite, so that it can be
// written.
constexpr double kBandwidthMax = 1e18;

} // namespace

const char *termName(Term term) {
  switch (term) {
  case Term::kBase:
    return "start";
  case Term::kPerStep:
    return "steps";
  case Term::kPerRank:
    return "ranks";
  case Term::kPerPeer:
    return "peers";
  case Term::kPerLog2Node:
    return "tree levels";
  case Term::kSqrt:
  case Term::kSqrtStep:
    return "pipeline";
  case Term::kBytes:
    return "bytes";
  }
  return "";
}

double stepCount(CollectiveKind kind, int64_t members) {
  double steps = static_cast<double>(members - 1);
  return kind == CollectiveKind::kAllReduce ? 2 * steps : steps;
}

double sentFraction(CollectiveKind kind, int64_t members) {
  double fraction = static_cast<double>(members - 1) / static_cast<double>(members);
  switch (kind) {
  case CollectiveKind::kAllReduce:
    return 2 * fraction;
  case CollectiveKind::kBroadcast:
    return 1;
  default:
    return fraction;
  }
}

double coefficient(const CollectiveFit &fit, Term term) {
  switch (term) {
  case Term::kBase:
    return fit.baseSeconds;
  case Term::kPerStep:
    return fit.perStepSeconds;
  case Term::kPerRank:
    return fit.perRankSeconds;
  case Term::kPerPeer:
    return fit.perPeerSeconds;
  case Term::kPerLog2Node:
    return fit.perLog2NodeSeconds;
  case Term::kSqrt:
    return fit.sqrtTerm;
  case Term::kSqrtStep:
    return fit.sqrtStepTerm;
  case Term::kBytes:
    return 1 / fit.bandwidth;
  }
  return 0;
}

void setCoefficient(CollectiveFit &fit, Term term, double value) {
  switch (term) {
  case Term::kBase:
    fit.baseSeconds = value;
    break;
  case Term::kPerStep:
    fit.perStepSeconds = value;
    break;
  case Term::kPerRank:
    fit.perRankSeconds = value;
    break;
  case Term::kPerPeer:
    fit.perPeerSeconds = value;
    break;
  case Term::kPerLog2Node:
    fit.perLog2NodeSeconds = value;
    break;
  case Term::kSqrt:
    fit.sqrtTerm = value;
    break;
  case Term::kSqrtStep:
    fit.sqrtStepTerm = value;
    break;
  case Term::kBytes:
    fit.bandwidth = value > 1 / kBandwidthMax ? 1 / value : kBandwidthMax;
    break;
  }
}

TermValues termValues(const CollectiveFit &fit, const GroupShape &shape, double bytes) {
  double fraction = sentFraction(fit.kind, shape.members);
  if (fit.sent == topology::SentBytes::kWhole) {
    fraction = 1;
  } else if (fit.sent == topology::SentBytes::kTree) {
    double nodes = static_cast<double>(shape.nodes);
    fraction = 2 * (nodes - 1) / nodes;
  } else if (fit.level == Level::kNetwork && fit.kind == CollectiveKind::kAllToAll) {
    fraction = static_cast<double>(shape.remotePeers) / static_cast<double>(shape.members);
  }
  double moved = fraction * bytes;
  double steps = stepCount(fit.kind, shape.members);
  return {1,
          steps,
          static_cast<double>(shape.members),
          static_cast<double>(shape.remotePeers),
          std::log2(static_cast<double>(shape.nodes)),
          std::sqrt(moved),
          std::sqrt(steps * moved),
          moved};
}

bool holdsFor(const CollectiveFit &fit, const GroupShape &shape, double bytes) {
  double message = bytes / static_cast<double>(shape.members);
  return message >= fit.messageBytesMin &&
         (fit.messageBytesBelow == 0 || message < fit.messageBytesBelow);
}

double predictSeconds(const CollectiveFit &fit, const GroupShape &shape, double bytes) {
  TermValues values = termValues(fit, shape, bytes);
  double seconds = 0;
  for (size_t term = 0; term < kTermCount; ++term) {
    seconds += coefficient(fit, static_cast<Term>(term)) * values[term];
  }
  return seconds;
}

const CollectiveFit *leastFit(const std::vector<CollectiveFit> &fits, CollectiveKind kind,
                              Level level, const GroupShape &shape, double bytes) {
  const CollectiveFit *best = nullptr;
  double bestSeconds = 0;
  for (const CollectiveFit &fit : fits) {
    bool holds = fit.members == 0 || fit.members == shape.members;
    if (fit.kind != kind || fit.level != level || !holds || !holdsFor(fit, shape, bytes)) {
      continue;
    }
    bool closer = best && fit.members != 0 && best->members == 0;
    bool farther = best && fit.members == 0 && best->members != 0;
    double seconds = predictSeconds(fit, shape, bytes);
    if (!best || closer || (!farther && seconds < bestSeconds)) {
      best = &fit;
      bestSeconds = seconds;
    }
  }
  return best;
}

} // namespace headrace::cost
