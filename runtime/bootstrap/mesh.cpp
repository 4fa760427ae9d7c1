// Every rank connects to those before it and is connected to by those after it.
#include "runtime/bootstrap/mesh.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/bootstrap/nearby.h"
#include "runtime/bootstrap/reception.h"

namespace headrace {

namespace {

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

/// What a rank tells the others, to be connected with it.
struct Card {
  std::string address; ///< of TCP
  std::string name;    ///< of its Unix socket; "-": none
  std::string place;   ///< where that can be connected with
  std::string host;

  std::string pack() const { return address + " " + name + " " + place + " " + host; }
  static Expected<Card> unpack(const std::string &record) {
    Card card;
    std::istringstream words(record);
    if (!(words >> card.address >> card.name >> card.place >> card.host)) {
      return makeError(ErrorKind::kCorrupt, "no address of a rank: ", record);
    }
    return card;
  }
};

/// The connections of one rank while they come about.
class Mesh {
public:
  Mesh(Bootstrap &bootstrap, const char *purpose) : bootstrap_(bootstrap), purpose_(purpose) {
    links_.sockets.resize(static_cast<size_t>(bootstrap.size()));
    links_.nearby.resize(links_.sockets.size());
  }

  void listen(Socket listener) {
    receptions_.push_back(
        std::make_unique<Reception>(std::move(listener), bootstrap_.credentials(),
                                    Introduction{purpose_, bootstrap_.rank(), bootstrap_.size()}));
  }

  Status connect(const std::vector<Card> &cards) {
    Introduction own{purpose_, bootstrap_.rank(), bootstrap_.size()};
    const Card &ownCard = cards[static_cast<size_t>(bootstrap_.rank())];
    for (size_t peer = 0; peer < cards.size(); ++peer) {
      const Card &card = cards[peer];
      links_.hosts.push_back(card.host);
      bool nearby = ownCard.name != "-" && card.name != "-" && card.place == ownCard.place;
      links_.nearby[peer] = nearby;
      if (static_cast<int>(peer) >= bootstrap_.rank()) {
        continue; // who connects with this rank
      }
      Expected<Socket> socket = Socket();
      if (nearby) {
        socket = connectNearby(card.name);
      } else {
        HR_ASSIGN_OR_RETURN(HostPort address, HostPort::parse(card.address));
        socket = startConnecting(address);
      }
      HR_RETURN_IF_ERROR(socket.status());
      outgoing_.push_back(Handshake::connecting(std::move(*socket), bootstrap_.credentials(), own,
                                                static_cast<int>(peer)));
    }
    return {};
  }

  /// As far as it goes until then.
  Status advance(int64_t end) {
    int64_t left = (end - RealClock::instance().nowNanoseconds()) / 1'000'000 + 1;
    std::vector<pollfd> polls;
    for (const auto &reception : receptions_) {
      reception->addTo(polls);
    }
    for (const Handshake &handshake : outgoing_) {
      polls.push_back({handshake.socket().descriptor(), handshake.events(), 0});
    }
    poll(polls.data(), polls.size(),
         static_cast<int>(std::clamp<int64_t>(left, 0, Reception::kTickMilliseconds)));
    for (const auto &reception : receptions_) {
      for (Reception::Guest &guest : reception->admit()) {
        take(guest.rank, std::move(guest.socket));
      }
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
      if (peer != bootstrap_.rank() && !links_.sockets[static_cast<size_t>(peer)].isOpen()) {
        ranks.push_back(peer);
      }
    }
    return ranks;
  }

  Links release() { return std::move(links_); }

private:
  void take(int peer, Socket socket) {
    if (!links_.sockets[static_cast<size_t>(peer)].isOpen()) {
      links_.sockets[static_cast<size_t>(peer)] = std::move(socket);
    }
  }

  Bootstrap &bootstrap_;
  const char *purpose_;
  std::vector<std::unique_ptr<Reception>> receptions_;
  std::vector<Handshake> outgoing_;
  Links links_;
};

} // namespace

Expected<Links> connectRanks(Bootstrap &bootstrap, const char *purpose, double patienceSeconds,
                             Neighbours neighbours) {
  HR_ASSIGN_OR_RETURN(Socket listener, listenAt({bootstrap.address(), 0}));
  Card own{ownEnd(listener).toString(), "-", placeOfMachine(), hostName()};
  Mesh mesh(bootstrap, purpose);
  mesh.listen(std::move(listener));
  if (Expected<Socket> nearby = listenNearby();
      neighbours == Neighbours::kByUnixSocket && nearby.ok() && !own.place.empty()) {
    own.name = nearbyName(*nearby);
    mesh.listen(std::move(*nearby));
  }
  if (own.place.empty()) {
    own.place = "-";
  }
  HR_ASSIGN_OR_RETURN(std::vector<std::string> records, bootstrap.exchange(own.pack()));
  std::vector<Card> cards;
  for (const std::string &record : records) {
    HR_ASSIGN_OR_RETURN(Card card, Card::unpack(record));
    cards.push_back(std::move(card));
  }
  HR_RETURN_IF_ERROR(mesh.connect(cards));
  int64_t end =
      RealClock::instance().nowNanoseconds() + static_cast<int64_t>(patienceSeconds * 1e9);
  while (!mesh.missing().empty()) {
    HR_RETURN_IF_ERROR(mesh.advance(end));
    if (RealClock::instance().nowNanoseconds() > end) {
      int peer = mesh.missing().front();
      const Card &card = cards[static_cast<size_t>(peer)];
      return makeError(ErrorKind::kIo, "no connection within ", patienceSeconds, " s with rank ",
                       peer, " at ", card.address, " on host: ", card.host);
    }
  }
  // Who is connected with all knows that all others are, too.
  HR_RETURN_IF_ERROR(bootstrap.fence());
  return mesh.release();
}

} // namespace headrace
