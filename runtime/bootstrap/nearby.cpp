// The abstract names of Linux.
#include "runtime/bootstrap/nearby.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace headrace {

namespace {

constexpr int kBacklog = 4096;

Socket newSocket() {
  return Socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

} // namespace

Expected<Socket> listenNearby() {
  Socket socket = newSocket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An address of nothing but its family: the system draws a name.
  if (bind(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), sizeof(sa_family_t)) != 0 ||
      listen(socket.descriptor(), kBacklog) != 0) {
    // no test: it takes a system without Unix sockets
    return makeError(ErrorKind::kIo, "no socket between processes: ", std::strerror(errno));
  }
  return socket;
}

std::string nearbyName(const Socket &listener) {
  sockaddr_un address{};
  socklen_t length = sizeof(address);
  getsockname(listener.descriptor(), reinterpret_cast<sockaddr *>(&address), &length);
  size_t before = offsetof(sockaddr_un, sun_path) + 1; // and a zero, which says that it is no file
  return length > before ? std::string(address.sun_path + 1, length - before) : std::string();
}

Expected<Socket> connectNearby(const std::string &name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof(address.sun_path)) {
    return makeError(ErrorKind::kIo, "no name of a socket: ", name);
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  Socket socket = newSocket();
  if (connect(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), length) != 0) {
    return makeError(ErrorKind::kIo, "cannot connect with a process of this machine (",
                     std::strerror(errno), "): ", name);
  }
  return socket;
}

std::string placeOfMachine() {
  std::string start;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> start;
  char network[64] = "";
  ssize_t length = readlink("/proc/self/ns/net", network, sizeof(network) - 1);
  return start.empty() || length <= 0 ? std::string() : start + "/" + network;
}

} // namespace headrace
