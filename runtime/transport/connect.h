// Connects the ranks of a job, each two by the best that is between them.
#pragma once

#include <memory>
#include <string>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/transport/stream_transport.h"

namespace headrace {

struct ConnectOptions {
  double patienceSeconds = 10;
  /// Of addresses for the bodies that this rank shares with those of its machine; memory is only
  /// used for what is sent.
  int64_t sharedBytes = int64_t{4} << 30;
  enum class Neighbours : uint8_t { kBySharedMemory, kAsOthers };
  /// The same on all ranks.
  Neighbours neighbours = Neighbours::kBySharedMemory;
  enum class Network : uint8_t {
    kSockets, ///< of TCP
    kUcx,     ///< between ranks that both have it in the same version, others by sockets
  };
  Network network = Network::kSockets;
  /// As UCX_TLS: what UCX may use; empty: it chooses.
  std::string ucxTransports = {};
};

/// Connects this rank with all others, as connectRanks() does: ranks of one machine through shared
/// memory where the system lets them, others by the network. All ranks call it.
Expected<std::unique_ptr<StreamTransport>> connectTransport(Bootstrap &bootstrap,
                                                            ConnectOptions options = {});

} // namespace headrace
