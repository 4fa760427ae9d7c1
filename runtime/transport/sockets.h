// Sockets: ranks as processes on any machines, joined by TCP.
#pragma once

#include <memory>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/transport/transport.h"

namespace headrace {

/// Connects this rank with all others, each of which must prove that it knows the job's secret;
/// listens at the bootstrap's address and on a free port, until all are connected. All ranks call
/// it. Fails (kIo) if they are not connected within the patience.
Expected<std::unique_ptr<Transport>> connectSockets(Bootstrap &bootstrap,
                                                    double patienceSeconds = 10);

} // namespace headrace
