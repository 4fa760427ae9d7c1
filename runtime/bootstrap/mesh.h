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
  std::vector<bool> nearby; ///< on this machine, and connected by a Unix socket
};

/// How ranks of one machine are connected.
enum class Neighbours : uint8_t {
  kByUnixSocket,
  kByTcp, ///< as all others
};

/// Connects this rank with all others, each of which must prove that it knows the job's secret;
/// listens at the bootstrap's address and on a free port, and on a Unix socket without a file,
/// until all are connected. All ranks call it, for the same purpose. Fails (kIo) if they are not
/// connected within the patience.
Expected<Links> connectRanks(Bootstrap &bootstrap, const char *purpose, double patienceSeconds,
                             Neighbours neighbours = Neighbours::kByUnixSocket);

} // namespace headrace
