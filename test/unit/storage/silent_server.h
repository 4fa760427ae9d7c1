// A server that takes requests and answers none: what a time-out and a limit of requests are for.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace headrace::storage {

class SilentServer {
public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof here;
    ::bind(socket_, reinterpret_cast<sockaddr *>(&here), bytes);
    ::listen(socket_, 64);
    ::getsockname(socket_, reinterpret_cast<sockaddr *>(&here), &bytes);
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this] {
      for (int taken; (taken = ::accept(socket_, nullptr, nullptr)) >= 0;) {
        open_.push_back(taken);
        ++connections_;
      }
    });
  }
  ~SilentServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    for (int each : open_) {
      ::close(each);
    }
    ::close(socket_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/x.parquet"; }
  int connections() const { return connections_; }

private:
  const int socket_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::vector<int> open_; ///< of the thread
  std::thread thread_;
};

} // namespace headrace::storage
