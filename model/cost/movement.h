// How long bytes are on their way between ranks: the one price of exchanges of rows and of
// collectives, for the layout solver as for the simulator. Only what the runtime executes has one.
#pragma once

#include "model/cost/rank_groups.h"
#include "model/plan/plan.h"

namespace headrace::cost {

/// A latency, messages that each rank posts one after the other, then bytes at a rate that a
/// measured curve or a link bounds. Bytes are those that the mean rank has.
struct Movement {
  double bytes = 0;
  double latencySeconds = 0; ///< other movements pass meanwhile
  double postSeconds = 0;    ///< of what sends a rank's messages: other movements wait for it
  double rateMax = 0;        ///< bytes per second as measured; 0: links alone decide
  /// Of links, for each byte. Where a curve was measured, its rate holds: figures of links that are
  /// slower are taken to be too low, all by the same factor.
  std::vector<LinkUse> uses;
  double linkSeconds = 0; ///< for each byte, on the fullest link
  double relativeError = 0;
  std::string fullest; ///< what bounds the rate: a link, or the curve's algorithm

  /// Of all of it, alone.
  double seconds() const;
};

/// Rows of every rank go to the ranks of their keys, to all ranks, or to the first, each message
/// straight to its target. `bytes`: of the mean rank; `fullest`: what the fullest rank sends or
/// receives against it, where that is not known by rank; `sent`: how ranks differ in what they
/// have.
Movement exchangeMovement(const RankGroups &groups,
                          const std::vector<topology::CollectiveFit> &fits, plan::ExchangeKind kind,
                          double bytes, double fullest = 1, Weight sent = Weight::kEven);

/// A collective on tensors. `bytes`: the whole buffer of one rank: its output for all_gather, its
/// input for the others. Curves count where the topology has them, else the runtime's own rings,
/// recursive doubling (all_reduce of at most `doublingBytesMax`), pairwise all_to_all and broadcast
/// tree.
Movement collectiveMovement(const RankGroups &groups,
                            const std::vector<topology::CollectiveFit> &fits,
                            topology::CollectiveKind kind, double bytes, double doublingBytesMax);

/// Up to which size runs of this process have all_reduce double: their setting collectiveTree.
double doublingBytesMax();

} // namespace headrace::cost
