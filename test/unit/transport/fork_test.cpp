// Forked ranks: outcomes reach the parent.
#include "runtime/transport/fork.h"

#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>

using namespace headrace;

TEST(Fork, AChildsErrorReachesTheParentWhole) {
  Status status = forkRanks(3, [](Transport &transport) {
    return transport.rank() == 2 ? Status(ErrorKind::kData, "division by zero", "query.sql:1")
                                 : Status();
  });
  EXPECT_EQ(status.kind(), ErrorKind::kData);
  EXPECT_EQ(status.message(), "rank 2: division by zero");
  EXPECT_EQ(status.place(), "query.sql:1");
}

TEST(Fork, TheParentsErrorComesFirst) {
  Status status = forkRanks(2, [](Transport &transport) {
    return makeError(ErrorKind::kUser, "rank is ", transport.rank());
  });
  EXPECT_EQ(status.message(), "rank is 0");
}

TEST(Fork, ACrashNamesRankAndSignal) {
  Status status = forkRanks(3, [](Transport &transport) {
    if (transport.rank() == 1) {
      signal(SIGABRT, SIG_DFL);
      kill(getpid(), SIGKILL);
    }
    return Status();
  });
  EXPECT_EQ(status.kind(), ErrorKind::kInternal);
  EXPECT_NE(status.message().find("rank 1 died of signal 9"), std::string::npos)
      << status.message();
}

TEST(Fork, ARankThatHangsIsKilled) {
  Status status = forkRanks(2,
                            [](Transport &transport) {
                              while (transport.rank() == 1) {
                                pause();
                              }
                              return Status();
                            },
                            {.timeoutSeconds = 1});
  EXPECT_NE(status.message().find("rank 1 died of signal 14"), std::string::npos)
      << status.message();
}

TEST(Fork, ARankThatStaysBehindIsKilled) {
  Status status = forkRanks(2,
                            [](Transport &transport) {
                              while (transport.rank() == 1) {
                                pause();
                              }
                              return Status();
                            },
                            {.graceSeconds = 0.2});
  EXPECT_EQ(status.message(), "did not end when rank 0 had, and was killed: rank 1");
}

TEST(Fork, ARankThatExitsIsNamed) {
  Status status = forkRanks(2, [](Transport &transport) {
    if (transport.rank() == 1) {
      _exit(3);
    }
    return Status();
  });
  EXPECT_EQ(status.message(), "rank 1 ended without a result, code 3");
}
