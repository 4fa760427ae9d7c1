// getaddrinfo and the socket calls.
#include "runtime/bootstrap/tcp.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headrace {

namespace {

constexpr int kBacklog = 4096;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Expected<Addresses> resolve(const HostPort &where, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo *found = nullptr;
  std::string port = std::to_string(where.port);
  if (int error = getaddrinfo(where.host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return makeError(ErrorKind::kIo, "no address of a host (", gai_strerror(error),
                     "): ", where.host);
  }
  return Addresses(found, freeaddrinfo);
}

HostPort nameOf(const sockaddr_storage &address, socklen_t length) {
  char host[NI_MAXHOST] = "";
  char port[NI_MAXSERV] = "0";
  getnameinfo(reinterpret_cast<const sockaddr *>(&address), length, host, sizeof(host), port,
              sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
  return {host, std::atoi(port)};
}

/// A message is sent when it is ready: what waits for more to send would wait for an answer.
void sendAtOnce(int socket) {
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

} // namespace

void Socket::close() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

Expected<HostPort> HostPort::parse(const std::string &text) {
  size_t colon = text.rfind(':');
  HostPort parsed;
  if (colon != std::string::npos && colon + 1 < text.size() && text.size() - colon <= 6 &&
      text.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
    parsed = {text.substr(0, colon), std::stoi(text.substr(colon + 1))};
  }
  if (parsed.host.size() > 2 && parsed.host.front() == '[' && parsed.host.back() == ']') {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  }
  if (parsed.host.empty() || parsed.port < 1 || parsed.port > 65535) {
    return makeError(ErrorKind::kUser, "expected HOST:PORT, got: ", text);
  }
  return parsed;
}

std::string HostPort::toString() const {
  bool numberOfSix = host.find(':') != std::string::npos;
  return (numberOfSix ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Expected<Socket> listenAt(const HostPort &where) {
  HR_ASSIGN_OR_RETURN(Addresses addresses, resolve(where, AI_PASSIVE));
  int error = 0;
  for (addrinfo *at = addresses.get(); at; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int on = 1;
    setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(socket.descriptor(), at->ai_addr, at->ai_addrlen) == 0 &&
        listen(socket.descriptor(), kBacklog) == 0) {
      return socket;
    }
    error = errno;
  }
  return makeError(ErrorKind::kIo, "cannot listen (", std::strerror(error),
                   "): ", where.toString());
}

Socket acceptFrom(const Socket &listener) {
  Socket accepted(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (accepted.isOpen()) {
    sendAtOnce(accepted.descriptor());
  }
  return accepted;
}

Expected<Socket> startConnecting(const HostPort &where) {
  HR_ASSIGN_OR_RETURN(Addresses addresses, resolve(where, 0));
  int error = 0;
  for (addrinfo *at = addresses.get(); at; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(socket.descriptor(), at->ai_addr, at->ai_addrlen) == 0 || errno == EINPROGRESS) {
      sendAtOnce(socket.descriptor());
      return socket;
    }
    error = errno;
  }
  return makeError(ErrorKind::kIo, "cannot connect (", std::strerror(error),
                   "): ", where.toString());
}

int connectError(const Socket &socket) {
  int error = 0;
  socklen_t length = sizeof(error);
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

HostPort ownEnd(const Socket &socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), &length);
  return nameOf(address, length);
}

HostPort otherEnd(const Socket &socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getpeername(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), &length);
  return nameOf(address, length);
}

} // namespace headrace
