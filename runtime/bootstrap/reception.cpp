// Accepting, and turning away.
#include "runtime/bootstrap/reception.h"

#include <cerrno>

#include "runtime/base/clock.h"
#include "runtime/base/log.h"

namespace headrace {

Reception::Reception(Socket listener, const Credentials &credentials, Introduction own)
    : listener_(std::move(listener)), credentials_(&credentials), own_(std::move(own)) {}

void Reception::addTo(std::vector<pollfd> &polls) const {
  if (!full_) {
    polls.push_back({listener_.descriptor(), POLLIN, 0});
  }
  for (const Stranger &stranger : strangers_) {
    polls.push_back({stranger.handshake.socket().descriptor(), stranger.handshake.events(), 0});
  }
}

std::vector<Reception::Guest> Reception::admit() {
  int64_t now = RealClock::instance().nowNanoseconds();
  while (true) {
    Socket accepted = acceptFrom(listener_);
    full_ = !accepted.isOpen() && (errno == EMFILE || errno == ENFILE);
    if (!accepted.isOpen()) {
      break;
    }
    // All ranks may come at once: none of them is to give way.
    if (strangers_.size() >= kStrangersMax + static_cast<size_t>(own_.size)) {
      strangers_.pop_front();
    }
    strangers_.push_back({Handshake::accepting(std::move(accepted), *credentials_, own_), now});
  }
  std::vector<Guest> guests;
  std::deque<Stranger> left;
  for (Stranger &stranger : strangers_) {
    switch (stranger.handshake.advance()) {
    case Handshake::Phase::kDone:
      guests.push_back({stranger.handshake.peer(), stranger.handshake.release()});
      break;
    case Handshake::Phase::kFailed:
      log(LogLevel::kInfo, stranger.handshake.failure().message());
      break;
    default:
      if (now - stranger.since < kStrangerNanosecondsMax) {
        left.push_back(std::move(stranger));
      }
    }
  }
  strangers_.swap(left);
  return guests;
}

} // namespace headrace
