// One thread with all connections; whoever waits for a message sleeps on a condition.
#include "runtime/session/control.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/bootstrap/frames.h"

namespace headrace::session {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
/// Signs that may be late before a peer counts as silent.
constexpr int64_t kSignsAtLeast = 8;
constexpr int64_t kIntervalMax = kSecond;
constexpr int64_t kLeaveNanosecondsMax = kSecond;
constexpr auto kAsk = std::chrono::milliseconds(50);

int64_t now() { return RealClock::instance().nowNanoseconds(); }

std::string pack(const Message &message) {
  std::string text(1 + 2 * sizeof(uint64_t), '\0');
  text[0] = static_cast<char>(message.kind);
  std::memcpy(text.data() + 1, &message.call, sizeof(uint64_t));
  std::memcpy(text.data() + 1 + sizeof(uint64_t), &message.attempt, sizeof(uint64_t));
  return packFrame(text + message.text);
}

std::optional<Message> unpack(const std::string &frame) {
  Message message;
  if (frame.size() < 1 + 2 * sizeof(uint64_t) ||
      static_cast<uint8_t>(frame[0]) > static_cast<uint8_t>(Message::Kind::kOut)) {
    return std::nullopt;
  }
  message.kind = static_cast<Message::Kind>(frame[0]);
  std::memcpy(&message.call, frame.data() + 1, sizeof(uint64_t));
  std::memcpy(&message.attempt, frame.data() + 1 + sizeof(uint64_t), sizeof(uint64_t));
  message.text = frame.substr(1 + 2 * sizeof(uint64_t));
  return message;
}

} // namespace

Control::Control(int rank, Links links, double silenceSecondsMax)
    : rank_(rank), hosts_(std::move(links.hosts)),
      silence_(static_cast<int64_t>(silenceSecondsMax * kSecond)),
      interval_(std::min(silence_ / kSignsAtLeast, kIntervalMax)), peers_(links.sockets.size()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  HR_CHECK(wake_ >= 0);
  for (size_t peer = 0; peer < peers_.size(); ++peer) {
    peers_[peer].socket = std::move(links.sockets[peer]);
    peers_[peer].lastSign = now();
  }
  // Signals are for the rank's own thread, which they wake.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Control::~Control() {
  {
    std::lock_guard lock(mutex_);
    whenGone_ = nullptr;
    for (Peer &peer : peers_) {
      tellLocked(peer, {Message::Kind::kLeaving});
    }
    leaving_ = true;
  }
  wake();
  thread_.join();
  ::close(wake_);
}

std::string Control::nameOf(int rank) const {
  return "rank " + std::to_string(rank) + " on host " + hosts_[static_cast<size_t>(rank)];
}

void Control::wake() {
  uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

void Control::tellLocked(Peer &peer, const Message &message) {
  if (peer.socket.isOpen()) {
    peer.outgoing += pack(message);
  }
}

void Control::tell(int peer, const Message &message) {
  {
    std::lock_guard lock(mutex_);
    Peer &told = peers_[static_cast<size_t>(peer)];
    tellLocked(told, message);
    flushLocked(peer, told);
  }
  wake();
}

void Control::tellAll(const Message &message) {
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != rank_) {
      tell(peer, message);
    }
  }
}

Expected<Message> Control::hear(int peer, const Interrupted &interrupted, OnLoss onLoss) {
  std::unique_lock lock(mutex_);
  Peer &heard = peers_[static_cast<size_t>(peer)];
  while (heard.heard.empty()) {
    HR_RETURN_IF_ERROR(expelled_);
    if (onLoss == OnLoss::kFail) {
      HR_RETURN_IF_ERROR(lost_);
    }
    HR_RETURN_IF_ERROR(heard.gone);
    news_.wait_for(lock, kAsk);
    if (interrupted) {
      lock.unlock(); // it may be a callback that waits for another thread
      if (interrupted()) {
        return stoppedByUser();
      }
      lock.lock();
    }
  }
  Message message = std::move(heard.heard.front());
  heard.heard.pop_front();
  return message;
}

Status Control::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

bool Control::isLost(int peer) const {
  std::lock_guard lock(mutex_);
  return peers_[static_cast<size_t>(peer)].isLost;
}

bool Control::isHere(int peer) const {
  std::lock_guard lock(mutex_);
  return peers_[static_cast<size_t>(peer)].gone.ok();
}

Status Control::expelled() const {
  std::lock_guard lock(mutex_);
  return expelled_;
}

void Control::expel(int peer, const Status &why) {
  {
    std::lock_guard lock(mutex_);
    Peer &told = peers_[static_cast<size_t>(peer)];
    if (told.socket.isOpen()) {
      expelLocked(peer, told, why);
    }
  }
  wake();
}

/// A peer that is only stopped finds the message when it wakes.
void Control::expelLocked(int rank, Peer &peer, Status why) {
  tellLocked(peer, {Message::Kind::kOut, 0, 0, why.message()});
  flushLocked(rank, peer);
  if (peer.socket.isOpen()) {
    loseLocked(rank, peer, Ending::kLost, std::move(why));
  }
}

void Control::leaveExpelledLocked(const Status &why) {
  expelled_ = why;
  lost_ = why;
  for (int rank = 0; rank < size(); ++rank) {
    if (Peer &peer = peers_[static_cast<size_t>(rank)]; peer.socket.isOpen()) {
      loseLocked(rank, peer, Ending::kLost, why);
    }
  }
}

void Control::whenGone(std::function<void(int, const Status &)> call) {
  std::lock_guard lock(mutex_);
  whenGone_ = std::move(call);
}

void Control::loseLocked(int rank, Peer &peer, Ending ending, Status why) {
  log(ending == Ending::kLost ? LogLevel::kWarning : LogLevel::kDebug, "rank ", rank_, ": ",
      why.message());
  peer.socket.close();
  peer.outgoing.clear();
  if (ending == Ending::kLost && lost_.ok() && !leaving_) {
    lost_ = why;
  }
  peer.isLost = ending == Ending::kLost;
  untold_.emplace_back(rank, why);
  peer.gone = std::move(why);
}

void Control::takeFramesLocked(int rank, Peer &peer) {
  while (std::optional<std::string> frame = takeFrame(peer.incoming)) {
    std::optional<Message> message = unpack(*frame);
    if (!message) {
      loseLocked(rank, peer, Ending::kLost,
                 makeError(ErrorKind::kCorrupt, "what is no message came from ", nameOf(rank)));
      return;
    }
    if (message->kind == Message::Kind::kLeaving) {
      loseLocked(rank, peer, Ending::kInOrder,
                 makeError(ErrorKind::kIo, "a rank has left the cluster: ", nameOf(rank)));
      return;
    }
    if (message->kind == Message::Kind::kOut) {
      leaveExpelledLocked(
          makeError(ErrorKind::kIo, "the others go on without this rank: ", message->text));
      return;
    }
    if (message->kind != Message::Kind::kAlive) {
      peer.heard.push_back(std::move(*message));
    }
  }
}

void Control::readLocked(int rank, Peer &peer) {
  char part[65536];
  while (peer.socket.isOpen()) {
    ssize_t got = recv(peer.socket.descriptor(), part, sizeof(part), MSG_DONTWAIT);
    if (got > 0) {
      peer.lastSign = now();
      peer.incoming.append(part, static_cast<size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    bool over = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    takeFramesLocked(rank, peer);
    if (over && peer.socket.isOpen()) {
      loseLocked(rank, peer, Ending::kLost,
                 makeError(ErrorKind::kIo, "the process of a rank has ended: ", nameOf(rank)));
    }
    return;
  }
}

void Control::flushLocked(int rank, Peer &peer) {
  while (peer.socket.isOpen() && !peer.outgoing.empty()) {
    ssize_t sent = send(peer.socket.descriptor(), peer.outgoing.data(), peer.outgoing.size(),
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      peer.outgoing.erase(0, static_cast<size_t>(sent));
    } else if (sent < 0 && errno != EINTR) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        readLocked(rank, peer); // its last words, and then its end
      }
      return;
    }
  }
}

void Control::beatLocked(int64_t at) {
  if (silence_ == 0 || at < nextBeat_) {
    return;
  }
  nextBeat_ = at + interval_;
  for (int rank = 0; rank < size(); ++rank) {
    Peer &peer = peers_[static_cast<size_t>(rank)];
    if (peer.outgoing.empty()) { // else what is on its way is a sign
      tellLocked(peer, {Message::Kind::kAlive});
      flushLocked(rank, peer);
    }
    int64_t silent = at - peer.lastSign;
    if (peer.socket.isOpen() && silent > silence_) {
      expelLocked(rank, peer,
                  makeError(ErrorKind::kIo, "no sign of life for ",
                            static_cast<double>(silent / (kSecond / 10)) / 10,
                            " s (its process is stopped, or its machine hangs; --peer-timeout sets "
                            "for how long to wait): ",
                            nameOf(rank)));
    }
  }
}

void Control::serve() {
  int64_t end = INT64_MAX;
  while (true) {
    std::vector<pollfd> polls{{wake_, POLLIN, 0}};
    {
      std::lock_guard lock(mutex_);
      bool unsent = false;
      for (const Peer &peer : peers_) {
        unsent |= peer.socket.isOpen() && !peer.outgoing.empty();
        auto events = static_cast<short>(peer.outgoing.empty() ? POLLIN : POLLIN | POLLOUT);
        polls.push_back({peer.socket.descriptor(), events, 0});
      }
      if (leaving_) {
        end = std::min(end, now() + kLeaveNanosecondsMax);
        if (!unsent || now() >= end) {
          return;
        }
      }
    }
    int64_t wait = interval_ > 0 ? interval_ : INT64_MAX;
    wait = std::min(wait, end == INT64_MAX ? wait : end - now());
    int milliseconds =
        wait == INT64_MAX ? -1 : static_cast<int>(std::max<int64_t>(0, wait) / 1'000'000 + 1);
    poll(polls.data(), polls.size(), milliseconds);
    uint64_t rung = 0;
    (void)!read(wake_, &rung, sizeof(rung));
    std::vector<std::pair<int, Status>> untold;
    std::function<void(int, const Status &)> whenGone;
    {
      std::lock_guard lock(mutex_);
      for (int rank = 0; rank < size(); ++rank) {
        Peer &peer = peers_[static_cast<size_t>(rank)];
        flushLocked(rank, peer);
        readLocked(rank, peer);
      }
      beatLocked(now()); // after reading: this process may itself have been stopped
      untold.swap(untold_);
      whenGone = whenGone_;
      news_.notify_all();
    }
    for (const auto &[rank, why] : untold) {
      if (whenGone) {
        whenGone(rank, why);
      }
    }
  }
}

} // namespace headrace::session
