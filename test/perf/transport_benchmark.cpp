// What the sockets transport moves between two processes beside what a plain program moves between
// the same two: bytes a second in bodies of 1 MiB, and half a round trip of a message without a
// body: `transport_benchmark [rounds]`. Figures: docs/reference/machines.md.
#include "runtime/bootstrap/folder_bootstrap.h"
#include "runtime/bootstrap/mesh.h"
#include "runtime/memory/block_pool.h"
#include "runtime/transport/sockets.h"
#include "test/perf/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
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

int runRank(int rank, const std::string &folder, int rounds) {
  auto bootstrap = take(FolderBootstrap::join(
      {.folder = folder, .rank = rank, .size = 2, .patienceSeconds = 20, .address = "127.0.0.1"}));
  Links links = take(connectRanks(*bootstrap, "plain", 10));
  int plain = links.sockets[static_cast<size_t>(1 - rank)].descriptor();
  fcntl(plain, F_SETFL, fcntl(plain, F_GETFL) & ~O_NONBLOCK);
  auto transport = take(connectSockets(*bootstrap));
  BlockPool blocks({.capacityBytes = 64 << 20, .retainedBytesMax = 0});
  auto pool = take(BufferPool::create(blocks, {.bufferBytes = kBodyBytes, .buffersMax = kWindow}));
  Doorbell doorbell;
  transport->setDoorbell(&doorbell);
  check(transport->open(kBodiesChannel, pool.get()));
  check(transport->open(kWordsChannel, nullptr));
  End end{*transport, doorbell, *pool};
  std::vector<std::vector<char>> buffers(kWindow, std::vector<char>(kBodyBytes));
  std::vector<double> rates, ratesPlain, trips, tripsPlain, rateRatios, tripRatios;
  for (int round = 0; round <= rounds; ++round) {
    double bytes = static_cast<double>(kBodyBytes) * kBodies;
    double ratePlain = bytes / plainBodies(rank, plain, buffers) * 1e-9;
    double rate = bytes / end.bodies() * 1e-9;
    double tripPlain = plainTrips(rank, plain) / kTrips / 2 * 1e6;
    double trip = end.trips() / kTrips / 2 * 1e6;
    if (round > 0) { // the first warms up
      ratesPlain.push_back(ratePlain);
      rates.push_back(rate);
      tripsPlain.push_back(tripPlain);
      trips.push_back(trip);
      rateRatios.push_back(rate / ratePlain);
      tripRatios.push_back(trip / tripPlain);
    }
  }
  if (rank == 0) {
    std::printf("bodies of 1 MiB: %.2f GB/s, plain %.2f GB/s, median of ratios %.2f\n",
                median(rates), median(ratesPlain), median(rateRatios));
    std::printf("half a round trip: %.1f us, plain %.1f us, median of ratios %.2f\n", median(trips),
                median(tripsPlain), median(tripRatios));
  }
  transport->setDoorbell(nullptr);
  transport.reset();
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
