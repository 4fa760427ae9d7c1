// Times of the last signs, and what follows from them.
#include "runtime/communication/heartbeat.h"

#include <algorithm>

namespace headrace {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kLittlePatience = 3 * kSecond;
/// Signs that may be lost or late before a peer counts as silent.
constexpr int64_t kSignsAtLeast = 8;

} // namespace

Heartbeat::Heartbeat(Transport &transport, HeartbeatOptions options)
    : transport_(transport), options_(options),
      heard_(static_cast<size_t>(transport.size()), options.clock->nowNanoseconds()) {}

int64_t Heartbeat::intervalNanoseconds(int64_t silenceNanosecondsMax) {
  return std::min(silenceNanosecondsMax / kSignsAtLeast, kLittlePatience / kSignsAtLeast);
}

void Heartbeat::heard(int peer) {
  heard_[static_cast<size_t>(peer)] = options_.clock->nowNanoseconds();
}

bool Heartbeat::due() {
  int64_t now = options_.clock->nowNanoseconds();
  if (options_.silenceNanosecondsMax == 0 || now < next_) {
    return false;
  }
  next_ = now + intervalNanoseconds(options_.silenceNanosecondsMax);
  return true;
}

std::vector<int> Heartbeat::peers() {
  std::vector<int> peers;
  for (int peer = 0; peer < transport_.size(); ++peer) {
    if (transport_.bodyPassage(peer) == BodyPassage::kCopied && transport_.peerStatus(peer).ok()) {
      peers.push_back(peer);
    }
  }
  return peers;
}

std::vector<int> Heartbeat::silent(Patience patience) {
  std::vector<int> found;
  if (options_.silenceNanosecondsMax == 0) {
    return found;
  }
  int64_t most = patience == Patience::kFull
                     ? options_.silenceNanosecondsMax
                     : std::min(options_.silenceNanosecondsMax, kLittlePatience);
  int64_t now = options_.clock->nowNanoseconds();
  for (int peer : peers()) {
    if (now - heard_[static_cast<size_t>(peer)] > most) {
      found.push_back(peer);
    }
  }
  return found;
}

Status Heartbeat::why(int peer) const {
  int64_t silence = options_.clock->nowNanoseconds() - heard_[static_cast<size_t>(peer)];
  return makeError(ErrorKind::kIo, "no sign of life for ",
                   static_cast<double>(silence / (kSecond / 10)) / 10,
                   " s (its process is stopped, or its machine hangs; --peer-timeout sets for how "
                   "long to wait): ",
                   transport_.peerName(peer));
}

} // namespace headrace
