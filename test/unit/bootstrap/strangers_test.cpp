// Who is no rank of the job gets nothing, learns nothing, and holds nobody up.
// Sources: runtime/bootstrap/handshake.cpp
#include <atomic>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/bootstrap/reception.h"
#include "test/unit/bootstrap/meetings.h"

using namespace headrace;
using namespace headrace::test;

namespace {

const Credentials kKnown{kSecret, "first start"};

/// A reception of rank 0 of two, polled by a thread of its own.
class Door {
public:
  Door()
      : reception_(*listenAt({"127.0.0.1", 0}), kKnown, {"test", 0, 2}),
        address_(reception_.address()), thread_([this] { serve(); }) {}
  ~Door() {
    ended_ = true;
    thread_.join();
  }
  HostPort address() const { return address_; }
  int admitted() const { return admitted_; }

private:
  void serve() {
    while (!ended_) {
      std::vector<pollfd> polls;
      reception_.addTo(polls);
      poll(polls.data(), polls.size(), 10);
      admitted_ += static_cast<int>(reception_.admit().size());
    }
  }
  Reception reception_;
  HostPort address_;
  std::atomic<bool> ended_{false};
  std::atomic<int> admitted_{0};
  std::thread thread_;
};

Socket connectTo(const HostPort &where) {
  Socket socket = *startConnecting(where);
  pollfd ready{socket.descriptor(), POLLOUT, 0};
  poll(&ready, 1, 5000);
  return socket;
}

/// What comes until the other end closes, or nothing comes for that long.
std::string readAll(const Socket &socket, int milliseconds) {
  std::string text;
  pollfd ready{socket.descriptor(), POLLIN, 0};
  char part[4096];
  while (poll(&ready, 1, milliseconds) > 0) {
    ssize_t got = recv(socket.descriptor(), part, sizeof(part), 0);
    if (got <= 0) {
      return text + "|closed";
    }
    text.append(part, static_cast<size_t>(got));
  }
  return text;
}

/// The end of a handshake with the door.
Handshake shake(const Door &door, const Credentials &credentials, Introduction own, int peer = 0) {
  auto handshake =
      Handshake::connecting(connectTo(door.address()), credentials, std::move(own), peer);
  for (int tries = 0; tries < 500 && handshake.advance() != Handshake::Phase::kDone &&
                      handshake.phase() != Handshake::Phase::kFailed;
       ++tries) {
    pollfd ready{handshake.socket().descriptor(), handshake.events(), 0};
    poll(&ready, 1, 10);
  }
  return handshake;
}

} // namespace

TEST(Strangers, ARankIsLetInAndKnowsWhoLetItIn) {
  Door door;
  Handshake handshake = shake(door, kKnown, {"test", 1, 2});
  EXPECT_EQ(handshake.phase(), Handshake::Phase::kDone) << handshake.failure().message();
}

TEST(Strangers, AnotherSecretSessionOrPurposeIsTurnedAway) {
  Door door;
  for (const auto &[credentials, purpose] : std::vector<std::pair<Credentials, std::string>>{
           {{"another secret 123", "first start"}, "test"},
           {{kSecret, "second start"}, "test"},
           {kKnown, "another purpose"}}) {
    Handshake handshake = shake(door, credentials, {purpose, 1, 2});
    EXPECT_EQ(handshake.failure().message(),
              "rank 0 did not let this rank in: has it another secret (HEADRACE_SECRET), or is it "
              "of another job?");
  }
  // To be led to another rank than the one that was meant is a failure too.
  EXPECT_EQ(shake(door, kKnown, {"test", 1, 2}, 3).phase(), Handshake::Phase::kFailed);
  EXPECT_EQ(door.admitted(), 0);
}

TEST(Strangers, AnotherSizeIsSaid) {
  Door door;
  EXPECT_EQ(shake(door, kKnown, {"test", 1, 3}).failure().message(),
            "all ranks must be given the same size, rank 1 has 3, rank 0 has: 2");
  EXPECT_EQ(door.admitted(), 0);
}

TEST(Strangers, ARankOfAnotherSizeIsTurnedAway) {
  Socket listener = *listenAt({"127.0.0.1", 0});
  auto connecting = Handshake::connecting(connectTo(ownEnd(listener)), kKnown, {"test", 1, 3}, 0);
  auto accepting = Handshake::accepting(acceptFrom(listener), kKnown, {"test", 0, 2});
  for (int tries = 0; tries < 100 && accepting.advance() != Handshake::Phase::kFailed; ++tries) {
    connecting.advance();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(accepting.failure().message(),
            "a rank of another size of the job was turned away, rank "
            "1 of 3; this one has a size of 2");
}

TEST(Strangers, WhoAcceptsMustKnowTheSecretToo) {
  Socket listener = *listenAt({"127.0.0.1", 0});
  auto handshake = Handshake::connecting(connectTo(ownEnd(listener)), kKnown, {"test", 1, 2}, 0);
  Socket accepted = acceptFrom(listener);
  std::string hello = "HRJOIN1\n" + std::string(32, 'n');
  std::string answer = "HRJOIN1\n" + std::string("\2\0\0\0", 4) + std::string(32, 'p');
  send(accepted.descriptor(), hello.data(), hello.size(), 0);
  send(accepted.descriptor(), answer.data(), answer.size(), 0);
  for (int tries = 0; tries < 100 && handshake.advance() != Handshake::Phase::kFailed; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(handshake.failure().message(),
            "rank 0 did not let this rank in: it does not know the secret");
}

TEST(Strangers, AnotherServerIsNoRank) {
  Socket listener = *listenAt({"127.0.0.1", 0});
  auto handshake = Handshake::connecting(connectTo(ownEnd(listener)), kKnown, {"test", 1, 2}, 0);
  Socket accepted = acceptFrom(listener);
  std::string hello = "220 mail.example.org ESMTP ready\r\n";
  send(accepted.descriptor(), hello.data(), hello.size(), 0);
  for (int tries = 0; tries < 100 && handshake.advance() != Handshake::Phase::kFailed; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(handshake.failure().message(),
            "rank 0 did not let this rank in: it is no rank of headrace");
}

TEST(Strangers, GarbageIsClosedAndAReplayIsGarbage) {
  Door door;
  for (const std::string &garbage :
       {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(100'000, '\xff'),
        std::string("HRJOIN1\n") + std::string(72, 'x')}) {
    Socket socket = connectTo(door.address());
    send(socket.descriptor(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    std::string answer = readAll(socket, 2000);
    EXPECT_TRUE(answer.ends_with("|closed"));
    EXPECT_LE(answer.size(), 40 + 7u) << "more than the hello";
  }
  // What a rank once said, with the number that it answered, is worth nothing a second time.
  Socket listener = *listenAt({"127.0.0.1", 0});
  auto rank = Handshake::connecting(connectTo(ownEnd(listener)), kKnown, {"test", 1, 2}, 0);
  Socket listening = acceptFrom(listener);
  std::string hello = "HRJOIN1\n" + std::string(32, 'n');
  send(listening.descriptor(), hello.data(), hello.size(), 0);
  for (int tries = 0; tries < 100 && rank.phase() != Handshake::Phase::kAnswer; ++tries) {
    rank.advance();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  rank.advance();
  std::string overheard = readAll(listening, 200);
  ASSERT_EQ(overheard.size(), 80u);
  Socket socket = connectTo(door.address());
  send(socket.descriptor(), overheard.data(), overheard.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(readAll(socket, 2000).ends_with("|closed"));
  EXPECT_EQ(door.admitted(), 0);
}

TEST(Strangers, WhoConnectsAndIsSilentHoldsNobodyUp) {
  Door door;
  std::vector<Socket> silent; // a port scan, and three times as many as are kept at once
  for (size_t count = 0; count < 3 * Reception::kStrangersMax; ++count) {
    silent.push_back(connectTo(door.address()));
  }
  EXPECT_EQ(shake(door, kKnown, {"test", 1, 2}).phase(), Handshake::Phase::kDone);
  EXPECT_TRUE(readAll(silent.front(), 2000).ends_with("|closed")) << "the oldest gives way";
}

TEST(Strangers, SlowOnesAreTurnedAwayInTheEnd) {
  Door door;
  Socket socket = connectTo(door.address());
  auto start = std::chrono::steady_clock::now();
  std::string text = "HRJOIN1\n" + std::string(72, 'x');
  bool closed = false;
  for (size_t at = 0; at < text.size() && !closed; ++at) {
    send(socket.descriptor(), &text[at], 1, MSG_NOSIGNAL);
    closed = readAll(socket, 100).ends_with("|closed");
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_TRUE(closed);
  EXPECT_LT(seconds, 4.5);
}

TEST(Strangers, RanksMeetAtAStoreThatIsUnderAttack) {
  Place place({Kind::kStore, 3});
  std::atomic<bool> ended{false};
  std::thread attack([&] {
    HostPort store = *HostPort::parse(place.launch(0).meeting);
    std::vector<Socket> silent;
    while (!ended) {
      Expected<Socket> socket = startConnecting(store);
      if (socket.ok()) {
        send(socket->descriptor(), "\1\2\3\4", silent.size() % 4, MSG_NOSIGNAL);
        silent.push_back(std::move(*socket));
      }
      if (silent.size() > 200) {
        silent.clear();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  std::vector<Status> outcomes(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      auto bootstrap = join(place.launch(rank), {.patienceSeconds = 20});
      outcomes[static_cast<size_t>(rank)] = bootstrap.status();
      for (int round = 0; round < 20 && outcomes[static_cast<size_t>(rank)].ok(); ++round) {
        outcomes[static_cast<size_t>(rank)] = (*bootstrap)->fence();
      }
    });
  }
  for (std::thread &rank : ranks) {
    rank.join();
  }
  ended = true;
  attack.join();
  for (const Status &outcome : outcomes) {
    EXPECT_TRUE(outcome.ok()) << outcome.toString();
  }
}

TEST(Strangers, TwoOfTheSameRankAreToldSo) {
  std::vector<Status> outcomes = meet(
      {Kind::kStore, 3}, [](Bootstrap &) { return Status(); }, 1,
      [&](Launch &launch) { launch.rank = launch.rank == 0 ? 0 : 1; });
  bool told = false;
  for (const Status &outcome : outcomes) {
    told |= outcome.message().starts_with("two processes say that they are the same rank, here and "
                                          "on host 127.0.0.1, rank: 1");
  }
  EXPECT_TRUE(told);
}
