// The curve of a fitted collective, as a sum of terms: what the cost model evaluates and what `fit`
// solves for.
#pragma once

#include "model/topology/topology.h"

#include <array>
#include <cstddef>

namespace headrace::cost {

/// Who takes part: `remotePeers` of the other members are on other nodes than a given one.
struct GroupShape {
  int64_t members = 2;
  int64_t nodes = 1;
  int64_t remotePeers = 0;
};

/// Each is a coefficient of CollectiveFit times a value that follows from shape and size.
enum class Term : uint8_t {
  kBase,
  kPerStep,
  kPerRank,
  kPerPeer,
  kPerLog2Node,
  kSqrt,
  kSqrtStep,
  kBytes,
};
inline constexpr size_t kTermCount = 8;
using TermValues = std::array<double, kTermCount>;

/// What a term pays for: "start", "steps", "pipeline", "bytes", ….
const char *termName(Term term);

/// Messages one after the other in a ring (or to each peer): n−1, and twice that for all-reduce.
double stepCount(topology::CollectiveKind kind, int64_t members);
/// The part of the buffer that each rank sends.
double sentFraction(topology::CollectiveKind kind, int64_t members);

/// The coefficient of a term; for kBytes seconds per byte, the inverse of the bandwidth.
double coefficient(const topology::CollectiveFit &fit, Term term);
void setCoefficient(topology::CollectiveFit &fit, Term term, double value);

/// What the coefficients are multiplied with. Of `fit` only kind, level and sent count.
TermValues termValues(const topology::CollectiveFit &fit, const GroupShape &shape, double bytes);

/// Whether a curve is for messages of this size (bytes over members).
bool holdsFor(const topology::CollectiveFit &fit, const GroupShape &shape, double bytes);

/// The sum of all terms, in seconds.
double predictSeconds(const topology::CollectiveFit &fit, const GroupShape &shape, double bytes);

/// The algorithm with the least time; fits for exactly this size of group go before those for any.
/// Only curves for messages of this size count.
/// Null if there is none for this kind and level.
const topology::CollectiveFit *leastFit(const std::vector<topology::CollectiveFit> &fits,
                                        topology::CollectiveKind kind, topology::Level level,
                                        const GroupShape &shape, double bytes);

} // namespace headrace::cost
