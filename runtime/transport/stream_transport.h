// A transport over stream sockets that are connected already, one to each peer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"

namespace headrace {

/// sockets[peer] leads to each peer and is -1 for this rank; takes the descriptors over. `hosts`
/// are for messages: empty if all ranks are on this machine.
std::unique_ptr<Transport> makeStreamTransport(int rank, std::vector<int> sockets,
                                               std::vector<std::string> hosts = {});

} // namespace headrace
