// The limit of a tier: what is needed comes first, what is kept gives way.
#include "runtime/memory/memory_tier.h"

#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/memory/budget.h"

using namespace headrace;

namespace {

/// Keeps pieces of ten bytes.
class TenByTen final : public Keeper {
public:
  explicit TenByTen(std::shared_ptr<MemoryTier> tier) { use(std::move(tier)); }
  ~TenByTen() override { use(nullptr); }
  void fill() {
    std::lock_guard lock(mutex_);
    while (tier_->takeIfFree(10)) {
      ++kept_;
    }
  }
  int64_t giveWay(int64_t bytes) override {
    std::lock_guard lock(mutex_);
    int64_t given = 0;
    for (; given < bytes && kept_ > 0; given += 10, --kept_) {
      tier_->giveBackKept(10);
    }
    return given;
  }
  int64_t kept() const { return kept_; }

private:
  void moveTo(std::shared_ptr<MemoryTier> tier) override {
    giveWay(INT64_MAX);
    tier_ = std::move(tier);
  }
  std::shared_ptr<MemoryTier> tier_;
  std::mutex mutex_;
  int64_t kept_ = 0;
};

} // namespace

TEST(MemoryTier, KeepersGiveWayInTheOrderInWhichTheyJoined) {
  auto tier = std::make_shared<MemoryTier>(100);
  TenByTen first(tier);
  ASSERT_TRUE(tier->take(50));
  first.fill();
  EXPECT_EQ(first.kept(), 5);
  tier->giveBack(20);
  TenByTen second(tier);
  second.fill();
  EXPECT_EQ(second.kept(), 2);
  EXPECT_FALSE(tier->takeIfFree(1));
  EXPECT_TRUE(tier->take(15));
  EXPECT_EQ(first.kept(), 3);
  EXPECT_EQ(second.kept(), 2);
  EXPECT_TRUE(tier->take(45));
  EXPECT_EQ(first.kept(), 0);
  EXPECT_EQ(second.kept(), 1);
  EXPECT_FALSE(tier->take(100));
  EXPECT_EQ(second.kept(), 0);
  EXPECT_EQ(tier->usedBytes(), 90);
}

/// Keeps what its own reservation pays for.
class Payer final : public Keeper {
public:
  explicit Payer(std::shared_ptr<MemoryTier> tier)
      : budget_({.limitBytes = 10'000, .shared = tier}),
        reservation_(*budget_.reserve({.operatorName = "kept"})) {
    use(std::move(tier));
  }
  ~Payer() override {
    use(nullptr);
    giveWay(INT64_MAX);
  }
  Status keep(int64_t bytes) {
    HR_RETURN_IF_ERROR(reservation_.charge(bytes));
    std::lock_guard lock(mutex_);
    kept_ += bytes;
    return {};
  }
  int64_t giveWay(int64_t) override {
    std::lock_guard lock(mutex_);
    const int64_t given = std::exchange(kept_, 0);
    reservation_.discharge(given);
    return given;
  }

private:
  void moveTo(std::shared_ptr<MemoryTier>) override {}
  Budget budget_;
  Reservation reservation_;
  std::mutex mutex_;
  int64_t kept_ = 0;
};

TEST(MemoryTier, KeepersThatPayByReservationsGiveWayForThemselvesAndEachOther) {
  auto tier = std::make_shared<MemoryTier>(1000);
  Payer first(tier), second(tier);
  ASSERT_TRUE(first.keep(600).ok());
  ASSERT_TRUE(first.keep(700).ok()); // in place of the 600
  ASSERT_TRUE(second.keep(800).ok());
  EXPECT_EQ(second.keep(1001).kind(), ErrorKind::kMemory);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5'000; ++i) {
        (void)(t % 2 ? first : second).keep(1 + (i * 7 + t) % 400);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_LE(tier->usedBytes(), 1000);
}

TEST(MemoryTier, NeverOverItsLimitWithManyThreads) {
  auto tier = std::make_shared<MemoryTier>(1000);
  TenByTen keeper(tier);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20'000; ++i) {
        const int64_t bytes = 1 + (i * 7 + t) % 240;
        ASSERT_TRUE(tier->take(bytes)); // four of them and no more fit
        ASSERT_LE(tier->usedBytes(), 1000);
        tier->giveBack(bytes);
        keeper.fill();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST(MemoryTier, ExpectsWhatTheLastRunsNeeded) {
  auto tier = std::make_shared<MemoryTier>(100);
  TenByTen keeper(tier);
  keeper.fill(); // counts for nothing
  EXPECT_EQ(tier->expectedBytes(), 0);
  ASSERT_TRUE(tier->take(60));
  EXPECT_EQ(tier->expectedBytes(), 60);
  tier->giveBack(50);
  tier->endRun();
  EXPECT_EQ(tier->expectedBytes(), 60);
  ASSERT_TRUE(tier->take(20)); // beside what a result still holds
  tier->giveBack(20);
  tier->endRun();
  EXPECT_EQ(tier->expectedBytes(), 60);
  ASSERT_TRUE(tier->take(20));
  tier->giveBack(20);
  tier->endRun();
  EXPECT_EQ(tier->expectedBytes(), 30);
  ASSERT_TRUE(tier->take(80)); // at once, not when the run has ended
  EXPECT_EQ(tier->expectedBytes(), 90);
  tier->giveBack(90);
}

TEST(MemoryTier, WhatIsKeptMovesToAnotherTier) {
  auto first = std::make_shared<MemoryTier>(100), second = std::make_shared<MemoryTier>(20);
  TenByTen keeper(first);
  keeper.fill();
  keeper.use(second);
  EXPECT_EQ(first->usedBytes(), 0);
  keeper.fill();
  EXPECT_TRUE(second->take(20));
  EXPECT_EQ(keeper.kept(), 0);
  EXPECT_TRUE(first->take(100));
}
