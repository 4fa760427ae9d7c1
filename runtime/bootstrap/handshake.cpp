// Advancing a handshake; every message has a fixed length.
#include "runtime/bootstrap/handshake.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "runtime/base/check.h"
#include "runtime/base/sha256.h"

namespace headrace {

namespace {

constexpr char kMagic[] = "HRJOIN1\n";
constexpr size_t kMagicBytes = 8;
constexpr size_t kNonceBytes = 32;
constexpr size_t kProofBytes = 32;
constexpr size_t kHelloBytes = kMagicBytes + kNonceBytes;
constexpr size_t kProofMessageBytes = kMagicBytes + 8 + kNonceBytes + kProofBytes;
constexpr size_t kAnswerBytes = kMagicBytes + 4 + kProofBytes;

std::string packed(int number) {
  auto value = static_cast<uint32_t>(number);
  std::string bytes(4, '\0');
  for (size_t index = 0; index < 4; ++index) {
    bytes[index] = static_cast<char>(value >> (8 * index));
  }
  return bytes;
}

int unpacked(const std::string &text, size_t at) {
  uint32_t value = 0;
  for (size_t index = 0; index < 4; ++index) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(text[at + index])) << (8 * index);
  }
  return static_cast<int>(value);
}

/// Takes as long wherever the first difference is.
bool equalSecretly(const std::string &left, const std::string &right) {
  unsigned difference = left.size() == right.size() ? 0 : 1;
  for (size_t index = 0; index < std::min(left.size(), right.size()); ++index) {
    difference |= static_cast<unsigned>(static_cast<uint8_t>(left[index] ^ right[index]));
  }
  return difference == 0;
}

} // namespace

Handshake Handshake::connecting(Socket socket, const Credentials &credentials, Introduction own,
                                int peer) {
  return Handshake(std::move(socket), credentials, std::move(own), peer, Phase::kConnecting);
}

Handshake Handshake::accepting(Socket socket, const Credentials &credentials, Introduction own) {
  Handshake handshake(std::move(socket), credentials, std::move(own), -1, Phase::kProof);
  handshake.sendHello();
  return handshake;
}

void Handshake::sendHello() {
  HR_CHECK(getrandom(ownNonce_.data(), ownNonce_.size(), 0) ==
           static_cast<ssize_t>(ownNonce_.size()));
  outgoing_ = std::string(kMagic, kMagicBytes) + std::string(ownNonce_.data(), ownNonce_.size());
}

std::string Handshake::proof(const char *side, int connecting, int accepting, int size) const {
  const Nonce &first = phase_ == Phase::kProof ? ownNonce_ : otherNonce_;
  const Nonce &second = phase_ == Phase::kProof ? otherNonce_ : ownNonce_;
  std::string message = side;
  for (const std::string &part : {credentials_->session, own_.purpose}) {
    message += packed(static_cast<int>(part.size())) + part;
  }
  message += packed(connecting) + packed(accepting) + packed(size);
  message.append(first.data(), first.size()).append(second.data(), second.size());
  return hmacSha256(credentials_->secret, message);
}

void Handshake::fail(Status why) {
  failure_ = std::move(why);
  phase_ = Phase::kFailed;
  socket_.close();
}

bool Handshake::flush() {
  while (!outgoing_.empty()) {
    ssize_t sent =
        send(socket_.descriptor(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) {
        continue;
      }
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        fail(makeError(ErrorKind::kIo, gone(), std::strerror(errno)));
      }
      return false;
    }
    outgoing_.erase(0, static_cast<size_t>(sent));
  }
  return true;
}

/// Whether so many bytes have come; never reads more.
bool Handshake::fill(size_t bytes) {
  while (incoming_.size() < bytes) {
    char part[kProofMessageBytes];
    ssize_t got = recv(socket_.descriptor(), part, bytes - incoming_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return false;
    }
    if (got <= 0) {
      // Who accepts says nothing to strangers: it closes.
      fail(makeError(ErrorKind::kIo, gone(),
                     phase_ == Phase::kAnswer
                         ? "has it another secret (HEADRACE_SECRET), or is it of another job?"
                     : got < 0 ? std::strerror(errno)
                               : "it closed the connection"));
      return false;
    }
    incoming_.append(part, static_cast<size_t>(got));
    size_t checked = std::min(incoming_.size(), kMagicBytes);
    if (std::memcmp(incoming_.data(), kMagic, checked) != 0) {
      fail(makeError(ErrorKind::kIo, gone(), "it is no rank of headrace"));
      return false;
    }
  }
  return true;
}

std::string Handshake::gone() const {
  return peer_ < 0 ? "a stranger was turned away: "
                   : "rank " + std::to_string(peer_) + " did not let this rank in: ";
}

short Handshake::events() const {
  bool writes = phase_ == Phase::kConnecting || !outgoing_.empty();
  return static_cast<short>(POLLIN | (writes ? POLLOUT : 0));
}

Handshake::Phase Handshake::advance() {
  if (phase_ == Phase::kConnecting) {
    pollfd ready{socket_.descriptor(), POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) {
      return phase_;
    }
    if (int error = connectError(socket_); error != 0) {
      fail(makeError(ErrorKind::kIo, gone(), std::strerror(error)));
      return phase_;
    }
    phase_ = Phase::kHello;
  }
  if (phase_ == Phase::kHello && fill(kHelloBytes)) {
    takeHello();
  }
  if (phase_ != Phase::kDone && phase_ != Phase::kFailed && flush()) {
    if (phase_ == Phase::kProof && fill(kProofMessageBytes)) {
      takeProof();
    } else if (phase_ == Phase::kAnswer && fill(kAnswerBytes)) {
      takeAnswer();
    }
  }
  return phase_;
}

void Handshake::takeHello() {
  std::memcpy(otherNonce_.data(), incoming_.data() + kMagicBytes, kNonceBytes);
  incoming_.clear();
  sendHello(); // the magic and a number of its own, between which rank and size go
  outgoing_.insert(kMagicBytes, packed(own_.rank) + packed(own_.size));
  outgoing_ += proof("connects", own_.rank, peer_, own_.size);
  phase_ = Phase::kAnswer;
}

void Handshake::takeProof() {
  int rank = unpacked(incoming_, kMagicBytes);
  int size = unpacked(incoming_, kMagicBytes + 4);
  std::memcpy(otherNonce_.data(), incoming_.data() + kMagicBytes + 8, kNonceBytes);
  std::string given = incoming_.substr(kProofMessageBytes - kProofBytes);
  if (!equalSecretly(given, proof("connects", rank, own_.rank, size))) {
    fail(makeError(ErrorKind::kIo, gone(), "it does not know the secret"));
    return;
  }
  outgoing_ = std::string(kMagic, kMagicBytes) + packed(own_.size) +
              proof("accepts", rank, own_.rank, own_.size);
  // It fits what the kernel keeps for a new connection; if not, the other end is told nothing.
  if (!flush()) {
    // no test: 44 bytes always fit
    fail(makeError(ErrorKind::kIo, gone(), "it takes no answer"));
  } else if (size != own_.size || rank < 0 || rank >= size) {
    fail(makeError(ErrorKind::kUser, "a rank of another size of the job was turned away, rank ",
                   rank, " of ", size, "; this one has a size of ", own_.size));
  } else {
    peer_ = rank;
    phase_ = Phase::kDone;
  }
}

void Handshake::takeAnswer() {
  int size = unpacked(incoming_, kMagicBytes);
  if (!equalSecretly(incoming_.substr(kAnswerBytes - kProofBytes),
                     proof("accepts", own_.rank, peer_, size))) {
    fail(makeError(ErrorKind::kIo, gone(), "it does not know the secret"));
  } else if (size != own_.size) {
    fail(makeError(ErrorKind::kUser, "all ranks must be given the same size, rank ", own_.rank,
                   " has ", own_.size, ", rank ", peer_, " has: ", size));
  } else {
    phase_ = Phase::kDone;
  }
}

} // namespace headrace
