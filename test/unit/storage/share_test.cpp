// Splits are contiguous, complete, and balanced by rows.
#include "runtime/storage/columns/share.h"

#include <gtest/gtest.h>

#include <random>

namespace headrace::storage {
namespace {

TEST(Share, CompleteAndContiguous) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint64_t> rows(random() % 40);
    for (uint64_t &count : rows) {
      count = random() % 5 == 0 ? 0 : random() % 1000;
    }
    uint32_t size = 1 + static_cast<uint32_t>(random() % 9);
    size_t next = 0;
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto [first, last] = shareOf(rows, {rank, size});
      EXPECT_EQ(first, next);
      EXPECT_LE(first, last);
      next = last;
    }
    EXPECT_EQ(next, rows.size());
  }
}

TEST(Share, Balanced) {
  std::vector<uint64_t> rows(53, 113'743);
  for (uint32_t size : {2u, 3u, 4u, 8u}) {
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto [first, last] = shareOf(rows, {rank, size});
      EXPECT_GE(last - first, 53 / size);
      EXPECT_LE(last - first, 53 / size + 1);
    }
  }
}

} // namespace
} // namespace headrace::storage
