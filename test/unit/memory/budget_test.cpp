// The broker: minima, growth, the typed error, and waking those who were put off.
#include "runtime/memory/budget.h"

#include <thread>

#include <gtest/gtest.h>

using namespace headrace;

namespace {
ReservationRequest request(int64_t minimumBytes, int64_t expectedBytes = 0) {
  return {.operatorName = "hash join build",
          .task = TaskId(7),
          .minimumBytes = minimumBytes,
          .expectedBytes = expectedBytes,
          .place = "query.sql:3"};
}
} // namespace

TEST(Budget, GrantsTheExpectedAsFarAsThereIsRoom) {
  Budget budget({.limitBytes = 1000});
  Expected<Reservation> first = budget.reserve(request(100, 700));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->grantedBytes(), 700);
  Expected<Reservation> second = budget.reserve(request(100, 700));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->grantedBytes(), 300);
  EXPECT_EQ(budget.reservedBytes(), 1000);
  first->release();
  EXPECT_EQ(budget.reservedBytes(), 300);
  EXPECT_EQ(budget.peakReservedBytes(), 1000);
}

TEST(Budget, TheErrorNamesTierOperatorBytesLimitAndSetting) {
  Budget budget({.limitBytes = 1 << 20});
  Expected<Reservation> reservation = budget.reserve(request(3 << 20));
  ASSERT_FALSE(reservation.ok());
  EXPECT_EQ(reservation.status().kind(), ErrorKind::kMemory);
  EXPECT_EQ(reservation.status().message(),
            "out of host memory: hash join build (task 7) asked for 3 MiB (3145728 bytes) with 0 B "
            "of the limit of 1 MiB reserved; raise --memory");
  EXPECT_EQ(reservation.status().place(), "query.sql:3");
}

TEST(Budget, ChargesGrowTheReservationAndFailWhole) {
  Budget budget({.tier = Tier::kPinned, .limitBytes = 1000});
  Expected<Reservation> reservation = budget.reserve(request(100));
  ASSERT_TRUE(reservation->charge(100).ok());
  EXPECT_EQ(budget.reservedBytes(), 100);
  ASSERT_TRUE(reservation->charge(400).ok());
  EXPECT_EQ(reservation->grantedBytes(), 500);
  Status refused = reservation->charge(501);
  EXPECT_EQ(refused.kind(), ErrorKind::kMemory);
  EXPECT_NE(refused.message().find("out of pinned memory: hash join build (task 7)"),
            std::string::npos);
  EXPECT_EQ(reservation->chargedBytes(), 500);
  EXPECT_TRUE(reservation->charge(500).ok());
  reservation->discharge(700);
  EXPECT_EQ(budget.reservedBytes(), 300);
  EXPECT_EQ(reservation->peakBytes(), 1000);
  reservation->discharge(300);
  EXPECT_EQ(budget.reservedBytes(), 100); // as was asked for before anything was charged
  reservation->shrink();
  EXPECT_EQ(budget.reservedBytes(), 0);
}

TEST(Budget, GrowIsAllOrNothing) {
  Budget budget({.limitBytes = 100});
  Expected<Reservation> reservation = budget.reserve(request(60));
  EXPECT_FALSE(reservation->grow(41).ok());
  EXPECT_EQ(reservation->grantedBytes(), 60);
  EXPECT_TRUE(reservation->grow(40).ok());
  EXPECT_EQ(reservation->grantedBytes(), 100);
  ASSERT_TRUE(reservation->charge(100).ok());
  reservation->discharge(100);
  EXPECT_EQ(reservation->grantedBytes(), 100);
}

TEST(Budget, WhoWasPutOffIsWoken) {
  Budget budget({.limitBytes = 100});
  Doorbell bell;
  budget.watch(&bell);
  auto first = budget.tryReserve(request(80));
  ASSERT_TRUE(first.ok() && first->has_value());
  auto second = budget.tryReserve(request(30));
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->has_value());
  EXPECT_FALSE(bell.consume());
  (*first)->release();
  EXPECT_TRUE(bell.consume());
  second = budget.tryReserve(request(30));
  ASSERT_TRUE(second.ok() && second->has_value());
  EXPECT_EQ(budget.tryReserve(request(101)).status().kind(), ErrorKind::kMemory);
  budget.unwatch(&bell);
}

TEST(Budget, BlocksLeftOnAReservationAreABrokenInvariant) {
  EXPECT_DEATH(
      {
        Budget budget({.limitBytes = 100});
        Expected<Reservation> reservation = budget.reserve(request(10));
        (void)reservation->charge(10);
      },
      "broken invariant");
}

TEST(Budget, ManyThreadsNeverExceedTheLimit) {
  Budget budget({.limitBytes = 1000});
  Expected<Reservation> shared = budget.reserve(request(0));
  std::vector<std::thread> threads;
  for (int index = 0; index < 4; ++index) {
    threads.emplace_back([&] {
      for (int step = 0; step < 2000; ++step) {
        int64_t bytes = 1 + step % 300;
        if (shared->charge(bytes).ok()) {
          shared->discharge(bytes);
        }
        if (step % 7 == 0) {
          shared->shrink();
        }
        Expected<Reservation> own = budget.reserve(request(bytes));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_LE(budget.peakReservedBytes(), 1000);
  EXPECT_EQ(shared->chargedBytes(), 0);
  shared->release();
  EXPECT_EQ(budget.reservedBytes(), 0);
}

TEST(Budget, ManyThreadsTakeWhatIsLeftOfTheirBudgetInATier) {
  auto tier = std::make_shared<MemoryTier>(1000);
  Budget budget({.limitBytes = 100, .shared = tier});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        Expected<Reservation> one = budget.reserve(request(i % 40, 80)); // some are refused
        if (one.ok()) {
          ASSERT_GE(one->grantedBytes(), i % 40);
          ASSERT_LE(budget.reservedBytes(), 100);
        }
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_LE(budget.peakReservedBytes(), 100);
  EXPECT_EQ(budget.reservedBytes(), 0);
  EXPECT_EQ(tier->usedBytes(), 0);
}

TEST(Charge, GivesBackWhatItTook) {
  Budget budget({.limitBytes = 1000});
  Reservation reservation = *budget.reserve({.operatorName = "scan", .minimumBytes = 100});
  {
    Charge all = *Charge::take(reservation, 600);
    EXPECT_EQ(reservation.chargedBytes(), 600);
    EXPECT_EQ(budget.reservedBytes(), 600); // with what was granted before
    Charge part = all.split(200);
    EXPECT_FALSE(Charge::take(reservation, 401).ok());
    all.reset();
    EXPECT_EQ(budget.reservedBytes(), 200);
    part.add(*Charge::take(reservation, 50));
    EXPECT_EQ(part.bytes(), 250);
    EXPECT_EQ(budget.reservedBytes(), 250);
    Charge moved = std::move(part);
    EXPECT_EQ(budget.reservedBytes(), 250);
  }
  EXPECT_EQ(reservation.chargedBytes(), 0);
  EXPECT_EQ(budget.reservedBytes(), 100);
}
