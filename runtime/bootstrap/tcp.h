// TCP sockets by the text of an address: listening, connecting, and what they are called.
#pragma once

#include <string>
#include <utility>

#include "runtime/base/status.h"

namespace headrace {

/// A descriptor that is closed with it. Move-only.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(Socket &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int descriptor() const { return descriptor_; }
  bool isOpen() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }
  void close();

private:
  int descriptor_ = -1;
};

/// Where something listens: a name or a number of a host, and a port.
struct HostPort {
  std::string host;
  int port = 0;

  /// "10.0.0.1:29500", "[::1]:29500", "node7:29500"; kUser if it is none.
  static Expected<HostPort> parse(const std::string &text);
  std::string toString() const;
};

/// A socket that listens on that address of this machine and no other; port 0: any free one.
Expected<Socket> listenAt(const HostPort &where);
/// The next who asks to be connected, if there is one; the socket does not block.
Socket acceptFrom(const Socket &listener);
/// Begins to connect; the socket does not block, and is writable when it is connected or refused.
Expected<Socket> startConnecting(const HostPort &where);
/// Why connecting failed; 0 if it did not.
int connectError(const Socket &socket);

/// The numbers of the two ends.
HostPort ownEnd(const Socket &socket);
HostPort otherEnd(const Socket &socket);

} // namespace headrace
