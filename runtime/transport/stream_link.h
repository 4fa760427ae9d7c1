// StreamLink: messages over a stream socket: framed, non-blocking, received into pool buffers.
#pragma once

#include <memory>
#include <string>

#include "runtime/transport/link.h"

namespace headrace {

/// Takes over a socket that is connected with the rank.
std::unique_ptr<Link> makeStreamLink(int rank, std::string name, int socket);

} // namespace headrace
