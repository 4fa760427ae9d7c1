// Sockets: ranks as processes on any machines, joined by TCP.
#pragma once

#include <memory>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/transport/stream_transport.h"

namespace headrace {

/// Connects this rank with all others, as connectRanks() does. All ranks call it.
Expected<std::unique_ptr<StreamTransport>> connectSockets(Bootstrap &bootstrap,
                                                          double patienceSeconds = 10);

} // namespace headrace
