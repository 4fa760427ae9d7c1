// Handshake: both ends of a connection prove that they know the job's secret before anything else
// of it is read. Strangers see a random number, and send at most 80 bytes.
//
//   who accepts -> who connects:  | magic 8 | nonce 32 |
//   who connects -> who accepts:  | magic 8 | rank 4 | size 4 | nonce 32 | proof 32 |
//   who accepts -> who connects:  | magic 8 | size 4 | proof 32 |
//
//   proof = HMAC-SHA-256(secret; side, session, purpose, rank of both, size, nonces of both)
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/bootstrap/tcp.h"

namespace headrace {

/// What the ranks of a job have in common.
struct Credentials {
  std::string secret;
  /// Tells this start of the job from others with the same secret.
  std::string session;
};

/// One end as it introduces itself.
struct Introduction {
  std::string purpose; ///< of the connection: the same on both ends
  int rank = -1;
  int size = 0;
};

/// Purpose: one handshake, advanced without blocking.
/// Ownership: owns the socket until release(). Thread-safety: none. Nothing is secret from who
/// listens on the way: that is for the network to see to.
class Handshake {
public:
  enum class Phase : uint8_t { kConnecting, kHello, kProof, kAnswer, kDone, kFailed };

  /// For who connects, to a rank that it names.
  static Handshake connecting(Socket socket, const Credentials &credentials, Introduction own,
                              int peer);
  /// For who accepts.
  static Handshake accepting(Socket socket, const Credentials &credentials, Introduction own);

  /// As far as it goes now.
  Phase advance();
  Phase phase() const { return phase_; }
  /// Why it failed.
  const Status &failure() const { return failure_; }
  /// The other's rank: proven once the phase is kDone.
  int peer() const { return peer_; }
  const Socket &socket() const { return socket_; }
  /// What to poll the socket for.
  short events() const;
  Socket release() { return std::move(socket_); }

private:
  using Nonce = std::array<char, 32>;
  Handshake(Socket socket, const Credentials &credentials, Introduction own, int peer, Phase first)
      : socket_(std::move(socket)), credentials_(&credentials), own_(std::move(own)), peer_(peer),
        phase_(first) {}
  bool flush();
  bool fill(size_t bytes);
  void fail(Status why);
  std::string gone() const;
  void sendHello();
  void takeHello();
  void takeProof();
  void takeAnswer();
  std::string proof(const char *side, int connecting, int accepting, int size) const;

  Socket socket_;
  const Credentials *credentials_;
  Introduction own_;
  int peer_;
  Phase phase_;
  Status failure_;
  Nonce ownNonce_{};
  Nonce otherNonce_{};
  std::string outgoing_;
  std::string incoming_;
};

} // namespace headrace
