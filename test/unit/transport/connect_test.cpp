// Connections that do not come about.
#include "runtime/transport/connect.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/bootstrap/nearby.h"
#include "test/unit/bootstrap/meetings.h"

using namespace headrace;
using namespace headrace::test;

namespace {

/// Rank 1 of two, to which rank 0 gave an address where nobody answers.
class Misled final : public Bootstrap {
public:
  explicit Misled(std::string other) : other_(std::move(other)) {}
  int rank() const override { return 1; }
  int size() const override { return 2; }
  const std::string &address() const override { return address_; }
  const Credentials &credentials() const override { return credentials_; }
  Expected<std::vector<std::string>> exchange(std::string_view record) override {
    return std::vector<std::string>{other_, std::string(record)};
  }

private:
  std::string other_;
  std::string address_ = "127.0.0.1";
  Credentials credentials_{"a secret of 16 and more", ""};
};

/// What this process listens at: ports of TCP, and "@" and the name of Unix sockets without a file.
std::set<std::string> listening() {
  std::set<std::string> inodes, places;
  std::error_code gone;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd", gone)) {
    std::string target = std::filesystem::read_symlink(entry.path(), gone);
    if (target.starts_with("socket:[")) {
      inodes.insert(target.substr(8, target.size() - 9));
    }
  }
  std::string line;
  for (std::ifstream table("/proc/self/net/tcp"); std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, own, other, state, skipped, inode;
    words >> number >> own >> other >> state;
    for (int word = 0; word < 5; ++word) {
      words >> skipped;
    }
    words >> inode;
    if (state == "0A" && inodes.contains(inode)) {
      places.insert(std::to_string(std::stoi(own.substr(own.find(':') + 1), nullptr, 16)));
    }
  }
  for (std::ifstream table("/proc/self/net/unix"); std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, count, protocol, flags, type, state, inode, name;
    words >> number >> count >> protocol >> flags >> type >> state >> inode >> name;
    if (flags == "00010000" && !name.empty() && inodes.contains(inode)) {
      places.insert(name);
    }
  }
  return places;
}

} // namespace

TEST(Connect, RanksConnectWhileStrangersKnockAtEverythingThatListens) {
  std::set<std::string> before = listening();
  std::atomic<bool> ended{false};
  std::atomic<int> knocks{0};
  std::thread stranger([&] {
    std::mt19937_64 random(1);
    while (!ended) {
      for (const std::string &place : listening()) {
        if (before.contains(place)) {
          continue;
        }
        Expected<Socket> socket = place.front() == '@'
                                      ? connectNearby(place.substr(1))
                                      : startConnecting({"127.0.0.1", std::stoi(place)});
        if (socket.ok()) {
          char garbage[100];
          std::generate(std::begin(garbage), std::end(garbage), [&] { return char(random()); });
          ::send(socket->descriptor(), garbage, random() % sizeof(garbage), MSG_NOSIGNAL);
          ++knocks;
        }
      }
    }
  });
  // Until the stranger has found something that listens, which is not for long.
  for (int round = 0; round < 5 || (knocks == 0 && round < 500); ++round) {
    for (const Status &status : meet({Kind::kStore, 3}, [&](Bootstrap &bootstrap) -> Status {
           HR_ASSIGN_OR_RETURN(auto transport, connectTransport(bootstrap));
           EXPECT_STREQ(transport->passageName((bootstrap.rank() + 1) % 3), "shared memory");
           return bootstrap.fence();
         })) {
      EXPECT_TRUE(status.ok()) << status.toString();
    }
  }
  ended = true;
  stranger.join();
  EXPECT_GT(knocks, 0);
  EXPECT_EQ(listening(), before) << "nothing listens once all are connected";
}

TEST(Connect, NoSocketHasAnEmptyNameOrOneThatIsLongerThanAnAddress) {
  for (const std::string &name : {std::string(), std::string(200, 'x')}) {
    EXPECT_EQ(connectNearby(name).status().message(), "no name of a socket: " + name);
  }
}

TEST(Connect, ARankThatSaysNothingOfItselfIsRefused) {
  Misled bootstrap("127.0.0.1:1");
  EXPECT_NE(connectTransport(bootstrap, {.patienceSeconds = 0.2})
                .status()
                .message()
                .find("no address of a rank: 127.0.0.1:1"),
            std::string::npos);
}

TEST(Connect, ARankThatDoesNotAnswerIsNamedWithItsHost) {
  Socket silent = *listenAt({"127.0.0.1", 0});
  std::string address = ownEnd(silent).toString();
  Misled bootstrap(address + " - - node7");
  EXPECT_EQ(connectTransport(bootstrap, {.patienceSeconds = 0.2}).status().message(),
            "no connection within 0.2 s with rank 0 at " + address + " on host: node7");
}
