// Membership: which ranks a cluster goes on with after a loss, and what each of them is told.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/bootstrap/tcp.h"

namespace headrace::session {

/// A rank's place among those that go on.
struct Membership {
  /// Tells this membership from earlier ones, of which nothing is let in any more.
  uint64_t epoch = 0;
  HostPort meeting; ///< of rank 0's store
  int rank = 0;
  int size = 1;
  /// The first in which it takes part: who comes again goes through those before on its own.
  uint64_t call = 0;

  std::string pack() const;
  static Expected<Membership> unpack(const std::string &text);
};

/// The ranks that have to go so that all others reach each other. `broken`: pairs of ranks that do
/// not. Rank 0 stays; of the others go first those that most others do not reach, and of a pair the
/// greater one.
std::vector<int> ranksToLeaveOut(std::vector<std::pair<int, int>> broken);

} // namespace headrace::session
