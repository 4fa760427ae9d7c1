// SharedLink: messages to and from a process of the same machine, through memory that each of the
// two writes and the other reads.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/memory/shared_segment.h"
#include "runtime/transport/link.h"

namespace headrace {

/// What a rank and its neighbours on the machine have of each other.
struct Neighbourhood {
  /// This rank's: its links, then its bodies. Null: it shares none.
  std::shared_ptr<SharedSegment> segment;
  /// An eventfd that neighbours write when they have news; owned. -1 without a segment.
  int bell = -1;
  struct Neighbour {
    std::shared_ptr<const SharedSegment> segment;
    int bell = -1; ///< owned
  };
  std::map<int, Neighbour> neighbours; ///< by rank: those with whom memory is shared
};

/// Tells each neighbour, over a Unix socket that nothing else is sent over meanwhile, where the
/// memory of this rank is. `sockets`: by rank, -1 for those that are no neighbours, each of which
/// calls it too. A pair of which one cannot share does without. Fails (kIo) if a neighbour leaves,
/// or says nothing within the patience.
Expected<Neighbourhood> meetNeighbours(std::span<const int> sockets, int64_t bytes,
                                       double patienceSeconds);

/// `own` is this rank's number; takes over the socket, which from now on only tells whether the
/// neighbour lives, and the neighbour's bell.
std::unique_ptr<Link> makeSharedLink(int own, int rank, std::string name, int socket,
                                     std::shared_ptr<SharedSegment> segment,
                                     Neighbourhood::Neighbour neighbour);

/// Larger bodies must be in the segment of who sends them.
constexpr int64_t kInlineBodyBytesMax = 8192;

} // namespace headrace
