// A rank's end of the store.
#include "runtime/bootstrap/store_bootstrap.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

#include "runtime/base/clock.h"
#include "runtime/bootstrap/frames.h"

namespace headrace {

namespace {

/// Between two attempts to reach a store that is not there yet.
constexpr auto kRetry = std::chrono::milliseconds(50);
/// The store says itself when ranks do not come: it has so much longer to say so.
constexpr int64_t kStoreNanoseconds = 5'000'000'000;

constexpr int kAskMilliseconds = 50;

int64_t now() { return RealClock::instance().nowNanoseconds(); }

} // namespace

Expected<std::unique_ptr<Bootstrap>> StoreBootstrap::join(Options options) {
  std::unique_ptr<StoreBootstrap> made(new StoreBootstrap(std::move(options)));
  Options &given = made->options_;
  if (given.rank == 0) {
    HR_ASSIGN_OR_RETURN(made->store_, Store::start(given.store, given.credentials, given.size,
                                                   given.patienceSeconds));
    given.store = made->store_->address();
    if (given.listening) {
      given.listening(given.store);
    }
  }
  HR_RETURN_IF_ERROR(made->connect());
  HR_RETURN_IF_ERROR(made->fence());
  return std::unique_ptr<Bootstrap>(std::move(made));
}

StoreBootstrap::~StoreBootstrap() {
  socket_.close(); // before the store, which waits for all to leave
}

/// Ok once the socket is ready.
Status StoreBootstrap::await(const Socket &socket, short events, int64_t end) const {
  while (true) {
    int64_t left = end - now();
    if (left <= 0) {
      return silent();
    }
    pollfd ready{socket.descriptor(), events, 0};
    int milliseconds = static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, kAskMilliseconds));
    if (poll(&ready, 1, milliseconds) > 0) {
      return {};
    }
    if (options_.interrupted && options_.interrupted()) {
      return stoppedByUser();
    }
  }
}

Status StoreBootstrap::connect() {
  int64_t end = now() + static_cast<int64_t>(options_.patienceSeconds * 1e9);
  while (true) {
    Expected<Socket> started = startConnecting(options_.store);
    Status why = started.status();
    if (started.ok()) {
      auto handshake = Handshake::connecting(std::move(*started), options_.credentials,
                                             {kStorePurpose, options_.rank, options_.size}, 0);
      Handshake::Phase reached = handshake.phase();
      while (handshake.advance() != Handshake::Phase::kDone &&
             handshake.phase() != Handshake::Phase::kFailed) {
        reached = handshake.phase();
        HR_RETURN_IF_ERROR(await(handshake.socket(), handshake.events(), end));
      }
      if (handshake.phase() == Handshake::Phase::kDone) {
        socket_ = handshake.release();
        if (options_.address.empty()) {
          options_.address = ownEnd(socket_).host;
        }
        return {};
      }
      why = handshake.failure();
      if (reached == Handshake::Phase::kAnswer && !why.ok()) {
        return why; // it was there, and said no
      }
    }
    if (options_.interrupted && options_.interrupted()) {
      return stoppedByUser();
    }
    if (now() > end) {
      return makeError(ErrorKind::kIo, "rank 0 was not reached at ", options_.store.toString(),
                       " within ", options_.patienceSeconds,
                       " s (--join-timeout): ", why.message());
    }
    std::this_thread::sleep_for(kRetry);
  }
}

Status StoreBootstrap::silent() const {
  return makeError(ErrorKind::kIo, "rank 0 does not answer, at: ", options_.store.toString());
}

Expected<std::vector<std::string>> StoreBootstrap::exchange(std::string_view record) {
  HR_RETURN_IF_ERROR(checkRecord(record));
  HR_RETURN_IF_ERROR(failure_);
  int64_t end = now() + static_cast<int64_t>(options_.patienceSeconds * 1e9) + kStoreNanoseconds;
  // What the store said before it broke off is the better reason.
  Status sent = sendAll(packFrame(std::string(record)), end);
  Expected<std::string> answer = receiveFrame(end);
  Expected<std::vector<std::string>> records = answer.ok() ? unpackAnswer(std::move(*answer))
                                               : sent.ok() ? answer.status()
                                                           : sent;
  failure_ = records.status();
  return records;
}

Status StoreBootstrap::sendAll(const std::string &bytes, int64_t end) {
  for (size_t sent = 0; sent < bytes.size();) {
    HR_RETURN_IF_ERROR(await(socket_, POLLOUT, end));
    ssize_t count = send(socket_.descriptor(), bytes.data() + sent, bytes.size() - sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      return makeError(ErrorKind::kIo, "rank 0 has left, at: ", options_.store.toString());
    }
    sent += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return {};
}

Expected<std::string> StoreBootstrap::receiveFrame(int64_t end) {
  std::string incoming;
  while (true) {
    HR_RETURN_IF_ERROR(await(socket_, POLLIN, end));
    char part[65536];
    ssize_t got = recv(socket_.descriptor(), part, sizeof(part), MSG_DONTWAIT);
    if (got > 0) {
      incoming.append(part, static_cast<size_t>(got));
      if (std::optional<std::string> frame = takeFrame(incoming)) {
        return std::move(*frame);
      }
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      return makeError(ErrorKind::kIo, "rank 0 has left, at: ", options_.store.toString());
    }
  }
}

} // namespace headrace
