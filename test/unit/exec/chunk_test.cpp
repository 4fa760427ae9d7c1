// Sealing, copying and the wire form of chunks; rows that are larger than a body; chunks on disk.
// Sources: runtime/exec/chunk/chunk_spill.cpp
#include "runtime/exec/chunk/chunk.h"
#include "runtime/exec/chunk/chunk_codec.h"
#include "runtime/exec/chunk/chunk_spill.h"
#include "runtime/exec/chunk/row_parts.h"

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

  /// One row a length, whose text has so many bytes, each row with other ones.
  ChunkHandle fillTexts(const std::vector<size_t> &lengths, ChunkOrder order = {}) {
    OutputChunk output(stream_, account_);
    EXPECT_TRUE(output.prepare().ok());
    HrOutputColumn *columns = output.abi().columns;
    for (uint32_t i = 0; i < lengths.size(); ++i) {
      for (size_t c = 0; c < 3; ++c) {
        columns[c].validity[i] = c == 2 || i % 3 != 0;
      }
      static_cast<int32_t *>(columns[0].data)[i] = static_cast<int32_t>(i);
      static_cast<uint8_t *>(columns[1].data)[i] = i % 2;
      EXPECT_TRUE(output.growHeap(2, lengths[i]).ok());
      for (size_t k = 0; k < lengths[i]; ++k) {
        columns[2].heap[columns[2].heapUsed++] = static_cast<uint8_t>(k * 31 + k / 251 + i);
      }
      static_cast<uint32_t *>(columns[2].data)[i + 1] = columns[2].heapUsed;
      static_cast<__int128 *>(columns[3].data)[i] = static_cast<__int128>(i) << 70;
    }
    output.abi().rows = static_cast<uint32_t>(lengths.size());
    auto chunk = output.seal(std::move(order), 0);
    EXPECT_TRUE(chunk.ok());
    return *chunk;
  }

  /// The parts of a row as messages of a peer.
  std::vector<ExchangeMessage> partsOf(const Chunk &chunk, uint32_t row, BufferPool &pool,
                                       int peer = 0) {
    std::vector<ExchangeMessage> parts;
    const uint64_t whole = encodedBytes(chunk, stream_.schema, row, 1);
    for (uint64_t at = 0; at < whole;) {
      BufferRef body = pool.tryTake();
      EXPECT_TRUE(body);
      encodePart(chunk, stream_.schema, row, at, body);
      EXPECT_EQ(static_cast<uint64_t>(body.size()),
                std::min<uint64_t>(static_cast<uint64_t>(body.capacity()), whole - at));
      at += static_cast<uint64_t>(body.size());
      parts.push_back({peer, at == whole, messageTag(0, whole), std::move(body)});
    }
    return parts;
  }

  std::unique_ptr<BufferPool> bodies(int64_t bytes, int64_t count) {
    auto pool = BufferPool::create(*memory_->blocks, {bytes, count, nullptr});
    EXPECT_TRUE(pool.ok());
    return std::move(*pool);
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

TEST_F(ChunkTest, WaitsOnDiskAndComesBack) {
  ChunkSpill spill(stream_.schema, account_);
  EXPECT_FALSE(spill.isPrepared());
  auto room = spill.room();
  ASSERT_TRUE(room.ok());
  spill.prepare(*room);
  // Of the last, its rows do not fit into what is written at once.
  for (const std::vector<size_t> &lengths :
       {std::vector<size_t>{0}, {5, 0, 7}, std::vector<size_t>(40, 60'000)}) {
    ChunkHandle chunk = fillTexts(lengths, {3, 4});
    const KeptChunk kept = ChunkSpill::inMemory(chunk);
    EXPECT_GE(kept.bytes, static_cast<int64_t>(chunk->bytes()));
    EXPECT_EQ(kept.order, chunk->order);
    auto pieces = spill.write(*chunk);
    ASSERT_TRUE(pieces.ok()) << pieces.status().toString();
    EXPECT_EQ(pieces->size() > 1, lengths.size() == 40);
    uint32_t rows = 0;
    for (const KeptChunk &piece : *pieces) {
      EXPECT_EQ(piece.order, chunk->order);
      for (bool forCaller : {false, true}) {
        auto back = forCaller ? spill.readForCaller(piece.extent) : spill.read(piece.extent);
        ASSERT_TRUE(back.ok()) << back.status().toString();
        expectSame(*chunk, rows, **back);
        rows += forCaller ? (*back)->rows : 0;
      }
      spill.release(piece.extent);
    }
    EXPECT_EQ(rows, lengths.size());
  }
}

TEST_F(ChunkTest, RowsTooLargeForDiskLeaveNothingThere) {
  ChunkSpill spill(stream_.schema, account_);
  spill.prepare(*spill.room());
  ChunkHandle chunk = fillTexts({10, 600'000, 600'000, 2 << 20});
  for (int again = 0; again < 3; ++again) {
    auto pieces = spill.write(*chunk);
    ASSERT_TRUE(pieces.ok());
    EXPECT_TRUE(pieces->empty());
  }
  // The rows before the last one were written and released: each time in the same place.
  auto fits = spill.write(*fillTexts({10}));
  ASSERT_TRUE(fits.ok());
  EXPECT_LT(fits->front().extent.offset, 1'300'000u);
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

TEST_F(ChunkTest, ChunksAreAsLargeAsTheMemoryOfAllAllows) {
  constexpr int64_t kRow = 4 + 1 + 1 + 1 + 16 + 1 + 16; // of stream_, without texts
  plan::Stream stream = stream_;
  stream.chunkRows = 65536;
  auto chunkRowsWithin = [](const plan::Stream &of, size_t chunks, int64_t bytes) {
    return chunkSizeWithin(of, chunks, bytes).rows;
  };
  ASSERT_EQ(chunkRowsWithin(stream, 1, 1000 * kRow), 1000u);
  ASSERT_EQ(chunkRowsWithin(stream, 8, 8 * 1000 * kRow), 1000u);
  EXPECT_EQ(chunkRowsWithin(stream, 2, int64_t{1} << 40), 65536u);
  EXPECT_EQ(chunkRowsWithin(stream, 1000, 1000), (16 << 10) / kRow); // the least that is worth one
  stream.textBytes = 1000;
  EXPECT_EQ(chunkRowsWithin(stream, 1, 1'000'000), 1'000'000 / (1000 + kRow));
  stream.textBytes = 1'000'000;
  EXPECT_EQ(chunkRowsWithin(stream, 1000, 1000), 64u);
  stream.parts = 16;
  EXPECT_EQ(chunkRowsWithin(stream, 1000, 1000), 16u);
  stream.textBytes = 0;
  EXPECT_EQ(chunkRowsWithin(stream, 1000, 1000), (4 << 10) / kRow);
  stream.chunkRows = 10;
  EXPECT_EQ(chunkRowsWithin(stream, 1000, 1000), 10u);
}

TEST_F(ChunkTest, AChunkIsFullWhenItsTextsAreLarge) {
  constexpr int64_t kBytesMax = 256 << 10;
  constexpr uint32_t kText = 300;
  OutputChunk output(stream_, account_, {1000, kBytesMax});
  for (int chunk = 0; chunk < 2; ++chunk) {
    const int64_t before = account_->reservation().chargedBytes();
    ASSERT_TRUE(output.prepare().ok());
    HrOutputColumn *columns = output.abi().columns;
    uint32_t rows = 0;
    while (!output.isFull()) {
      ASSERT_LT(rows, 1000u);
      ASSERT_TRUE(output.growHeap(2, kText).ok());
      columns[2].heapUsed += kText;
      static_cast<uint32_t *>(columns[2].data)[++rows] = columns[2].heapUsed;
    }
    EXPECT_GE(rows * kText, kBytesMax / 2);
    // With the rows that were at hand when it was.
    EXPECT_LE(account_->reservation().chargedBytes() - before, kBytesMax + kBytesMax / 4);
    output.abi().rows = rows;
    Expected<ChunkHandle> sealed = output.seal({}, 0);
    ASSERT_TRUE(sealed.ok());
    EXPECT_EQ((*sealed)->heapBytes[2], rows * kText);
  }
}

TEST_F(ChunkTest, HeapsBeginAsLargeAsTheLastOne) {
  OutputChunk output(stream_, account_);
  std::vector<uint32_t> first;
  for (int chunk = 0; chunk < 2; ++chunk) {
    ASSERT_TRUE(output.prepare().ok());
    HrOutputColumn *columns = output.abi().columns;
    for (uint32_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(output.growHeap(2, 300).ok());
      columns[2].heapUsed += 300;
      static_cast<uint32_t *>(columns[2].data)[i + 1] = columns[2].heapUsed;
      first.push_back(i == 0 ? columns[2].heapCapacity : 0);
    }
    output.abi().rows = 1000;
    ASSERT_TRUE(output.seal({}, 0).ok());
  }
  EXPECT_LT(first[0], 300'000u);
  EXPECT_GE(first[1000], 300'000u);
  EXPECT_LE(first[1000], 300'000u * 4 / 3);
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

TEST_F(ChunkTest, RowsLargerThanABodyGoInParts) {
  constexpr int64_t kBody = 4096;
  std::vector<size_t> lengths;
  for (double bodies : {0.0, 0.5, 1.0, 3.5, 20.0}) {
    for (size_t more : {0, 1, 63, 64}) {
      lengths.push_back(static_cast<size_t>(bodies * kBody) + more);
    }
  }
  for (const ChunkOrder &order : {ChunkOrder{}, ChunkOrder{7, 9}}) {
    ChunkHandle chunk = fillTexts(lengths, order);
    auto pool = bodies(kBody, 32);
    RowParts parts(account_, 1);
    for (uint32_t row = 0; row < chunk->rows; ++row) {
      std::vector<ExchangeMessage> sent = partsOf(*chunk, row, *pool);
      EXPECT_EQ(sent.size() == 1, rowsThatFit(*chunk, stream_.schema, row, kBody) >= 1) << row;
      std::shared_ptr<const WholeRow> whole;
      for (const ExchangeMessage &part : sent) {
        ASSERT_EQ(whole, nullptr);
        auto added = parts.add(part);
        ASSERT_TRUE(added.ok()) << added.status().toString();
        whole = *added;
      }
      ASSERT_NE(whole, nullptr);
      auto back = decodeRows(whole->body(), stream_.schema);
      ASSERT_TRUE(back.ok()) << back.status().toString();
      ASSERT_EQ((*back)->rows, 1u);
      EXPECT_FALSE((*back)->pooled);
      expectSame(*chunk, row, **back);
      EXPECT_EQ((*back)->order, order.empty() ? ChunkOrder{} : (ChunkOrder{7, 9, row}));
    }
  }
}

TEST_F(ChunkTest, ARowOfManyColumnsWhoseHeaderIsLargerThanABody) {
  constexpr size_t kColumns = 700;
  plan::Stream wide;
  wide.name = "wide";
  wide.chunkRows = 4;
  for (size_t c = 0; c < kColumns; ++c) {
    wide.schema.columns.push_back(
        {"t" + std::to_string(c), HR_STRING, {LogicalKind::kString}, false});
  }
  OutputChunk output(wide, account_);
  ASSERT_TRUE(output.prepare().ok());
  for (size_t c = 0; c < kColumns; ++c) {
    ASSERT_TRUE(output.growHeap(static_cast<uint32_t>(c), c * 3).ok());
    HrOutputColumn &column = output.abi().columns[c];
    std::fill_n(column.heap, c * 3, static_cast<char>('a' + c % 26));
    column.heapUsed = static_cast<uint32_t>(c * 3);
    static_cast<uint32_t *>(column.data)[1] = column.heapUsed;
  }
  output.abi().rows = 1;
  ChunkHandle chunk = *output.seal({}, 0);
  auto pool = bodies(4096, 1);
  RowParts parts(account_, 1);
  const uint64_t bytes = encodedBytes(*chunk, wide.schema, 0, 1);
  std::shared_ptr<const WholeRow> whole;
  for (uint64_t at = 0; at < bytes;) {
    ExchangeMessage part{0, 0, messageTag(0, bytes), pool->tryTake()};
    encodePart(*chunk, wide.schema, 0, at, part.body);
    at += static_cast<uint64_t>(part.body.size());
    whole = *parts.add(part);
  }
  ASSERT_NE(whole, nullptr);
  auto back = decodeRows(whole->body(), wide.schema);
  ASSERT_TRUE(back.ok()) << back.status().toString();
  for (size_t c = 0; c < kColumns; ++c) {
    const HrSegment &segment = (*back)->segments[c];
    ASSERT_EQ(
        std::string(segment.heap, segment.heap + static_cast<const uint32_t *>(segment.data)[1]),
        std::string(c * 3, static_cast<char>('a' + c % 26)));
  }
}

TEST_F(ChunkTest, PartsOfSeveralPeersCrossAndGiveTheirMemoryBack) {
  auto memory = std::make_shared<RankMemory>(memory_->blocks,
                                             Budget::Options{Tier::kHost, 1 << 20, "--memory"});
  auto account = *MemoryAccount::open(memory, {.operatorName = "rows"});
  ChunkHandle chunk = fillTexts({100'000, 200'000, 2'000'000});
  auto pool = bodies(65536, 40);
  {
    RowParts parts(account, 3);
    for (int round = 0; round < 8; ++round) { // more than the limit, one after the other
      std::vector<ExchangeMessage> first = partsOf(*chunk, 0, *pool, 0);
      std::vector<ExchangeMessage> second = partsOf(*chunk, 1, *pool, 2);
      std::shared_ptr<const WholeRow> whole[2];
      for (size_t k = 0; k < second.size(); ++k) {
        if (k < first.size()) {
          whole[0] = *parts.add(first[k]);
        }
        whole[1] = *parts.add(second[k]);
        EXPECT_EQ(*parts.add({1, 5, messageTag(0, 0), BufferRef()}), nullptr); // no part
      }
      for (uint32_t row = 0; row < 2; ++row) {
        ASSERT_NE(whole[row], nullptr);
        expectSame(*chunk, row, **decodeRows(whole[row]->body(), stream_.schema));
      }
    }
    EXPECT_EQ(memory->budget.reservedBytes(), 0);
    auto tooMuch = parts.add(partsOf(*chunk, 2, *pool)[0]);
    EXPECT_EQ(tooMuch.status().kind(), ErrorKind::kMemory);
    EXPECT_NE(tooMuch.status().message().find("out of host memory: rows asked for"),
              std::string::npos)
        << tooMuch.status().message();
    EXPECT_EQ(*parts.add(partsOf(*chunk, 0, *pool)[0]), nullptr); // dropped with what is begun
  }
  EXPECT_EQ(memory->budget.reservedBytes(), 0);
}

TEST_F(ChunkTest, PartsOutOfTheirOrderAreRefused) {
  ChunkHandle chunk = fillTexts({10'000, 20'000});
  auto pool = bodies(4096, 16);
  std::vector<ExchangeMessage> one = partsOf(*chunk, 0, *pool), other = partsOf(*chunk, 1, *pool);
  auto begun = [&] {
    RowParts parts(account_, 1);
    EXPECT_EQ(*parts.add(one[0]), nullptr);
    return parts;
  };
  const uint64_t bytes = rowBytesOf(one[0].tag);
  const std::string prefix = "exchange message: not the next part of a row of " +
                             std::to_string(bytes) + " bytes, of which 4096 are there; got: ";
  RowParts parts = begun();
  EXPECT_EQ(parts.add(other[0]).status().message(),
            prefix + "4096 of " + std::to_string(rowBytesOf(other[0].tag)));
  EXPECT_EQ(begun().add({0, 1, messageTag(0, bytes), BufferRef()}).status().message(),
            prefix + "0 of " + std::to_string(bytes));
  EXPECT_EQ(begun().add({0, 1, messageTag(0, 0), one[1].body}).status().message(),
            prefix + "4096 of 0");
  RowParts more = begun();
  for (size_t k = 1; k + 1 < one.size(); ++k) {
    EXPECT_EQ(*more.add(one[k]), nullptr);
  }
  EXPECT_EQ(more.add(one[0]).status().kind(), ErrorKind::kCorrupt); // beyond its end
  EXPECT_EQ(RowParts(account_, 1)
                .add({0, 1, messageTag(0, kRowBytesMax + 1), one[0].body})
                .status()
                .kind(),
            ErrorKind::kCorrupt);
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
  // The words of the order, and the last offset of the text: what they count is not there.
  auto messageOf = [&](size_t place, uint32_t value) {
    std::vector<uint8_t> bytes(reinterpret_cast<const uint8_t *>(good.data()),
                               reinterpret_cast<const uint8_t *>(good.data()) + good.size());
    std::memcpy(bytes.data() + place, &value, sizeof value);
    return decodeRows(bytes, stream_.schema).status().message();
  };
  EXPECT_EQ(messageOf(8, 1 << 30), "exchange message: shorter than its order");
  uint32_t texts = 0; // where the third column has its offsets
  std::memcpy(&texts, good.data() + 12 + 2 * 16, sizeof texts);
  EXPECT_EQ(messageOf(texts + 4, 1 << 30), "exchange message: string offsets");
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
