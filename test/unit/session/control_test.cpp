// Ranks as threads of one process, joined by pairs of sockets.
#include "runtime/session/control.h"

#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/bootstrap/frames.h"

using namespace headrace;
using namespace headrace::session;

namespace {

/// Links between each two of `size` ranks on hosts a, b, c, …
std::vector<Links> linksOf(int size) {
  std::vector<Links> links(static_cast<size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    for (Links &each : links) {
      each.hosts.push_back(std::string(1, static_cast<char>('a' + rank)));
      each.sockets.emplace_back();
    }
  }
  for (size_t low = 0; low < links.size(); ++low) {
    for (size_t high = low + 1; high < links.size(); ++high) {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
      links[low].sockets[high] = Socket(ends[0]);
      links[high].sockets[low] = Socket(ends[1]);
    }
  }
  return links;
}

constexpr auto kNever = [] { return false; };

} // namespace

TEST(Control, MessagesArriveAsTheyWereSent) {
  std::vector<Links> links = linksOf(3);
  Control first(0, std::move(links[0]), 60);
  Control second(1, std::move(links[1]), 60);
  Control third(2, std::move(links[2]), 60);
  first.tellAll({Message::Kind::kRun, 7, 8, std::string(3 << 20, 'x')});
  first.tellAll({Message::Kind::kGo, 7, 9, "next"});
  for (Control *control : {&second, &third}) {
    Expected<Message> large = control->hear(0, kNever);
    ASSERT_TRUE(large.ok()) << large.status().toString();
    EXPECT_EQ(large->kind, Message::Kind::kRun);
    EXPECT_EQ(large->call, 7u);
    EXPECT_EQ(large->attempt, 8u);
    EXPECT_EQ(large->text.size(), 3u << 20);
    EXPECT_EQ(control->hear(0, kNever)->text, "next");
    control->tell(0, {Message::Kind::kReady});
  }
  EXPECT_EQ(first.hear(2, kNever)->kind, Message::Kind::kReady);
  EXPECT_EQ(first.nameOf(2), "rank 2 on host c");
}

TEST(Control, WhoWaitsCanBeInterrupted) {
  std::vector<Links> links = linksOf(2);
  Control first(0, std::move(links[0]), 60);
  Control second(1, std::move(links[1]), 60);
  int asked = 0;
  Status status = first.hear(1, [&] { return ++asked == 2; }).status();
  EXPECT_EQ(status.kind(), ErrorKind::kCancelled);
  EXPECT_EQ(status.message(), "stopped by the user");
}

TEST(Control, ARankThatLeavesIsMissedOnlyByWhoWaitsForIt) {
  std::vector<Links> links = linksOf(3);
  Control first(0, std::move(links[0]), 60);
  auto second = std::make_unique<Control>(1, std::move(links[1]), 60);
  Control third(2, std::move(links[2]), 60);
  second->tell(0, {Message::Kind::kReady});
  second.reset();
  EXPECT_TRUE(first.hear(1, kNever).ok()) << "what it said before";
  Status status = first.hear(1, kNever).status();
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_EQ(status.message(), "a rank has left the cluster: rank 1 on host b");
  EXPECT_TRUE(first.lost().ok());
  third.tell(0, {Message::Kind::kReady});
  EXPECT_TRUE(first.hear(2, kNever).ok());
}

TEST(Control, ARankWhoseProcessEndsIsMissedByAll) {
  std::vector<Links> links = linksOf(3);
  Control first(0, std::move(links[0]), 60);
  Control third(2, std::move(links[2]), 60);
  std::atomic<int> gone = -1;
  third.whenGone([&](int peer, const Status &) { gone = peer; });
  links[1].sockets.clear();
  for (Control *control : {&first, &third}) {
    Status status = control->hear(control == &first ? 2 : 0, kNever).status();
    EXPECT_EQ(status.kind(), ErrorKind::kIo);
    EXPECT_EQ(status.message(), "the process of a rank has ended: rank 1 on host b");
    EXPECT_FALSE(control->lost().ok());
  }
  while (gone != 1) {
    usleep(1000);
  }
}

TEST(Control, SilenceIsNotedAndOnlyThat) {
  std::vector<Links> links = linksOf(3);
  Control first(0, std::move(links[0]), 0.6);
  Control third(2, std::move(links[2]), 0.6); // and rank 1 says nothing
  Status status = first.hear(2, kNever).status();
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_NE(status.message().find("no sign of life for 0."), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("rank 1 on host b"), std::string::npos) << status.message();
  usleep(1'000'000);
  third.tell(0, {Message::Kind::kReady});
  while (!third.lost().ok() && third.lost().message().find("rank 0") != std::string::npos) {
    FAIL() << "two that live do not lose each other";
  }
}

TEST(Control, WhoWaitsForAnotherMayGoOnWaiting) {
  std::vector<Links> links = linksOf(3);
  Control first(0, std::move(links[0]), 60);
  Control third(2, std::move(links[2]), 60);
  links[1].sockets.clear();
  EXPECT_FALSE(first.hear(2, kNever).ok());
  EXPECT_TRUE(first.isLost(1));
  EXPECT_FALSE(first.isHere(1));
  EXPECT_TRUE(first.isHere(2));
  third.tell(0, {Message::Kind::kPresent});
  Expected<Message> heard = first.hear(2, kNever, Control::OnLoss::kWait);
  ASSERT_TRUE(heard.ok()) << heard.status().toString();
  EXPECT_EQ(heard->kind, Message::Kind::kPresent);
}

TEST(Control, WhoIsExpelledLearnsWhyAndReachesNobody) {
  std::vector<Links> links = linksOf(3);
  Control first(0, std::move(links[0]), 60);
  Control second(1, std::move(links[1]), 60);
  Control third(2, std::move(links[2]), 60);
  first.expel(1, makeError(ErrorKind::kIo, "too slow: rank 1"));
  EXPECT_TRUE(first.isLost(1));
  Status status = second.hear(2, kNever, Control::OnLoss::kWait).status();
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_EQ(status.message(), "the others go on without this rank: too slow: rank 1");
  EXPECT_EQ(second.lost().message(), status.message());
  EXPECT_EQ(second.expelled().message(), status.message());
  while (third.isHere(1)) {
    usleep(1000);
  }
  EXPECT_TRUE(first.expelled().ok());
}

TEST(Control, WhatIsNoMessageEndsTheLink) {
  for (const std::string &text : {std::string("short"), std::string(40, '\x77')}) {
    std::vector<Links> links = linksOf(2);
    Control first(0, std::move(links[0]), 60);
    std::string frame = packFrame(text);
    ASSERT_EQ(send(links[1].sockets[0].descriptor(), frame.data(), frame.size(), 0),
              static_cast<ssize_t>(frame.size()));
    Status status = first.hear(1, kNever).status();
    EXPECT_EQ(status.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(status.message(), "what is no message came from rank 1 on host b");
  }
}
