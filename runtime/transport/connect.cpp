// From the mesh to a transport.
#include "runtime/transport/connect.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/bootstrap/mesh.h"

namespace headrace {

Expected<std::unique_ptr<StreamTransport>> connectTransport(Bootstrap &bootstrap,
                                                            ConnectOptions options) {
  bool share = options.neighbours == ConnectOptions::Neighbours::kBySharedMemory;
  HR_ASSIGN_OR_RETURN(Links links,
                      connectRanks(bootstrap, "transport", options.patienceSeconds,
                                   share ? Neighbours::kByUnixSocket : Neighbours::kByTcp));
  std::vector<int> neighbours;
  bool any = false;
  for (size_t peer = 0; peer < links.sockets.size(); ++peer) {
    neighbours.push_back(links.nearby[peer] ? links.sockets[peer].descriptor() : -1);
    any = any || neighbours.back() >= 0;
  }
  TransportLinks all{.rank = bootstrap.rank(), .hosts = std::move(links.hosts)};
  if (any) {
    HR_ASSIGN_OR_RETURN(all.neighbourhood,
                        meetNeighbours(neighbours, options.sharedBytes, options.patienceSeconds));
  }
  for (Socket &socket : links.sockets) {
    all.sockets.push_back(socket.release());
  }
  log(LogLevel::kInfo, "linked with ", all.sockets.size() - 1,
      " ranks, through shared memory: ", all.neighbourhood.neighbours.size());
  return makeStreamTransport(std::move(all));
}

} // namespace headrace
