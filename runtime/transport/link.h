// Link: the way to one other process, by whatever means. A transport has one for each peer.
#pragma once

#include <cstdint>
#include <deque>

#include "runtime/transport/frame.h"
#include "runtime/transport/landing.h"

namespace headrace {

/// Purpose: moves messages to and from one peer.
/// Thread-safety: one thread at a time sends (write, leftCount, drained, giveUp), and one receives
/// (take, poll), at the same time.
/// Ordering: messages arrive in the order sent. Failure: a Status other than ok says that the link
/// is down for good; the link is not used again but for giveUp().
class Link {
public:
  enum class Room : uint8_t { kForMore, kNone };

  virtual ~Link() = default;
  /// How messages get to the peer: "sockets".
  virtual const char *passageName() const = 0;
  /// Moves messages from the front of the queue as far as there is room.
  virtual Expected<Room> write(std::deque<Outgoing> &queue) = 0;
  /// How many messages need nothing of this process any more.
  virtual uint64_t leftCount() = 0;
  /// Whether all that were taken from the queue have left.
  virtual bool drained() = 0;
  /// Nothing more goes to the peer, and bodies that it has not taken may not be taken.
  virtual void giveUp() {}

  /// What to wait for; -1: others tell of it.
  virtual int descriptor() const = 0;
  /// Takes in what has come when the descriptor is readable.
  virtual Status take(Landing &landing) = 0;
  /// Whether poll() is wanted at each progress of the transport.
  virtual bool polled() const { return false; }
  virtual Status poll(Landing &) { return {}; }
  /// Waits for a little if the process may not end yet, until that time on the real clock.
  virtual void finish(int64_t /*endNanoseconds*/) {}
};

/// What a link says when its peer is no longer there.
inline Status peerLeft(const std::string &peerName) {
  return makeError(ErrorKind::kIo, "the link is down, the peer has left: ", peerName);
}

} // namespace headrace
