// Ranks that come again as threads of one process.
#include "runtime/session/door.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

using namespace headrace;
using namespace headrace::session;

namespace {

class DoorTest : public ::testing::Test {
protected:
  DoorTest() {
    char name[] = "/tmp/headrace-door-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~DoorTest() override { std::filesystem::remove_all(folder_); }

  Launch launch(int rank) const {
    return {.rank = rank,
            .size = 3,
            .meeting = folder_ + "/",
            .credentials = {},
            .address = "127.0.0.1"};
  }
  std::string file() const { return folder_ + "/door"; }
  std::unique_ptr<Door> open() {
    auto door = Door::open(launch(0), {"a secret of this job", ""}, "127.0.0.1");
    EXPECT_TRUE(door.ok()) << door.status().toString();
    return std::move(*door);
  }
  static void waitFor(const Door &door, int rank) {
    while (door.waiting() != std::vector<int>{rank}) {
      usleep(1000);
    }
  }

  std::string folder_;
};

const KnockOptions kPatient{.silenceSecondsMax = 30, .interrupted = {}};

} // namespace

TEST_F(DoorTest, WhoIsInvitedComesIn) {
  std::unique_ptr<Door> door = open();
  Expected<std::optional<Admission>> admission = std::optional<Admission>();
  std::thread again([&] { admission = knock(launch(2), kPatient); });
  waitFor(*door, 2);
  door->invite(1, {}); // nobody
  door->invite(2, {.epoch = 4, .meeting = {"127.0.0.1", 5}, .rank = 1, .size = 2, .call = 6});
  again.join();
  ASSERT_TRUE(admission.ok()) << admission.status().toString();
  ASSERT_TRUE(admission->has_value());
  EXPECT_EQ((*admission)->membership.epoch, 4u);
  EXPECT_EQ((*admission)->membership.call, 6u);
  EXPECT_EQ((*admission)->credentials.secret, "a secret of this job");
  while (!door->waiting().empty()) { // its connection has closed
    usleep(1000);
  }
  door.reset();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(DoorTest, WithoutADoorTheJobBegins) {
  Expected<std::optional<Admission>> admission = knock(launch(1), kPatient);
  ASSERT_TRUE(admission.ok()) << admission.status().toString();
  EXPECT_FALSE(admission->has_value());
  // One that a job left which was killed leads nowhere, and the next job's takes its place.
  std::ofstream(file()) << "127.0.0.1:1\nan old secret";
  chmod(file().c_str(), 0600);
  admission = knock(launch(1), kPatient);
  ASSERT_TRUE(admission.ok()) << admission.status().toString();
  EXPECT_FALSE(admission->has_value());
  open();
}

TEST_F(DoorTest, WhoDoesNotKnowTheSecretStaysOutside) {
  std::unique_ptr<Door> door = open();
  std::ifstream written(file());
  std::string where;
  std::getline(written, where);
  Launch other = launch(1);
  other.meeting = where;
  other.credentials.secret = "the secret of another job";
  Expected<std::optional<Admission>> admission = knock(other, kPatient);
  ASSERT_TRUE(admission.ok()) << admission.status().toString();
  EXPECT_FALSE(admission->has_value());
  EXPECT_TRUE(door->waiting().empty());
}

TEST_F(DoorTest, AFileThatOthersReadIsRefused) {
  std::unique_ptr<Door> door = open();
  chmod(file().c_str(), 0644);
  Status status = knock(launch(1), kPatient).status();
  EXPECT_EQ(status.kind(), ErrorKind::kUser);
  EXPECT_NE(status.message().find("others may read"), std::string::npos) << status.message();
}

TEST_F(DoorTest, WhoWaitsLearnsThatTheJobHasEnded) {
  std::unique_ptr<Door> door = open();
  Status status;
  std::thread again([&] { status = knock(launch(2), kPatient).status(); });
  waitFor(*door, 2);
  door.reset();
  again.join();
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_NE(status.message().find("the job ended before this rank came in"), std::string::npos);
}

TEST_F(DoorTest, WhoWaitsCanBeInterrupted) {
  std::unique_ptr<Door> door = open();
  int asked = 0;
  Status status =
      knock(launch(2), {.silenceSecondsMax = 30, .interrupted = [&] { return ++asked == 3; }})
          .status();
  EXPECT_EQ(status.kind(), ErrorKind::kCancelled);
}

TEST_F(DoorTest, OfTwoWhoSayThatTheyAreTheSameTheLastStays) {
  std::unique_ptr<Door> door = open();
  Status first;
  std::thread one([&] { first = knock(launch(2), kPatient).status(); });
  waitFor(*door, 2);
  Expected<std::optional<Admission>> second = std::optional<Admission>();
  std::thread other([&] { second = knock(launch(2), kPatient); });
  one.join();
  EXPECT_EQ(first.kind(), ErrorKind::kIo);
  door->invite(2, {.epoch = 1, .meeting = {"127.0.0.1", 5}, .rank = 1, .size = 2});
  other.join();
  EXPECT_TRUE(second.ok() && second->has_value());
}
