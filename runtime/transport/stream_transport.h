// A transport over stream sockets that are connected already, one to each peer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"

namespace headrace {

/// Purpose: the transport of one run after another over the same links.
/// Thread-safety, ownership and order: as a Transport.
class StreamTransport : public Transport {
public:
  /// Begins the next run: its channels are other ones than those of the last, whatever their
  /// numbers. All ranks call it equally often, when nothing more is sent for the last run; what of
  /// that still comes is dropped, and what another rank sends for the next one is kept.
  virtual void beginRun() = 0;
};

/// sockets[peer] leads to each peer and is -1 for this rank; takes the descriptors over. `hosts`
/// are for messages: empty if all ranks are on this machine.
std::unique_ptr<StreamTransport> makeStreamTransport(int rank, std::vector<int> sockets,
                                                     std::vector<std::string> hosts = {});

} // namespace headrace
