// What the transport moves between two processes of a machine beside what a plain program moves
// between the same two: bytes a second in bodies of 1 MiB, and half a round trip of a message
// without a body; over TCP, and over UCX on TCP where the machine has it, beside blocking calls on
// a socket of TCP, and through shared memory beside memcpy and beside blocking calls on a Unix
// socket; and what a rank takes that waits for a second: `transport_benchmark [rounds]`. Figures:
// docs/reference/machines.md.
#include "runtime/bootstrap/folder_bootstrap.h"
#include "runtime/bootstrap/mesh.h"
#include "runtime/memory/block_pool.h"
#include "runtime/transport/connect.h"
#include "runtime/transport/ucx_library.h"
#include "test/perf/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace headrace;

namespace {

constexpr int64_t kBodyBytes = 1 << 20;
constexpr int kBodies = 512;  ///< a round
constexpr int kWindow = 4;    ///< bodies under way, as in exchanges
constexpr int kTrips = 10000; ///< a round
constexpr ChannelId kBodiesChannel{1};
constexpr ChannelId kWordsChannel{2};

void check(const Status &status) {
  if (!status.ok()) {
    fail(status.toString());
  }
}

// ---- the plain program: blocking calls ----

void sendWhole(int socket, const char *data, size_t bytes) {
  while (bytes > 0) {
    ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
    if (sent <= 0) {
      fail("plain send");
    }
    data += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

void receiveWhole(int socket, char *data, size_t bytes) {
  while (bytes > 0) {
    ssize_t got = recv(socket, data, bytes, 0);
    if (got <= 0) {
      fail("plain receive");
    }
    data += got;
    bytes -= static_cast<size_t>(got);
  }
}

double plainBodies(int rank, int socket, std::vector<std::vector<char>> &buffers) {
  double start = wallSeconds();
  char word = 0;
  for (int body = 0; body < kBodies; ++body) {
    std::vector<char> &buffer = buffers[static_cast<size_t>(body) % buffers.size()];
    if (rank == 0) {
      sendWhole(socket, buffer.data(), buffer.size());
    } else {
      receiveWhole(socket, buffer.data(), buffer.size());
    }
  }
  rank == 0 ? receiveWhole(socket, &word, 1) : sendWhole(socket, &word, 1);
  return wallSeconds() - start;
}

double plainTrips(int rank, int socket) {
  char words[64] = {};
  double start = wallSeconds();
  for (int trip = 0; trip < kTrips; ++trip) {
    if (rank == 0) {
      sendWhole(socket, words, sizeof(words));
      receiveWhole(socket, words, sizeof(words));
    } else {
      receiveWhole(socket, words, sizeof(words));
      sendWhole(socket, words, sizeof(words));
    }
  }
  return wallSeconds() - start;
}

// ---- the transport ----

struct End {
  Transport &transport;
  Doorbell &doorbell;
  BufferPool &pool;

  Arrival receive(ChannelId channel) {
    while (true) {
      if (std::optional<Arrival> arrival = transport.receive(channel)) {
        return std::move(*arrival);
      }
      doorbell.wait(1'000'000'000);
      transport.progress();
    }
  }

  double bodies() {
    int peer = 1 - transport.rank();
    double start = wallSeconds();
    for (int body = 0; body < kBodies; ++body) {
      if (transport.rank() == 0) {
        if (body >= kWindow) {
          receive(kWordsChannel); // the receiver has room for another
        }
        BufferRef buffer = pool.tryTake();
        while (!buffer) {
          doorbell.wait(1'000'000'000);
          transport.progress();
          buffer = pool.tryTake();
        }
        buffer.resize(kBodyBytes);
        buffer.seal();
        check(transport.send(peer, kBodiesChannel, {}, std::move(buffer)).status());
      } else {
        receive(kBodiesChannel);
        check(transport.send(peer, kWordsChannel, {}, {}).status());
      }
    }
    for (int word = 0; word < kWindow && transport.rank() == 0; ++word) {
      receive(kWordsChannel);
    }
    return wallSeconds() - start;
  }

  double trips() {
    int peer = 1 - transport.rank();
    double start = wallSeconds();
    for (int trip = 0; trip < kTrips; ++trip) {
      if (transport.rank() == 0) {
        check(transport.send(peer, kWordsChannel, {}, {}).status());
        receive(kWordsChannel);
      } else {
        receive(kWordsChannel);
        check(transport.send(peer, kWordsChannel, {}, {}).status());
      }
    }
    return wallSeconds() - start;
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Seconds for which this process has used a core.
double coreSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Bytes a second that one thread copies from bodies to bodies.
double copied(std::vector<std::vector<char>> &buffers) {
  double start = wallSeconds();
  for (size_t body = 0; body < kBodies; ++body) {
    size_t half = buffers.size() / 2;
    std::memcpy(buffers[body % half].data(), buffers[half + body % half].data(), kBodyBytes);
    asm volatile("" : : : "memory");
  }
  return static_cast<double>(kBodyBytes) * kBodies / (wallSeconds() - start);
}

/// Figures of the rounds, and those of a peer in the same rounds.
struct Pair {
  std::vector<double> own, peers, ratios;
  void add(double figure, double peer) {
    own.push_back(figure);
    peers.push_back(peer);
    ratios.push_back(figure / peer);
  }
  void print(const char *what, const char *unit, const char *peer) const {
    std::printf("%s: %.2f %s, %s %.2f, median of ratios %.2f\n", what, median(own), unit, peer,
                median(peers), median(ratios));
  }
};

/// One transport between the two, and a plain socket of the same kind.
struct Route {
  Route(Bootstrap &bootstrap, const ConnectOptions &options) : rank(bootstrap.rank()) {
    bool shared = options.neighbours == ConnectOptions::Neighbours::kBySharedMemory;
    Links links = take(connectRanks(bootstrap, "plain", 10,
                                    shared ? Neighbours::kByUnixSocket : Neighbours::kByTcp));
    plain = std::move(links.sockets[static_cast<size_t>(1 - rank)]);
    fcntl(plain.descriptor(), F_SETFL, fcntl(plain.descriptor(), F_GETFL) & ~O_NONBLOCK);
    transport = take(connectTransport(bootstrap, options));
    BufferPool::Options buffers{
        .bufferBytes = kBodyBytes, .buffersMax = kWindow, .doorbell = &doorbell};
    std::shared_ptr<BlockPool> seen = transport->bodyBlocks();
    pool = take(BufferPool::create(rank == 0 && seen ? *seen : blocks, buffers));
    transport->setDoorbell(&doorbell);
    check(transport->open(kBodiesChannel, pool.get()));
    check(transport->open(kWordsChannel, nullptr));
  }
  ~Route() { transport->setDoorbell(nullptr); }
  End end() { return {*transport, doorbell, *pool}; }

  int rank;
  Socket plain;
  BlockPool blocks{{.capacityBytes = 64 << 20, .retainedBytesMax = 0}};
  Doorbell doorbell;
  std::unique_ptr<StreamTransport> transport;
  std::unique_ptr<BufferPool> pool;
};

int runRank(int rank, const std::string &folder, int rounds) {
  auto bootstrap = take(FolderBootstrap::join(
      {.folder = folder, .rank = rank, .size = 2, .patienceSeconds = 20, .address = "127.0.0.1"}));
  using Neighbours = ConnectOptions::Neighbours;
  std::vector<std::unique_ptr<Route>> routes;
  routes.push_back(
      std::make_unique<Route>(*bootstrap, ConnectOptions{.neighbours = Neighbours::kAsOthers}));
  routes.push_back(std::make_unique<Route>(*bootstrap, ConnectOptions{.sharedBytes = 64 << 20}));
  if (ucx::library().ok()) {
    routes.push_back(
        std::make_unique<Route>(*bootstrap, ConnectOptions{.neighbours = Neighbours::kAsOthers,
                                                           .network = ConnectOptions::Network::kUcx,
                                                           .ucxTransports = "tcp"}));
  }
  std::vector<std::vector<char>> buffers(2 * kWindow, std::vector<char>(kBodyBytes));
  std::vector<Pair> bodies(routes.size()), trips(routes.size());
  Pair copies;
  for (int round = 0; round <= rounds; ++round) {
    double bytes = static_cast<double>(kBodyBytes) * kBodies;
    for (size_t kind = 0; kind < routes.size(); ++kind) {
      Route &route = *routes[kind];
      int plain = route.plain.descriptor();
      double ratePlain = bytes / plainBodies(rank, plain, buffers) * 1e-9;
      double rate = bytes / route.end().bodies() * 1e-9;
      double rateCopied = rank == 0 ? copied(buffers) * 1e-9 : 0;
      double tripPlain = plainTrips(rank, plain) / kTrips / 2 * 1e6;
      double trip = route.end().trips() / kTrips / 2 * 1e6;
      if (round > 0) { // the first warms up
        bodies[kind].add(rate, ratePlain);
        trips[kind].add(trip, tripPlain);
        if (kind == 1) {
          copies.add(rate, rateCopied);
        }
      }
    }
  }
  double before = coreSeconds();
  routes[1]->doorbell.wait(1'000'000'000);
  double waited = coreSeconds() - before;
  for (size_t kind = 0; kind < routes.size() && rank == 0; ++kind) {
    std::string name = routes[kind]->transport->passageName(1);
    bodies[kind].print((name + ", bodies of 1 MiB").c_str(), "GB/s", "plain");
    trips[kind].print((name + ", half a round trip").c_str(), "us", "plain");
  }
  if (rank == 0) {
    copies.print("shared memory, bodies of 1 MiB", "GB/s", "memcpy");
    std::printf("a rank that waits: %.2f %% of a core\n", 100 * waited);
  }
  check(bootstrap->fence());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  std::string folder = std::filesystem::temp_directory_path() / "headrace-benchmark-XXXXXX";
  if (!mkdtemp(folder.data())) {
    fail("no folder for the ranks to meet: " + folder);
  }
  pid_t other = fork();
  if (other == 0) {
    std::_Exit(runRank(1, folder, rounds));
  }
  int status = runRank(0, folder, rounds);
  waitpid(other, nullptr, 0);
  std::filesystem::remove_all(folder);
  return status;
}
