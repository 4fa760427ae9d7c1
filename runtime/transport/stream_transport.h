// A transport between processes that are connected already, each pair by a stream socket.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory/memory_tier.h"
#include "runtime/transport/engine.h"
#include "runtime/transport/shared_link.h"
#include "runtime/transport/transport.h"

namespace headrace {

/// Purpose: the transport of one run after another over the same links.
/// Thread-safety, ownership and order: as a Transport.
class StreamTransport : public Transport {
public:
  /// Begins the next run: its channels are other ones than those of the last, whatever their
  /// numbers. All ranks call it equally often, when nothing more is sent for the last run; what of
  /// that still comes is dropped, and what another rank sends for the next one is kept.
  /// `tier` counts the blocks of bodyBlocks(); null: none does.
  virtual void beginRun(const std::shared_ptr<MemoryTier> &tier) = 0;
  /// How messages get to a peer: "shared memory", "sockets", "UCX".
  virtual const char *passageName(int peer) const = 0;
};

/// What a rank is linked with.
struct TransportLinks {
  int rank = 0;
  /// By rank, -1 for this one; taken over.
  std::vector<int> sockets = {};
  /// By rank, for messages; empty if all ranks are on this machine.
  std::vector<std::string> hosts = {};
  /// With these ranks memory is shared, and the socket only tells whether they live.
  Neighbourhood neighbourhood = {};
  /// To other ranks, which need no socket here; and what serves them, if they need it.
  std::map<int, std::unique_ptr<Link>> links = {};
  std::unique_ptr<Engine> engine = {};
};

std::unique_ptr<StreamTransport> makeStreamTransport(TransportLinks links);

} // namespace headrace
