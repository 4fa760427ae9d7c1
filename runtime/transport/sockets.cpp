// A stream transport over the mesh.
#include "runtime/transport/sockets.h"

#include "runtime/bootstrap/mesh.h"

namespace headrace {

Expected<std::unique_ptr<StreamTransport>> connectSockets(Bootstrap &bootstrap,
                                                          double patienceSeconds) {
  HR_ASSIGN_OR_RETURN(Links links, connectRanks(bootstrap, "sockets", patienceSeconds));
  std::vector<int> descriptors;
  for (Socket &socket : links.sockets) {
    descriptors.push_back(socket.release());
  }
  return makeStreamTransport(bootstrap.rank(), std::move(descriptors), std::move(links.hosts));
}

} // namespace headrace
