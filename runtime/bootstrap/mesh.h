// Mesh: a connection between each two ranks.
#pragma once

#include <string>
#include <vector>

#include "runtime/bootstrap/bootstrap.h"

namespace headrace {

/// By rank; there is none to the rank itself.
struct Links {
  std::vector<Socket> sockets; ///< they do not block
  std::vector<std::string> hosts;
};

/// Connects this rank with all others, each of which must prove that it knows the job's secret;
/// listens at the bootstrap's address and on a free port, until all are connected. All ranks call
/// it, for the same purpose. Fails (kIo) if they are not connected within the patience.
Expected<Links> connectRanks(Bootstrap &bootstrap, const char *purpose, double patienceSeconds);

} // namespace headrace
