// Sealing, copying and the wire form of chunks.
#include "runtime/exec/chunk.h"
#include "runtime/exec/chunk_codec.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace headrace::exec {
namespace {

class ChunkTest : public testing::Test {
protected:
  ChunkTest() {
    stream_.name = "s";
    stream_.chunkRows = 1000;
    stream_.schema.columns = {{"n", HR_I32, {LogicalKind::kI32}, true},
                              {"b", HR_BOOL, {LogicalKind::kBool}, true},
                              {"t", HR_STRING, {LogicalKind::kString}, true},
                              {"w", HR_I128, {LogicalKind::kDecimal, 38, 2}, false}};
    ReservationRequest request;
    request.operatorName = "test";
    account_ = *MemoryAccount::open(memory_, request);
  }

  /// Rows from a seed; NULL about every fifth value.
  ChunkHandle fill(uint32_t rows, unsigned seed) {
    OutputChunk output(stream_, account_);
    EXPECT_TRUE(output.prepare().ok());
    std::mt19937 random(seed);
    for (uint32_t i = 0; i < rows; ++i) {
      HrOutputColumn *columns = output.abi().columns;
      for (size_t c = 0; c < 3; ++c) {
        columns[c].validity[i] = random() % 5 != 0;
      }
      static_cast<int32_t *>(columns[0].data)[i] =
          columns[0].validity[i] ? static_cast<int32_t>(random()) : 0;
      static_cast<uint8_t *>(columns[1].data)[i] = columns[1].validity[i] ? random() & 1 : 0;
      std::string text(columns[2].validity[i] ? random() % 40 : 0, static_cast<char>('a' + i % 26));
      EXPECT_TRUE(output.growHeap(2, text.size()).ok());
      if (!text.empty()) {
        std::memcpy(columns[2].heap + columns[2].heapUsed, text.data(), text.size());
      }
      columns[2].heapUsed += static_cast<uint32_t>(text.size());
      static_cast<uint32_t *>(columns[2].data)[i + 1] = columns[2].heapUsed;
      static_cast<__int128 *>(columns[3].data)[i] = static_cast<__int128>(random()) << 70;
    }
    output.abi().rows = rows;
    auto chunk = output.seal({}, 0);
    EXPECT_TRUE(chunk.ok());
    return *chunk;
  }

  static bool bit(const uint8_t *bits, uint32_t i) { return bits[i / 8] >> (i % 8) & 1; }

  /// Rows [first, first + count) of `a` are the rows of `b`.
  void expectSame(const Chunk &a, uint32_t first, const Chunk &b) {
    for (uint32_t i = 0; i < b.rows; ++i) {
      for (size_t c = 0; c < 4; ++c) {
        const HrSegment &x = a.segments[c];
        const HrSegment &y = b.segments[c];
        ASSERT_EQ(!x.validity || bit(x.validity, first + i), !y.validity || bit(y.validity, i));
      }
      auto number = [](const HrSegment &s, uint32_t row) {
        return static_cast<const int32_t *>(s.data)[row];
      };
      auto wide = [](const HrSegment &s, uint32_t row) {
        return static_cast<const __int128 *>(s.data)[row];
      };
      auto text = [](const HrSegment &s, uint32_t row) {
        const auto *offsets = static_cast<const uint32_t *>(s.data);
        return std::string(s.heap + offsets[row], s.heap + offsets[row + 1]);
      };
      ASSERT_EQ(number(a.segments[0], first + i), number(b.segments[0], i));
      ASSERT_EQ(bit(static_cast<const uint8_t *>(a.segments[1].data), first + i),
                bit(static_cast<const uint8_t *>(b.segments[1].data), i));
      ASSERT_EQ(text(a.segments[2], first + i), text(b.segments[2], i));
      ASSERT_TRUE(wide(a.segments[3], first + i) == wide(b.segments[3], i));
    }
  }

  std::shared_ptr<RankMemory> memory_ = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{64 << 20, 64 << 20, "--memory"}),
      Budget::Options{Tier::kHost, 64 << 20, "--memory"});
  plan::Stream stream_;
  std::shared_ptr<MemoryAccount> account_;
};

TEST_F(ChunkTest, SealIsTheSameInPlaceAndCopied) {
  for (uint32_t rows : {1u, 63u, 249u, 251u, 1000u}) {
    ChunkHandle chunk = fill(rows, rows);
    ASSERT_EQ(chunk->rows, rows);
    auto copy = copyChunk(*chunk, stream_.schema, account_);
    ASSERT_TRUE(copy.ok());
    expectSame(*chunk, 0, **copy);
  }
}

TEST_F(ChunkTest, RowsAreTakenOneByOne) {
  ChunkHandle chunk = fill(1000, 7);
  std::vector<int32_t> all{0, 1, 2, 3};
  std::vector<uint32_t> rows(290), none;
  std::iota(rows.begin(), rows.end(), 13);
  auto taken = takeRows(*chunk, stream_.schema, all, rows, account_);
  ASSERT_TRUE(taken.ok());
  ASSERT_EQ((*taken)->rows, 290u);
  expectSame(*chunk, 13, **taken);
  // Backwards, and some columns only.
  std::reverse(rows.begin(), rows.end());
  std::vector<int32_t> some{2, 0};
  auto turned = takeRows(*chunk, stream_.schema, some, rows, account_);
  ASSERT_TRUE(turned.ok());
  const HrSegment &from = chunk->segments[0], &to = (*turned)->segments[1];
  for (uint32_t i = 0; i < 290; ++i) {
    EXPECT_EQ(static_cast<const int32_t *>(to.data)[i],
              static_cast<const int32_t *>(from.data)[rows[i]]);
    EXPECT_EQ(bit(to.validity, i), bit(from.validity, rows[i]));
  }
  EXPECT_EQ((*takeRows(*chunk, stream_.schema, all, none, account_))->rows, 0u);
}

TEST_F(ChunkTest, NoRowsNoChunk) {
  OutputChunk output(stream_, account_);
  ASSERT_TRUE(output.prepare().ok());
  auto chunk = output.seal({}, 0);
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(*chunk, nullptr);
  EXPECT_TRUE(output.prepared());
}

TEST_F(ChunkTest, ValidityIsAbsentWhereAllAreValid) {
  OutputChunk output(stream_, account_);
  ASSERT_TRUE(output.prepare().ok());
  output.abi().rows = 10;
  for (size_t c = 0; c < 3; ++c) {
    std::memset(output.abi().columns[c].validity, 1, 10);
  }
  std::memset(output.abi().columns[0].data, 0, 40);
  std::memset(output.abi().columns[1].data, 1, 10);
  std::memset(output.abi().columns[2].data, 0, 44);
  std::memset(output.abi().columns[3].data, 0, 160);
  auto chunk = output.seal({}, 0);
  ASSERT_TRUE(chunk.ok());
  for (const HrSegment &segment : (*chunk)->segments) {
    EXPECT_EQ(segment.validity, nullptr);
  }
}

TEST_F(ChunkTest, WireFormInPiecesOfAnySize) {
  ChunkHandle chunk = fill(1000, 5);
  for (int64_t bytes : {4096, 10000, 200000}) {
    auto pool = BufferPool::create(*memory_->blocks, {bytes, 2, nullptr});
    ASSERT_TRUE(pool.ok());
    uint32_t row = 0;
    while (row < chunk->rows) {
      uint32_t rows = rowsThatFit(*chunk, stream_.schema, row, static_cast<uint64_t>(bytes));
      ASSERT_GT(rows, 0u);
      BufferRef body = (*pool)->tryTake();
      encodeRows(*chunk, stream_.schema, row, rows, body);
      EXPECT_EQ(static_cast<uint64_t>(body.size()),
                encodedBytes(*chunk, stream_.schema, row, rows));
      auto back = decodeRows(body, stream_.schema);
      ASSERT_TRUE(back.ok()) << back.status().toString();
      ASSERT_EQ((*back)->rows, rows);
      EXPECT_TRUE((*back)->pooled);
      expectSame(*chunk, row, **back);
      row += rows;
    }
  }
}

TEST_F(ChunkTest, ARowThatCannotFit) {
  ChunkHandle chunk = fill(10, 1);
  EXPECT_EQ(rowsThatFit(*chunk, stream_.schema, 0, 256), 0u);
}

TEST_F(ChunkTest, DamagedBodiesAreRefused) {
  ChunkHandle chunk = fill(100, 2);
  auto pool = BufferPool::create(*memory_->blocks, {65536, 4, nullptr});
  ASSERT_TRUE(pool.ok());
  BufferRef good = (*pool)->tryTake();
  encodeRows(*chunk, stream_.schema, 0, 100, good);
  unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    BufferRef bad = (*pool)->tryTake();
    ASSERT_TRUE(bad);
    auto size = static_cast<size_t>(good.size());
    std::memcpy(bad.mutableData(), good.data(), size);
    // The header and the column table: whatever they say, nothing outside the body is read.
    bad.mutableData()[random() % 72] = static_cast<std::byte>(random());
    bad.resize(static_cast<int64_t>(trial % 7 == 0 ? random() % size : size));
    bad.seal();
    (void)decodeRows(bad, stream_.schema);
  }
  BufferRef shorter = (*pool)->tryTake();
  shorter.resize(10);
  shorter.seal();
  EXPECT_EQ(decodeRows(shorter, stream_.schema).status().message(),
            "exchange message: shorter than its header");
  plan::Schema narrower = stream_.schema;
  narrower.columns.pop_back();
  EXPECT_EQ(decodeRows(good, narrower).status().message(), "exchange message: another schema");
  BufferRef beyond = (*pool)->tryTake();
  std::memcpy(beyond.mutableData(), good.data(), static_cast<size_t>(good.size()));
  std::memset(beyond.mutableData() + 12, 0x40, 8); // where the first column begins
  beyond.resize(good.size());
  beyond.seal();
  EXPECT_EQ(decodeRows(beyond, stream_.schema).status().message(),
            "exchange message: a column exceeds the body");
}

} // namespace
} // namespace headrace::exec
