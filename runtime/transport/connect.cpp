// From the mesh to a transport.
#include "runtime/transport/connect.h"

#include <algorithm>
#include <optional>

#include "runtime/base/log.h"
#include "runtime/bootstrap/mesh.h"
#include "runtime/transport/ucx_link.h"

namespace headrace {

namespace {

constexpr char kLinked = '1';

/// Takes a neighbourhood's sockets, those of ranks on this machine, to share memory with them.
Status joinNeighbours(TransportLinks &all, const std::vector<bool> &nearby,
                      const ConnectOptions &options) {
  std::vector<int> sockets(all.sockets.size(), -1);
  for (size_t peer = 0; peer < sockets.size(); ++peer) {
    sockets[peer] = nearby[peer] ? all.sockets[peer] : -1;
  }
  if (std::any_of(sockets.begin(), sockets.end(), [](int socket) { return socket >= 0; })) {
    HR_ASSIGN_OR_RETURN(all.neighbourhood,
                        meetNeighbours(sockets, options.sharedBytes, options.patienceSeconds));
  }
  return {};
}

/// Links by UCX with those of the others that can do so, too: both say that it went well.
Status joinByUcx(TransportLinks &all, Bootstrap &bootstrap, const ConnectOptions &options) {
  std::unique_ptr<UcxEngine> engine;
  if (options.network == ConnectOptions::Network::kUcx) {
    Expected<std::unique_ptr<UcxEngine>> opened = UcxEngine::open(all.rank, options.ucxTransports);
    if (opened.ok()) {
      engine = std::move(*opened);
    } else {
      log(LogLevel::kWarning, "messages go by sockets: ", opened.status().message());
    }
  }
  HR_ASSIGN_OR_RETURN(std::vector<std::string> cards,
                      bootstrap.exchange(engine ? engine->card() : std::string()));
  if (std::all_of(cards.begin(), cards.end(), [](const auto &card) { return card.empty(); })) {
    return {};
  }
  std::map<int, std::unique_ptr<Link>> links;
  std::string made(cards.size(), '0');
  for (size_t peer = 0; peer < cards.size() && engine; ++peer) {
    auto rank = static_cast<int>(peer);
    if (rank == all.rank || all.neighbourhood.neighbours.contains(rank)) {
      continue;
    }
    std::string name = "rank " + std::to_string(rank) + " on host " + all.hosts[peer];
    Expected<std::unique_ptr<Link>> link = engine->link(rank, name, cards[peer]);
    if (link.ok()) {
      links[rank] = std::move(*link);
      made[peer] = kLinked;
    } else {
      log(LogLevel::kWarning, "messages go by sockets: ", link.status().message());
    }
  }
  HR_ASSIGN_OR_RETURN(std::vector<std::string> theirs, bootstrap.exchange(made));
  for (auto &[rank, link] : links) {
    auto peer = static_cast<size_t>(rank);
    auto own = static_cast<size_t>(all.rank);
    if (own < theirs[peer].size() && theirs[peer][own] == kLinked) {
      engine->adopt(rank, std::exchange(all.sockets[peer], -1));
      all.links[rank] = std::move(link);
    }
  }
  links.clear(); // before the engine, if it serves none
  if (!all.links.empty()) {
    all.engine = std::move(engine);
  }
  return {};
}

/// Of a transport that is not made.
void closeAll(TransportLinks &all) {
  for (int descriptor : all.sockets) {
    Socket(descriptor).close();
  }
  for (auto &[rank, neighbour] : all.neighbourhood.neighbours) {
    Socket(neighbour.bell).close();
  }
  Socket(all.neighbourhood.bell).close();
}

} // namespace

Expected<std::unique_ptr<StreamTransport>> connectTransport(Bootstrap &bootstrap,
                                                            ConnectOptions options) {
  bool share = options.neighbours == ConnectOptions::Neighbours::kBySharedMemory;
  HR_ASSIGN_OR_RETURN(Links links,
                      connectRanks(bootstrap, "transport", options.patienceSeconds,
                                   share ? Neighbours::kByUnixSocket : Neighbours::kByTcp));
  TransportLinks all;
  all.rank = bootstrap.rank();
  all.hosts = std::move(links.hosts);
  for (Socket &socket : links.sockets) {
    all.sockets.push_back(socket.release());
  }
  Status joined = joinNeighbours(all, links.nearby, options);
  if (joined.ok()) {
    joined = joinByUcx(all, bootstrap, options);
  }
  if (!joined.ok()) {
    closeAll(all);
    return joined;
  }
  log(LogLevel::kInfo, "linked with ", all.sockets.size() - 1,
      " ranks, through shared memory: ", all.neighbourhood.neighbours.size(),
      ", by UCX: ", all.links.size());
  return makeStreamTransport(std::move(all));
}

} // namespace headrace
