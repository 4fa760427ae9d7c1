// What every bootstrap must do, with 1 to 4 ranks and with faults.
// Sources: runtime/bootstrap/store_bootstrap.cpp
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/bootstrap/reception.h"
#include "test/unit/bootstrap/meetings.h"

using namespace headrace;
using namespace headrace::test;

namespace {

using Seconds = std::chrono::duration<double>;

double secondsOf(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

void expectAllOk(const std::vector<Status> &outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_TRUE(outcomes[rank].ok()) << "rank " << rank << ": " << outcomes[rank].toString();
  }
}

std::string recordOf(int rank, int round) {
  return std::string(static_cast<size_t>(1000 * rank * round), 'x') + '\0' + std::to_string(rank);
}

} // namespace

class BootstrapConformance : public testing::TestWithParam<Meeting> {};

TEST_P(BootstrapConformance, RecordsOfAllRanksComeByRankEachTime) {
  expectAllOk(meet(GetParam(), [](Bootstrap &bootstrap) -> Status {
    for (int round = 0; round < 20; ++round) {
      HR_ASSIGN_OR_RETURN(auto records, bootstrap.exchange(recordOf(bootstrap.rank(), round)));
      if (records.size() != static_cast<size_t>(bootstrap.size())) {
        return makeError(ErrorKind::kInternal, "records: ", records.size());
      }
      for (int rank = 0; rank < bootstrap.size(); ++rank) {
        if (records[static_cast<size_t>(rank)] != recordOf(rank, round)) {
          return makeError(ErrorKind::kInternal, "not the record of rank ", rank);
        }
      }
    }
    return bootstrap.fence();
  }));
}

TEST_P(BootstrapConformance, RanksKnowTheirAddressAndOneSecret) {
  expectAllOk(meet(GetParam(), [](Bootstrap &bootstrap) -> Status {
    if (bootstrap.address() != "127.0.0.1" || bootstrap.credentials().secret.size() < 16) {
      return makeError(ErrorKind::kInternal, "address: ", bootstrap.address());
    }
    HR_ASSIGN_OR_RETURN(auto secrets, bootstrap.exchange(bootstrap.credentials().secret));
    return secrets.front() == secrets.back()
               ? Status()
               : makeError(ErrorKind::kInternal, "another secret: ", secrets.back());
  }));
}

TEST_P(BootstrapConformance, ARecordHasALimit) {
  expectAllOk(meet(GetParam(), [](Bootstrap &bootstrap) -> Status {
    Status large = bootstrap.exchange(std::string(61'441, 'x')).status();
    EXPECT_EQ(large.message(), "a record of a bootstrap has at most 61440 bytes, got: 61441");
    return bootstrap.exchange(std::string(61'440, 'x')).status();
  }));
}

TEST_P(BootstrapConformance, ASlowRankIsWaitedFor) {
  double seconds = secondsOf([] {
    expectAllOk(meet(GetParam(), [](Bootstrap &bootstrap) {
      if (bootstrap.rank() == bootstrap.size() - 1) {
        std::this_thread::sleep_for(Seconds(0.2));
      }
      return bootstrap.fence();
    }));
  });
  EXPECT_GT(seconds, 0.2);
}

TEST_P(BootstrapConformance, WhoWaitsForARankThatLeftLearnsSoAtOnce) {
  int leaver = GetParam().size - 1;
  std::vector<Status> outcomes;
  double seconds = secondsOf([&] {
    outcomes = meet(GetParam(), [&](Bootstrap &bootstrap) {
      return bootstrap.rank() == leaver ? Status() : bootstrap.fence();
    });
  });
  EXPECT_LT(seconds, 10);
  EXPECT_TRUE(outcomes.back().ok());
  for (int rank = 0; rank < leaver; ++rank) {
    const Status &outcome = outcomes[static_cast<size_t>(rank)];
    EXPECT_EQ(outcome.kind(), ErrorKind::kIo);
    EXPECT_NE(outcome.message().find("the others waited for a rank that has left"),
              std::string::npos)
        << outcome.message();
    EXPECT_NE(outcome.message().find("rank " + std::to_string(leaver)), std::string::npos)
        << outcome.message();
  }
}

TEST_P(BootstrapConformance, ALateFenceFailsOnAllWhoWaitAndStaysFailed) {
  if (GetParam().size == 1) {
    return;
  }
  std::vector<Status> outcomes = meet(
      GetParam(),
      [&](Bootstrap &bootstrap) -> Status {
        if (bootstrap.rank() == bootstrap.size() - 1) {
          std::this_thread::sleep_for(Seconds(1));
          return {};
        }
        Status late = bootstrap.fence();
        EXPECT_EQ(bootstrap.fence().message(), late.message());
        return late;
      },
      0.5);
  for (size_t rank = 0; rank + 1 < outcomes.size(); ++rank) {
    std::string wanted = "s (--join-timeout) for: rank " + std::to_string(GetParam().size - 1);
    EXPECT_NE(outcomes[rank].message().find(wanted), std::string::npos) << outcomes[rank].message();
  }
}

TEST_P(BootstrapConformance, ARankThatNeverComesIsNamed) {
  Place place(GetParam());
  int size = GetParam().size;
  std::vector<std::thread> threads;
  for (int rank = 0; rank + 1 < size; ++rank) {
    threads.emplace_back([&, rank] {
      Status status = join(place.launch(rank), {.patienceSeconds = 0.5}).status();
      EXPECT_EQ(status.kind(), ErrorKind::kIo);
      EXPECT_NE(status.message().find("rank " + std::to_string(size - 1)), std::string::npos)
          << status.message();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST_P(BootstrapConformance, WithoutRankZeroNobodyComesFar) {
  Place place({GetParam().kind, 2});
  Status status = join(place.launch(1), {.patienceSeconds = 0.2}).status();
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  const std::string &where = place.launch(1).meeting;
  EXPECT_TRUE(status.message().starts_with(
      GetParam().kind == Kind::kStore
          ? "rank 0 was not reached at " + where + " within 0.2 s (--join-timeout): "
          : "rank 0 did not come within 0.2 s (--join-timeout) to the folder: " + where))
      << status.message();
}

INSTANTIATE_TEST_SUITE_P(Kinds, BootstrapConformance, testing::ValuesIn(allMeetings()),
                         [](const auto &info) { return meetingName(info.param); });

TEST(StoreBootstrap, AStoreThatSaysNothingIsNamed) {
  Socket listener = *listenAt({"127.0.0.1", 0});
  std::string address = ownEnd(listener).toString();
  Status status = join({1, 2, address, {kSecret, ""}}, {.patienceSeconds = 0.2}).status();
  EXPECT_EQ(status.message(), "rank 0 does not answer, at: " + address);
}

TEST(StoreBootstrap, AStoreThatGoesIsNamed) {
  Credentials credentials{kSecret, ""};
  Reception reception(*listenAt({"127.0.0.1", 0}), credentials, {"store", 0, 2});
  std::string address = reception.address().toString();
  std::thread store([&] {
    while (reception.admit().empty()) { // and the guest is shown out at once
      std::this_thread::sleep_for(Seconds(0.005));
    }
  });
  Status status = join({1, 2, address, credentials}, {}).status();
  store.join();
  EXPECT_EQ(status.message(), "rank 0 has left, at: " + address);
}

TEST(FolderBootstrap, AFolderServesOneJob) {
  Place place({Kind::kFolder, 1});
  auto first = join(place.launch(0), {});
  ASSERT_TRUE(first.ok()) << first.status().toString();
  Status second = join(place.launch(0), {}).status();
  EXPECT_EQ(second.kind(), ErrorKind::kUser);
  EXPECT_NE(second.message().find("a job has begun in this folder before, give it a new one: "),
            std::string::npos)
      << second.message();
}

TEST(FolderBootstrap, ASecretThatOthersMayReadIsRefused) {
  Place place({Kind::kFolder, 2});
  std::string session = place.launch(0).meeting + "/session";
  ASSERT_EQ(std::system(("echo known > " + session + "; chmod 644 " + session).c_str()), 0);
  Status status = join(place.launch(1), {}).status();
  EXPECT_NE(status.message().find("others may read or have written the job's secret: "),
            std::string::npos)
      << status.message();
}

TEST(FolderBootstrap, AFolderThatCannotBeWrittenIsNamed) {
  Launch launch{0, 1, "/proc/none/here", {}};
  Status status = join(launch, {}).status();
  EXPECT_NE(status.message().find("cannot write a file of the job ("), std::string::npos)
      << status.message();
}
