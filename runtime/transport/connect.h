// Connects the ranks of a job, each two by the best that is between them.
#pragma once

#include <memory>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/transport/stream_transport.h"

namespace headrace {

struct ConnectOptions {
  double patienceSeconds = 10;
  /// Of addresses for the bodies that this rank shares with those of its machine; memory is only
  /// used for what is sent.
  int64_t sharedBytes = int64_t{4} << 30;
  enum class Neighbours : uint8_t {
    kBySharedMemory,
    kBySockets, ///< of TCP, as all others
  };
  /// The same on all ranks.
  Neighbours neighbours = Neighbours::kBySharedMemory;
};

/// Connects this rank with all others, as connectRanks() does: ranks of one machine through shared
/// memory where the system lets them, others by TCP. All ranks call it.
Expected<std::unique_ptr<StreamTransport>> connectTransport(Bootstrap &bootstrap,
                                                            ConnectOptions options = {});

} // namespace headrace
