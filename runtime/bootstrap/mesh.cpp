// Every rank connects to those before it and is connected to by those after it.
#include "runtime/bootstrap/mesh.h"

#include <algorithm>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/bootstrap/reception.h"

namespace headrace {

namespace {

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

/// The connections of one rank while they come about.
class Mesh {
public:
  Mesh(Bootstrap &bootstrap, const char *purpose, Reception reception)
      : bootstrap_(bootstrap), purpose_(purpose), reception_(std::move(reception)),
        sockets_(static_cast<size_t>(bootstrap.size())) {}

  Status connect(const std::vector<HostPort> &addresses) {
    Introduction own{purpose_, bootstrap_.rank(), bootstrap_.size()};
    for (int peer = 0; peer < bootstrap_.rank(); ++peer) {
      HR_ASSIGN_OR_RETURN(Socket socket, startConnecting(addresses[static_cast<size_t>(peer)]));
      outgoing_.push_back(
          Handshake::connecting(std::move(socket), bootstrap_.credentials(), own, peer));
    }
    return {};
  }

  /// As far as it goes until then.
  Status advance(int64_t end) {
    int64_t left = (end - RealClock::instance().nowNanoseconds()) / 1'000'000 + 1;
    std::vector<pollfd> polls;
    reception_.addTo(polls);
    for (const Handshake &handshake : outgoing_) {
      polls.push_back({handshake.socket().descriptor(), handshake.events(), 0});
    }
    poll(polls.data(), polls.size(),
         static_cast<int>(std::clamp<int64_t>(left, 0, Reception::kTickMilliseconds)));
    for (Reception::Guest &guest : reception_.admit()) {
      take(guest.rank, std::move(guest.socket));
    }
    for (Handshake &handshake : outgoing_) {
      switch (handshake.advance()) {
      case Handshake::Phase::kFailed:
        return handshake.failure();
      case Handshake::Phase::kDone:
        take(handshake.peer(), handshake.release());
        break;
      default:
        break;
      }
    }
    std::erase_if(outgoing_, [](const Handshake &handshake) {
      return handshake.phase() == Handshake::Phase::kDone;
    });
    return {};
  }

  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int peer = 0; peer < bootstrap_.size(); ++peer) {
      if (peer != bootstrap_.rank() && !sockets_[static_cast<size_t>(peer)].isOpen()) {
        ranks.push_back(peer);
      }
    }
    return ranks;
  }

  std::vector<Socket> release() { return std::move(sockets_); }

private:
  void take(int peer, Socket socket) {
    if (!sockets_[static_cast<size_t>(peer)].isOpen()) {
      sockets_[static_cast<size_t>(peer)] = std::move(socket);
    }
  }

  Bootstrap &bootstrap_;
  const char *purpose_;
  Reception reception_;
  std::vector<Handshake> outgoing_;
  std::vector<Socket> sockets_; ///< by peer
};

} // namespace

Expected<Links> connectRanks(Bootstrap &bootstrap, const char *purpose, double patienceSeconds) {
  HR_ASSIGN_OR_RETURN(Socket listener, listenAt({bootstrap.address(), 0}));
  Reception reception(std::move(listener), bootstrap.credentials(),
                      {purpose, bootstrap.rank(), bootstrap.size()});
  std::string own = reception.address().toString() + " " + hostName();
  HR_ASSIGN_OR_RETURN(std::vector<std::string> records, bootstrap.exchange(own));
  std::vector<HostPort> addresses;
  std::vector<std::string> hosts;
  for (const std::string &record : records) {
    size_t space = record.find(' ');
    HR_ASSIGN_OR_RETURN(HostPort address, HostPort::parse(record.substr(0, space)));
    addresses.push_back(address);
    hosts.push_back(record.substr(space + 1));
  }
  Mesh mesh(bootstrap, purpose, std::move(reception));
  HR_RETURN_IF_ERROR(mesh.connect(addresses));
  int64_t end =
      RealClock::instance().nowNanoseconds() + static_cast<int64_t>(patienceSeconds * 1e9);
  while (!mesh.missing().empty()) {
    HR_RETURN_IF_ERROR(mesh.advance(end));
    if (RealClock::instance().nowNanoseconds() > end) {
      int peer = mesh.missing().front();
      return makeError(ErrorKind::kIo, "no connection within ", patienceSeconds, " s with rank ",
                       peer, " at ", addresses[static_cast<size_t>(peer)].toString(),
                       " on host: ", hosts[static_cast<size_t>(peer)]);
    }
  }
  // Who is connected with all knows that all others are, too.
  HR_RETURN_IF_ERROR(bootstrap.fence());
  return Links{mesh.release(), std::move(hosts)};
}

} // namespace headrace
