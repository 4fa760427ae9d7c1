// Unix sockets between processes of one machine, by names that are no files.
#pragma once

#include <string>

#include "runtime/bootstrap/tcp.h"

namespace headrace {

/// A socket that listens under a name that the system draws, for processes of this machine (of the
/// same network namespace). kIo: the system has none.
Expected<Socket> listenNearby();
/// In letters and digits.
std::string nearbyName(const Socket &listener);
/// Connects with who listens under the name; the socket does not block.
Expected<Socket> connectNearby(const std::string &name);

/// The same for processes that can connect by connectNearby(), and for no others: this start of the
/// machine, and the network namespace. Without spaces; empty if the system does not tell.
std::string placeOfMachine();

} // namespace headrace
