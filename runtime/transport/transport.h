// Transport: moves bytes between ranks. The one interface that every backend implements, and all
// that communication and exec know of the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/doorbell.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/memory/buffer_pool.h"

namespace headrace {

/// 64 bytes that travel before every body; opaque to transports (communication/message.h fills
/// them).
using HeaderBytes = std::array<std::byte, 64>;

/// Channels of plans are numbered from 0 up to this; above are those of the runtime itself.
constexpr uint32_t kPlanChannelsMax = 1u << 24;
constexpr ChannelId kPoisonChannel{kPlanChannelsMax + 0};
constexpr ChannelId kSharingChannel{kPlanChannelsMax + 1};
/// Communicators take one each from here on.
constexpr uint32_t kFirstCommunicatorChannel = kPlanChannelsMax + 16;

/// A message that came in.
struct Arrival {
  int source = -1;
  HeaderBytes header{};
  /// Sealed; null if the message had no body. The receiver owns it.
  BufferRef body;
};

/// How the body of a message gets to a peer.
enum class BodyPassage : uint8_t {
  kByHandle, ///< the peer is handed the sealed buffer itself: no byte is written on the way
  kCopied,   ///< the bytes travel, and can be damaged
};

/// Names one message to one peer, for sent().
struct SendTicket {
  int peer = -1;
  uint64_t number = 0;
};

/// Purpose: one rank's end of the network.
/// Ownership: holds sent bodies until their bytes have left; hands received ones over.
/// Thread-safety: full, but progress() is for the thread that waits on the doorbell, and the `sim`
/// backend is for one thread altogether.
/// Ordering: messages of one (source, channel) arrive in the order sent, once each; messages of
/// different channels or sources in any order.
/// Flow: a transport never refuses a message for want of room at the peer: communication sends
/// bodies only against credits, so that the receiving pool has a buffer for each. A body that finds
/// none breaks the protocol and fails the link. Bytes only: no pointer means anything on another
/// rank. In one process a sealed buffer may be passed by its handle instead of being copied; then
/// it stays taken from the sender's pool until the receiver drops it. Lifetime: within its
/// doorbell's and the pools' of its open channels.
class Transport {
public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// What messages call a peer: its number, and its host if there are several.
  virtual std::string peerName(int peer) const { return "rank " + std::to_string(peer); }

  /// The same for all bodies to that peer.
  virtual BodyPassage bodyPassage(int peer) const = 0;

  /// Where pools of bodies that are sent to others must have their memory, because others see it
  /// there; null: anywhere. Bodies of a few KiB may be anywhere in any case.
  virtual std::shared_ptr<BlockPool> bodyBlocks() { return nullptr; }

  /// Whom arrivals and failures ring. Set before anything is sent; for forked ranks,
  /// after the fork. Null: nobody, so that the doorbell may go before the transport.
  virtual void setDoorbell(Doorbell *doorbell) = 0;

  /// Declares the pool that bodies of a channel are received into; null if it has none. A channel
  /// is opened and closed once in a transport's life. Messages without a body may arrive before it
  /// is opened and are kept; what arrives after close() is dropped.
  virtual Status open(ChannelId channel, BufferPool *pool) = 0;
  virtual void close(ChannelId channel) = 0;

  /// Starts sending to a peer (which may be this rank). `body` is sealed, or null (an empty
  /// one counts as null). Fails (kIo) if
  /// the link to the peer is down.
  virtual Expected<SendTicket> send(int peer, ChannelId channel, const HeaderBytes &header,
                                    BufferRef body) = 0;
  /// Whether the bytes have left this rank (they may not have arrived).
  virtual bool sent(SendTicket ticket) = 0;
  /// Whether all have left: needed before the process ends.
  virtual bool drained() = 0;

  /// The next message of an open channel, from any source.
  virtual std::optional<Arrival> receive(ChannelId channel) = 0;

  /// Moves bytes as far as possible without blocking. Call it whenever the doorbell woke.
  virtual void progress() = 0;

  /// False: no link is down, so that nobody needs to ask for each.
  virtual bool mayBeDown() { return true; }
  /// Ok, or why the link to a peer is down (kIo, kCorrupt); what arrived before can still be
  /// received.
  virtual Status peerStatus(int peer) = 0;

  /// From now on the link to a peer counts as down, for this reason: whoever has noticed that the
  /// peer does not answer. What waits to be sent to it is dropped.
  virtual void giveUp(int peer, Status why) = 0;
};

} // namespace headrace
