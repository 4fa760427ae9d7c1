// Which row groups a bound rules out: none that has a row which satisfies it, and all others whose
// statistics are known.
#include "runtime/primitives/hash/hash.h"
#include "runtime/storage/parquet/pruning.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

namespace headrace::storage {
namespace {

using plan::BoundKind;

constexpr BoundKind kKinds[] = {BoundKind::kEq, BoundKind::kLt, BoundKind::kLe, BoundKind::kGt,
                                BoundKind::kGe};

template <typename Value> bool holds(BoundKind kind, const Value &value, const Value &literal) {
  switch (kind) {
  case BoundKind::kEq:
    return value == literal;
  case BoundKind::kLt:
    return value < literal;
  case BoundKind::kLe:
    return value <= literal;
  case BoundKind::kGt:
    return value > literal;
  case BoundKind::kGe:
    return value >= literal;
  }
  return false;
}

ParquetColumn columnOf(LogicalKind kind) {
  ParquetColumn column;
  column.type = {kind};
  return column;
}

TEST(Pruning, IntegersAreRuledOutExactly) {
  const ParquetColumn column = columnOf(LogicalKind::kI64);
  for (BoundKind kind : kKinds) {
    for (int literal = -3; literal <= 3; ++literal) {
      for (int low = -2; low <= 2; ++low) {
        for (int high = low; high <= 2; ++high) {
          plan::Bound bound;
          bound.op = kind;
          bound.integer = literal;
          bool any = false, anyAbove = false, anyBelow = false;
          for (int value = -9; value <= 9; ++value) {
            const bool fits = holds(kind, value, literal);
            any |= fits && value >= low && value <= high;
            anyAbove |= fits && value >= low;
            anyBelow |= fits && value <= high;
          }
          ParquetChunk chunk;
          EXPECT_TRUE(canSatisfy(bound, column, chunk, 10)) << "nothing is known";
          chunk.min = StatisticsValue{.integer = low};
          EXPECT_EQ(canSatisfy(bound, column, chunk, 10), anyAbove) << literal << " " << low;
          chunk.max = StatisticsValue{.integer = high};
          EXPECT_EQ(canSatisfy(bound, column, chunk, 10), any)
              << static_cast<int>(kind) << ": " << literal << " in " << low << " to " << high;
          chunk.min.reset();
          EXPECT_EQ(canSatisfy(bound, column, chunk, 10), anyBelow) << literal << " " << high;
        }
      }
    }
  }
}

TEST(Pruning, NothingButNullSatisfiesNothing) {
  ParquetChunk chunk;
  for (BoundKind kind : kKinds) {
    plan::Bound bound;
    bound.op = kind;
    chunk.nulls = 10;
    EXPECT_FALSE(canSatisfy(bound, columnOf(LogicalKind::kI32), chunk, 10));
    chunk.nulls = 9;
    EXPECT_TRUE(canSatisfy(bound, columnOf(LogicalKind::kI32), chunk, 10));
  }
}

TEST(Pruning, TheLargestRealMayBeANumberLessThanNaN) {
  ParquetChunk chunk;
  chunk.min = StatisticsValue{.real = 1};
  chunk.max = StatisticsValue{.real = 2};
  auto can = [&](BoundKind kind, double literal) {
    plan::Bound bound;
    bound.op = kind;
    bound.real = literal;
    return canSatisfy(bound, columnOf(LogicalKind::kF64), chunk, 10);
  };
  EXPECT_TRUE(can(BoundKind::kGt, 5));
  EXPECT_TRUE(can(BoundKind::kGe, 5));
  EXPECT_TRUE(can(BoundKind::kEq, 5));
  EXPECT_TRUE(can(BoundKind::kLe, 1));
  EXPECT_FALSE(can(BoundKind::kLt, 1));
  EXPECT_FALSE(can(BoundKind::kEq, 0.5));
}

TEST(Pruning, TextsAreComparedBytewise) {
  ParquetChunk chunk;
  chunk.min = StatisticsValue{.text = "b"};
  chunk.max = StatisticsValue{.text = "d\xc3\xa9"};
  auto can = [&](BoundKind kind, const char *literal) {
    plan::Bound bound;
    bound.op = kind;
    bound.text = literal;
    return canSatisfy(bound, columnOf(LogicalKind::kString), chunk, 10);
  };
  EXPECT_TRUE(can(BoundKind::kEq, "d"));
  EXPECT_TRUE(can(BoundKind::kGt, "dz"));
  EXPECT_FALSE(can(BoundKind::kGt, "d\xc3\xaa"));
  EXPECT_FALSE(can(BoundKind::kLt, "b"));
  EXPECT_TRUE(can(BoundKind::kLe, "b"));
  EXPECT_FALSE(can(BoundKind::kEq, "B"));
}

/// Which of the ranks have a key of a chunk.
std::vector<bool> ranksOfKeys(int64_t min, int64_t max, int64_t cycle, uint32_t ranks) {
  std::vector<bool> has(ranks);
  for (int64_t key = min; key <= max; ++key) {
    const uint64_t place = primitives::placeInCycle(key, primitives::scaleOfCycle(cycle));
    has[primitives::rankOfHash(place << 16, ranks)] = true;
  }
  return has;
}

TEST(Pruning, StretchesAreRuledOutWhereNoKeyIsInThem) {
  ParquetChunk chunk;
  chunk.nulls = 0;
  for (uint32_t ranks : {2, 3, 7}) {
    for (int64_t cycle : {7, 10, 64, 1000}) {
      for (int64_t min = -25; min < 25; min += 3) {
        for (int64_t wide : {0, 1, 4, 9, 30, 90}) {
          chunk.min = StatisticsValue{.integer = min};
          chunk.max = StatisticsValue{.integer = min + wide};
          const std::vector<bool> has = ranksOfKeys(min, min + wide, cycle, ranks);
          for (uint32_t rank = 0; rank < ranks; ++rank) {
            const bool kept =
                canHaveStretches(cycle, primitives::equalInterval(rank, ranks), chunk);
            EXPECT_TRUE(kept || !has[rank]) << min << " " << wide << " " << cycle << " " << rank;
            if (wide < cycle / (2 * ranks)) { // then places between have keys, too
              EXPECT_EQ(kept, has[rank]) << min << " " << wide << " " << cycle << " " << rank;
            }
          }
        }
      }
    }
  }
}

TEST(Pruning, StretchesAreKeptWhereStatisticsSayTooLittle) {
  const auto kept = [](const ParquetChunk &chunk) {
    return std::ranges::all_of(std::array{0, 1, 2, 3}, [&](uint64_t rank) {
      return canHaveStretches(1000, primitives::equalInterval(rank, 4), chunk);
    });
  };
  ParquetChunk chunk;
  chunk.min = StatisticsValue{.integer = 3};
  chunk.max = StatisticsValue{.integer = 4};
  EXPECT_TRUE(kept(chunk)) << "there may be NULLs";
  chunk.nulls = 1;
  EXPECT_TRUE(kept(chunk)) << "a NULL is somewhere else";
  chunk.nulls = 0;
  EXPECT_FALSE(kept(chunk));
  chunk.max = StatisticsValue{.integer = INT64_MAX};
  EXPECT_TRUE(kept(chunk)) << "more than a cycle";
  chunk.min = StatisticsValue{.integer = INT64_MIN};
  EXPECT_TRUE(kept(chunk)) << "all keys";
  chunk.max.reset();
  EXPECT_TRUE(kept(chunk)) << "no maximum";
}

} // namespace
} // namespace headrace::storage
