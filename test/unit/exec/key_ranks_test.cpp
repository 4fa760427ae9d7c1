// Ranks of integers, against a sorted set of them.
#include "runtime/exec/join/key_ranks.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

namespace headrace::exec {
namespace {

std::shared_ptr<MemoryAccount> account() {
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{1 << 30, 1 << 30, "--memory"}),
      Budget::Options{Tier::kHost, 64 << 20, "--memory"});
  return *MemoryAccount::open(memory, {});
}

/// Added by two threads at once, from the two ends.
void fill(KeyRanks &ranks, const std::vector<uint64_t> &slots) {
  for (uint64_t chunk = 0; chunk < ranks.chunks(); ++chunk) {
    ranks.clear(chunk);
  }
  auto add = [&](auto begin, auto end) {
    KeyRanks::Adder adder(ranks);
    for (; begin != end; ++begin) {
      adder.add(*begin);
    }
  };
  std::thread other([&] { add(slots.rbegin(), slots.rend()); });
  add(slots.begin(), slots.end());
  other.join();
  for (uint64_t chunk = 0; chunk < ranks.chunks(); ++chunk) {
    ranks.count(chunk);
  }
}

TEST(KeyRanks, CountTheSmallerKeysThatAreThere) {
  std::mt19937_64 random(7);
  KeyRanks ranks(account());
  for (uint64_t extent : {1ull, 31ull, 32ull, 33ull, 5000ull, 1ull << 20, 3000001ull}) {
    for (uint64_t oneIn : {1, 3, 1000}) {
      std::vector<uint64_t> slots{extent - 1};
      for (uint64_t i = 0; i < extent / oneIn; ++i) {
        slots.push_back(random() % extent);
      }
      ASSERT_TRUE(ranks.resize(extent).ok());
      fill(ranks, slots);
      const std::set<uint64_t> expected(slots.begin(), slots.end());
      ASSERT_EQ(ranks.sumChunks(), expected.size());
      EXPECT_EQ(ranks.firstRank(ranks.chunks()), expected.size());
      for (uint64_t chunk = 0; chunk < ranks.chunks(); ++chunk) {
        ranks.rank(chunk);
      }
      uint64_t rank = 0;
      for (const uint64_t slot : expected) {
        ASSERT_EQ(ranks.rankOf(slot), rank++) << slot << " of " << extent;
        ASSERT_TRUE(*ranks.wordOf(slot) >> slot % 32 & 1);
      }
      uint64_t there = 0;
      for (uint64_t slot = 0; slot < extent; ++slot) {
        there += *ranks.wordOf(slot) >> slot % 32 & 1;
      }
      EXPECT_EQ(there, expected.size());
    }
  }
}

} // namespace
} // namespace headrace::exec
