// Two ranks that share memory, and a peer that writes its memory by hand.
// Sources: runtime/transport/neighbourhood.cpp
#include "runtime/transport/shared_link.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <future>
#include <random>
#include <set>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/memory/block_pool.h"
#include "runtime/transport/shared_ring.h"
#include "runtime/transport/stream_transport.h"

using namespace headrace;

namespace {

constexpr ChannelId kChannel{7};
constexpr int64_t kBufferBytes = 100'000;

std::array<int, 2> socketPair() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
  return ends;
}

std::vector<int> socketsOf(int rank, int socket) {
  return rank == 0 ? std::vector<int>{-1, socket} : std::vector<int>{socket, -1};
}

Expected<Neighbourhood> meetAs(int rank, int socket) {
  return meetNeighbours(socketsOf(rank, socket), 16 << 20, 5);
}

/// One of two ranks, with a channel that is open.
struct Rank {
  Rank(int rank, int socket, Neighbourhood neighbourhood)
      : transport(makeStreamTransport(
            {rank, socketsOf(rank, socket), {"here", "there"}, std::move(neighbourhood)})),
        receivePool(*BufferPool::create(blocks, {.bufferBytes = kBufferBytes, .buffersMax = 8})) {
    EXPECT_TRUE(transport->open(kChannel, receivePool.get()).ok());
    if (std::shared_ptr<BlockPool> seen = transport->bodyBlocks()) {
      sendPool = *BufferPool::create(*seen, {.bufferBytes = kBufferBytes, .buffersMax = 3});
      sendPool->keep(seen);
    }
  }
  ~Rank() { transport->close(kChannel); }

  Expected<SendTicket> send(char fill, int64_t bytes) {
    BufferRef body;
    if (bytes > 0) {
      body = sendPool->tryTake();
      body.resize(bytes);
      std::memset(body.mutableData(), fill, static_cast<size_t>(bytes));
      body.seal();
    }
    return transport->send(1 - transport->rank(), kChannel, HeaderBytes{}, std::move(body));
  }
  std::string receive() {
    transport->progress();
    std::optional<Arrival> arrival = transport->receive(kChannel);
    return !arrival        ? "nothing"
           : arrival->body ? std::string(reinterpret_cast<const char *>(arrival->body.data()),
                                         static_cast<size_t>(arrival->body.size()))
                           : "";
  }
  Status link() {
    transport->progress();
    return transport->peerStatus(1 - transport->rank());
  }

  BlockPool blocks{{.capacityBytes = 64 << 20, .retainedBytesMax = 0}};
  std::unique_ptr<StreamTransport> transport;
  std::unique_ptr<BufferPool> sendPool, receivePool;
};

/// Both ranks in this thread.
struct Two {
  Two() {
    std::array<int, 2> ends = socketPair();
    auto other = std::async(std::launch::async, [&] { return meetAs(1, ends[1]); });
    Expected<Neighbourhood> own = meetAs(0, ends[0]);
    EXPECT_TRUE(own.ok()) << own.status().message();
    first = std::make_unique<Rank>(0, ends[0], std::move(*own));
    second = std::make_unique<Rank>(1, ends[1], *other.get());
  }
  std::unique_ptr<Rank> first, second;
};

/// Rank 0 is a transport; rank 1 is the test, with all that the protocol gives it.
struct Hostile {
  Hostile() {
    std::array<int, 2> ends = socketPair();
    socket = ends[1];
    auto other = std::async(std::launch::async, [&] { return meetAs(1, ends[1]); });
    victim = std::make_unique<Rank>(0, ends[0], *meetAs(0, ends[0]));
    own = *other.get();
    control = reinterpret_cast<SharedLinkControl *>(own.segment->data());
    ring = own.segment->data() + kSharedControlBytes;
  }
  ~Hostile() {
    close(socket);
    close(own.bell);
    close(own.neighbours.at(0).bell);
  }
  void write(const SharedRecord &record, uint64_t written) {
    std::memcpy(ring, &record, sizeof(record));
    control->written.store(written);
  }
  static SharedRecord record(uint64_t bodyBytes, uint64_t place) {
    SharedRecord record;
    record.frame.channel = kChannel.value;
    record.frame.bodyBytes = bodyBytes;
    record.place = place;
    return record;
  }

  int socket = -1;
  Neighbourhood own;
  std::unique_ptr<Rank> victim;
  SharedLinkControl *control = nullptr;
  std::byte *ring = nullptr;
};

std::set<std::string> sharedFiles() {
  std::set<std::string> names;
  std::error_code none;
  for (const auto &entry : std::filesystem::directory_iterator("/dev/shm", none)) {
    names.insert(entry.path());
  }
  return names;
}

/// What rank 1 of two does in a process of its own, until it ends or is killed.
pid_t startOther(std::array<int, 2> ends, const std::function<void(Neighbourhood, int)> &body) {
  pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    body(*meetAs(1, ends[1]), ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return process;
}

std::string receiveSoon(Rank &rank) {
  std::string got = "nothing";
  for (int wait = 0; wait < 5000 && got == "nothing"; ++wait) {
    got = rank.receive();
    usleep(1000);
  }
  return got;
}

Status linkSoon(Rank &rank) {
  for (int wait = 0; wait < 5000 && rank.link().ok(); ++wait) {
    usleep(1000);
  }
  return rank.link();
}

} // namespace

TEST(SharedLink, BodiesOfAllSizesComeInOrder) {
  Two two;
  EXPECT_STREQ(two.first->transport->passageName(1), "shared memory");
  for (int64_t bytes : {0, 1, 4096, 8192, 8193, 100'000}) {
    ASSERT_TRUE(two.first->send('a', bytes).ok());
    EXPECT_EQ(two.second->receive(), std::string(static_cast<size_t>(bytes), 'a'));
    two.first->transport->progress();
  }
  ASSERT_TRUE(two.second->send('b', 20'000).ok());
  EXPECT_EQ(two.first->receive(), std::string(20'000, 'b'));
}

TEST(SharedLink, ABufferComesBackWhenThePeerHasTakenIt) {
  Two two;
  SendTicket ticket = *two.first->send('a', 50'000);
  EXPECT_FALSE(two.first->transport->sent(ticket));
  EXPECT_FALSE(two.first->transport->drained());
  EXPECT_EQ(two.first->sendPool->freeBuffers(), 2);
  two.second->transport->progress();
  two.first->transport->progress();
  EXPECT_TRUE(two.first->transport->sent(ticket));
  EXPECT_TRUE(two.first->transport->drained());
  EXPECT_EQ(two.first->sendPool->freeBuffers(), 3);
}

TEST(SharedLink, WhatTheRingHasNoRoomForWaits) {
  Two two;
  for (int count = 0; count < 3000; ++count) {
    ASSERT_TRUE(two.first->send('x', 0).ok());
  }
  EXPECT_FALSE(two.first->transport->drained());
  int received = 0;
  for (int turn = 0; turn < 200; ++turn) {
    two.first->transport->progress();
    received += two.second->receive() == "";
    while (two.second->transport->receive(kChannel)) {
      ++received;
    }
  }
  EXPECT_EQ(received, 3000);
  EXPECT_TRUE(two.first->transport->drained());
}

TEST(SharedLink, EachRankWakesTheOther) {
  Two two;
  Doorbell first, second;
  two.first->transport->setDoorbell(&first);
  two.second->transport->setDoorbell(&second);
  ASSERT_TRUE(two.first->send('a', 50'000).ok());
  EXPECT_EQ(second.wait(5'000'000'000), Doorbell::Wake::kDescriptor);
  EXPECT_EQ(two.second->receive().size(), 50'000u);
  EXPECT_EQ(first.wait(5'000'000'000), Doorbell::Wake::kDescriptor) << "its buffer is free";
  two.first->transport->progress();
  EXPECT_TRUE(two.first->transport->drained());
  first.consume();
  EXPECT_EQ(first.wait(0), Doorbell::Wake::kTimeout);
  two.first->transport->setDoorbell(nullptr);
  two.second->transport->setDoorbell(nullptr);
}

TEST(SharedLink, WhatARankSaidBeforeItLeftCanStillBeReceived) {
  Two two;
  ASSERT_TRUE(two.first->send('l', 0).ok());
  ASSERT_TRUE(two.first->send('l', 300).ok());
  two.first.reset();
  EXPECT_EQ(two.second->receive(), "");
  EXPECT_EQ(two.second->receive(), std::string(300, 'l'));
  EXPECT_EQ(two.second->link().message(),
            "the link is down, the peer has left: rank 0 on host here");
}

TEST(SharedLink, ABodyOfWhoWasGivenUpIsNotTakenForWhatWasSent) {
  Two two;
  ASSERT_TRUE(two.first->send('a', 50'000).ok());
  two.first->transport->giveUp(1, makeError(ErrorKind::kIo, "no answer"));
  EXPECT_EQ(two.first->sendPool->freeBuffers(), 3);
  EXPECT_EQ(two.second->receive(), "nothing");
  EXPECT_EQ(two.second->link().kind(), ErrorKind::kIo);
}

TEST(SharedLink, WhoIsGivenUpIsTold) {
  Two two;
  Doorbell second;
  two.second->transport->setDoorbell(&second);
  ASSERT_TRUE(two.first->send('s', 10).ok());
  EXPECT_EQ(two.second->receive(), std::string(10, 's'));
  EXPECT_TRUE(two.second->link().ok());
  two.second->transport->progress();
  second.consume();
  EXPECT_EQ(second.wait(0), Doorbell::Wake::kTimeout);
  two.first->transport->giveUp(1, makeError(ErrorKind::kIo, "no answer"));
  EXPECT_EQ(second.wait(5'000'000'000), Doorbell::Wake::kDescriptor);
  EXPECT_EQ(two.second->receive(), "nothing");
  EXPECT_EQ(two.second->link().message(),
            "the link is down, the peer has left: rank 0 on host here");
  two.second->transport->setDoorbell(nullptr);
}

TEST(SharedLink, ARankThatIsKilledLeavesItsLastMessagesAndNoFile) {
  std::set<std::string> before = sharedFiles();
  std::array<int, 2> ends = socketPair();
  pid_t other = startOther(ends, [](Neighbourhood neighbourhood, int socket) {
    Rank rank(1, socket, std::move(neighbourhood));
    (void)rank.send('k', 60'000);
    (void)rank.send('k', 10);
    kill(getpid(), SIGKILL);
  });
  Rank rank(0, ends[0], *meetAs(0, ends[0]));
  EXPECT_EQ(receiveSoon(rank), std::string(60'000, 'k'));
  EXPECT_EQ(receiveSoon(rank), std::string(10, 'k'));
  EXPECT_EQ(linkSoon(rank).message(), "the link is down, the peer has left: rank 1 on host there");
  EXPECT_EQ(sharedFiles(), before);
  waitpid(other, nullptr, 0);
}

TEST(SharedLink, ARankThatWritesWhatItWasGivenToReadDiesOfIt) {
  std::array<int, 2> ends = socketPair();
  pid_t other = startOther(ends, [](Neighbourhood neighbourhood, int) {
    signal(SIGSEGV, SIG_DFL);
    auto *theirs = const_cast<std::byte *>(neighbourhood.neighbours.at(0).segment->data());
    std::memset(theirs, 0xff, kSharedControlBytes);
    _exit(0);
  });
  Rank rank(0, ends[0], *meetAs(0, ends[0]));
  EXPECT_EQ(linkSoon(rank).kind(), ErrorKind::kIo);
  int code = 0;
  waitpid(other, &code, 0);
  EXPECT_TRUE(WIFSIGNALED(code) || WEXITSTATUS(code) != 0) << code;
}

TEST(SharedLink, ARingThatHoldsNoMessagesCutsTheLink) {
  for (uint64_t written : {uint64_t{1}, kSharedRingBytes + 1, UINT64_MAX}) {
    Hostile hostile;
    hostile.control->written.store(written);
    EXPECT_EQ(hostile.victim->link().message(),
              "a ring of shared memory holds no messages: " + std::to_string(written) +
                  " bytes of rank 1 on host there");
  }
}

TEST(SharedLink, ABodyBeyondWhatIsSharedCutsTheLink) {
  for (uint64_t place : {uint64_t{1} << 40, UINT64_MAX - 1, uint64_t{17} << 20}) {
    Hostile hostile;
    hostile.write(Hostile::record(50'000, place), sizeof(SharedRecord));
    EXPECT_EQ(hostile.victim->link().message(),
              "a body is beyond the memory that is shared by rank 1 on host there, at: " +
                  std::to_string(place));
  }
}

TEST(SharedLink, ABodyLongerThanTheRingCutsTheLink) {
  for (uint64_t bytes : {uint64_t{100}, uint64_t{90'000}}) {
    Hostile hostile;
    hostile.write(Hostile::record(bytes, kPlacedInline), sizeof(SharedRecord) + 64);
    EXPECT_EQ(hostile.victim->link().message(),
              "a body is longer than what is in the ring of rank 1 on host there: " +
                  std::to_string(bytes));
  }
}

TEST(SharedLink, WhoSaysThatItTookMoreThanThereIsIsCutOff) {
  Hostile hostile;
  ASSERT_TRUE(hostile.victim->send('a', 50'000).ok());
  hostile.control->taken.store(1000);
  EXPECT_EQ(hostile.victim->link().message(),
            "more was taken of a ring than is in it, by rank 1 on host there");
  EXPECT_EQ(hostile.victim->sendPool->freeBuffers(), 3);
}

TEST(SharedLink, WordsOnTheSocketAreNoProtocol) {
  Hostile hostile;
  ASSERT_EQ(send(hostile.socket, "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(hostile.victim->link().kind(), ErrorKind::kIo);
}

TEST(SharedLink, RandomMemoryNeverDoesMoreThanCutTheLink) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Hostile hostile;
    SharedRecord record = Hostile::record(random() % 2 ? random() % 200'000 : random(),
                                          random() % 2 ? random() % (32 << 20) : random());
    for (uint64_t at = 0; at < kSharedRingBytes; at += 8) {
      uint64_t word = random();
      std::memcpy(hostile.ring + at, &word, sizeof(word));
    }
    hostile.write(record, random() % 2 ? random() % (2 * kSharedRingBytes) : random());
    hostile.control->taken.store(random());
    hostile.control->givenUp.store(random() % 2);
    (void)hostile.victim->send('a', 50'000);
    hostile.victim->transport->progress();
    while (hostile.victim->transport->receive(kChannel)) {
    }
  }
}

TEST(SharedLink, WithANeighbourThatSharesNothingMessagesGoByTheSocket) {
  std::array<int, 2> ends = socketPair();
  ASSERT_EQ(send(ends[1], "NN", 2, 0), 2); // it shares nothing, and has mapped nothing
  Rank rank(0, ends[0], *meetAs(0, ends[0]));
  EXPECT_STREQ(rank.transport->passageName(1), "sockets");
  close(ends[1]);
}

TEST(SharedLink, ANeighbourThatSaysNothingIsNamed) {
  std::array<int, 2> ends = socketPair();
  Expected<Neighbourhood> met = meetNeighbours(socketsOf(0, ends[0]), 1 << 20, 0.1);
  EXPECT_EQ(met.status().message(),
            "a neighbour left, or said nothing, before it was heard what it shares: rank 1");
  close(ends[0]);
  close(ends[1]);
}
