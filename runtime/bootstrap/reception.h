// Reception: listens, and lets in those who prove that they are ranks of the job.
#pragma once

#include <poll.h>

#include <deque>
#include <vector>

#include "runtime/bootstrap/handshake.h"

namespace headrace {

/// Purpose: the accepting end of many handshakes, advanced without blocking by who polls it.
/// Ownership: owns the listening socket, and the connections until they are let in. Thread-safety:
/// none. Bounded: so many strangers at once, each for so long and so many bytes; the oldest gives
/// way.
class Reception {
public:
  static constexpr size_t kStrangersMax = 64;
  static constexpr int64_t kStrangerNanosecondsMax = 3'000'000'000;
  /// How often admit() is to be called while isWaiting().
  static constexpr int kTickMilliseconds = 200;

  Reception(Socket listener, const Credentials &credentials, Introduction own);

  /// What to poll for.
  void addTo(std::vector<pollfd> &polls) const;
  /// Whether a stranger is at the door, or there is no room for one.
  bool isWaiting() const { return full_ || !strangers_.empty(); }

  struct Guest {
    int rank;
    Socket socket;
  };
  /// Goes on with everything that is under way; those whose rank is now proven.
  std::vector<Guest> admit();
  HostPort address() const { return ownEnd(listener_); }

private:
  struct Stranger {
    Handshake handshake;
    int64_t since;
  };
  Socket listener_;
  const Credentials *credentials_;
  Introduction own_;
  std::deque<Stranger> strangers_; ///< the oldest first
  bool full_ = false;              ///< the process has no descriptor for another
};

} // namespace headrace
