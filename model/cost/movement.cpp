// Curves where they were measured, links elsewhere.
#include "model/cost/movement.h"
#include "runtime/base/settings.h"

#include <algorithm>
#include <bit>

namespace headrace::cost {

using topology::CollectiveFit;
using topology::CollectiveKind;

namespace {

int64_t ceilLog2(int64_t count) {
  return std::bit_width(static_cast<uint64_t>(count > 1 ? count - 1 : 0));
}

void useMessages(Movement &movement, const Traffic &traffic) {
  movement.latencySeconds = traffic.messaging.latencySeconds;
  movement.postSeconds = traffic.messaging.postSeconds;
}

/// `times` what a pattern takes of the links for each byte.
void useLinks(Movement &movement, const Traffic &traffic, double times) {
  for (const LinkUse &use : traffic.uses) {
    movement.uses.push_back({use.run, use.link, times * use.bytes});
  }
  movement.linkSeconds = times * traffic.secondsPerByte;
  movement.relativeError = traffic.relativeError;
  movement.fullest = traffic.fullest;
}

/// `evenSeconds`: what a byte would take on the links if all ranks had the same; `fullest`: what
/// the curve's buffer is against that of the mean rank.
void useCurve(Movement &movement, const CollectiveFit &fit, const GroupShape &shape, double buffer,
              double evenSeconds) {
  double withoutBytes = predictSeconds(fit, shape, 0);
  // What a curve adds with every peer is a message of its own; a ring's steps wait for each other.
  movement.latencySeconds =
      fit.kind == CollectiveKind::kAllToAll ? coefficient(fit, Term::kBase) : withoutBytes;
  movement.postSeconds = withoutBytes - movement.latencySeconds;
  double seconds = (predictSeconds(fit, shape, buffer) - withoutBytes) / movement.bytes;
  movement.rateMax = seconds > 0 ? 1 / seconds : 0;
  movement.relativeError = fit.relativeError;
  double tooLow = seconds > 0 ? std::max(1.0, evenSeconds / seconds) : 1;
  for (LinkUse &use : movement.uses) {
    use.bytes /= tooLow;
  }
  movement.linkSeconds /= tooLow;
  if (movement.linkSeconds <= seconds) {
    movement.fullest = fit.algorithm;
  }
}

} // namespace

double Movement::seconds() const {
  return latencySeconds + postSeconds +
         bytes * std::max(rateMax > 0 ? 1 / rateMax : 0, linkSeconds);
}

Movement exchangeMovement(const RankGroups &groups, const std::vector<CollectiveFit> &fits,
                          plan::ExchangeKind kind, double bytes, double fullest, Weight sent) {
  Movement movement;
  movement.bytes = bytes * fullest;
  const GroupShape &shape = groups.shape();
  if (shape.members < 2) {
    return movement;
  }
  if (kind == plan::ExchangeKind::kGather) {
    const Traffic &traffic = groups.traffic(Pattern::kToFirst, {sent, Weight::kEven});
    useMessages(movement, traffic);
    useLinks(movement, traffic, 1);
    return movement;
  }
  // A broadcast sends to each what a hash exchange would send to all together.
  bool broadcast = kind == plan::ExchangeKind::kBroadcast;
  double times = broadcast ? static_cast<double>(shape.members) : 1;
  Weight received = broadcast ? Weight::kEven : Weight::kKeys;
  const Traffic &traffic = groups.traffic(Pattern::kSpread, {sent, received});
  useMessages(movement, traffic);
  useLinks(movement, traffic, times);
  double buffer = times * movement.bytes * std::max(groups.fullest(sent), groups.fullest(received));
  const CollectiveFit *fit =
      buffer > 0 ? leastFit(fits, CollectiveKind::kAllToAll, groups.level(), shape, buffer)
                 : nullptr;
  if (fit) {
    double even = times * groups.traffic(Pattern::kSpread).secondsPerByte;
    useCurve(movement, *fit, shape, buffer, even);
  }
  return movement;
}

double doublingBytesMax() {
  Expected<Settings> settings = Settings::fromEnvironment();
  // Who runs a plan says what is wrong with them.
  return static_cast<double>((settings.ok() ? *settings : Settings()).collectiveTree);
}

Movement collectiveMovement(const RankGroups &groups, const std::vector<CollectiveFit> &fits,
                            CollectiveKind kind, double bytes, double doublingBytesMax) {
  Movement movement;
  movement.bytes = bytes;
  const GroupShape &shape = groups.shape();
  if (shape.members < 2) {
    return movement;
  }
  bool spread = kind == CollectiveKind::kAllToAll;
  const Traffic &traffic = groups.traffic(spread ? Pattern::kSpread : Pattern::kRing);
  double levels = static_cast<double>(ceilLog2(shape.members));
  bool tree = kind == CollectiveKind::kBroadcast ||
              (kind == CollectiveKind::kAllReduce && bytes <= doublingBytesMax);
  if (spread) {
    useMessages(movement, traffic);
  } else {
    movement.latencySeconds = (tree ? levels : stepCount(kind, shape.members)) * traffic.hopSeconds;
  }
  useLinks(movement, traffic,
           spread ? 1
           : tree ? levels // each round sends the whole buffer
                  : sentFraction(kind, shape.members));
  const CollectiveFit *fit =
      bytes > 0 ? leastFit(fits, kind, groups.level(), shape, bytes) : nullptr;
  if (fit) {
    useCurve(movement, *fit, shape, bytes, movement.linkSeconds);
  }
  return movement;
}

} // namespace headrace::cost
