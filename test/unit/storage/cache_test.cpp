// The cache of pages: hits, its bound, and many workers at once.
#include "runtime/storage/columns/page_cache.h"

#include "test/unit/storage/tables.h"

#include <thread>

namespace headrace::storage::testing {
namespace {

std::shared_ptr<const EncodedChunk> chunkOf(uint64_t bytes) {
  auto chunk = std::make_shared<EncodedChunk>();
  chunk->bytes = bytes;
  return chunk;
}

/// Offered twice: only then is it kept.
std::shared_ptr<const EncodedChunk> keep(PageCache &cache, const ChunkKey &key,
                                         std::shared_ptr<const EncodedChunk> chunk) {
  cache.insert(key, chunk);
  return cache.insert(key, std::move(chunk));
}

TEST(PageCache, KeepsWhatIsOfferedForTheSecondTime) {
  PageCache cache(100'000);
  for (uint32_t i = 0; i < 10; ++i) {
    cache.insert({1, i, 0, HR_I64}, chunkOf(2000));
    EXPECT_EQ(cache.find({1, i, 0, HR_I64}), nullptr);
  }
  EXPECT_EQ(cache.counters().bytes, 0u);
  cache.insert({1, 3, 0, HR_I64}, chunkOf(2000));
  EXPECT_NE(cache.find({1, 3, 0, HR_I64}), nullptr);
  EXPECT_EQ(cache.find({1, 3, 0, HR_I32}), nullptr);    // another type is another chunk
  EXPECT_EQ(cache.find({1, 3, 0, HR_I64, 0}), nullptr); // a part is not the whole
}

TEST(PageCache, KeysDoNotDriveEachOtherOutForEver) {
  PageCache cache(uint64_t{1} << 30);
  constexpr uint32_t kChunks = 8000; // scanned in a circle, as tables are
  auto scan = [&] {
    uint32_t found = 0;
    for (uint32_t i = 0; i < kChunks; ++i) {
      const ChunkKey key{1, i / 16, i % 16, HR_I64};
      const bool isThere = cache.find(key) != nullptr;
      found += isThere ? 1 : 0;
      if (!isThere) {
        cache.insert(key, chunkOf(100));
      }
    }
    return found;
  };
  EXPECT_EQ(scan() + scan(), 0u);
  EXPECT_GT(scan(), kChunks * 999 / 1000);
  for (int more = 0; more < 5; ++more) {
    scan();
  }
  EXPECT_EQ(scan(), kChunks);
}

TEST(PageCache, LeastRecentlyUsedGoesFirst) {
  PageCache cache(4 * 2000);
  for (uint32_t i = 0; i < 3; ++i) {
    keep(cache, {1, i, 0, HR_I64}, chunkOf(2000)); // with its overhead three fit
  }
  EXPECT_NE(cache.find({1, 0, 0, HR_I64}), nullptr);
  keep(cache, {1, 3, 0, HR_I64}, chunkOf(2000));
  EXPECT_EQ(cache.find({1, 1, 0, HR_I64}), nullptr);
  EXPECT_NE(cache.find({1, 0, 0, HR_I64}), nullptr);
  EXPECT_NE(cache.find({1, 3, 0, HR_I64}), nullptr);
  EXPECT_LE(cache.counters().bytes, 8000u);
  auto tooLarge = chunkOf(100000);
  EXPECT_EQ(keep(cache, {1, 9, 0, HR_I64}, tooLarge), tooLarge);
  EXPECT_EQ(cache.find({1, 9, 0, HR_I64}), nullptr);
  EXPECT_NE(cache.find({1, 0, 0, HR_I64}), nullptr);
}

TEST(PageCache, AScanOfMoreThanFitsDoesNotPushOutItsOwnBeginning) {
  constexpr uint32_t kChunks = 100, kFitting = 40;
  PageCache cache(kFitting * 2600);
  auto scan = [&](uint32_t file) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < kChunks; ++i) {
      const ChunkKey key{file, i, 0, HR_I64};
      const bool isThere = cache.find(key) != nullptr;
      found += isThere ? 1 : 0;
      if (!isThere) {
        cache.insert(key, chunkOf(2000));
      }
    }
    return found;
  };
  scan(1);
  scan(1);
  EXPECT_GE(scan(1), kFitting - 1);
  EXPECT_GE(scan(1), kFitting - 1);
  // What is not asked for any more makes room.
  scan(2);
  scan(2);
  EXPECT_GE(scan(2), kFitting - 1);
}

TEST(PageCache, HasWhatIsFreeOfItsTierAndGivesWay) {
  PageCache cache(1'000'000);
  for (uint32_t i = 0; i < 10; ++i) {
    keep(cache, {1, i, 0, HR_I64}, chunkOf(2000));
  }
  auto tier = std::make_shared<MemoryTier>(16'000);
  cache.use(tier);
  EXPECT_EQ(tier->usedBytes(), static_cast<int64_t>(cache.counters().bytes));
  EXPECT_LE(tier->usedBytes(), 16'000);
  EXPECT_EQ(cache.find({1, 3, 0, HR_I64}), nullptr); // the oldest went
  EXPECT_NE(cache.find({1, 9, 0, HR_I64}), nullptr);

  ASSERT_TRUE(tier->take(14'000)); // what is needed comes first
  EXPECT_EQ(cache.counters().bytes, 0u);
  EXPECT_EQ(tier->usedBytes(), 14'000);
  auto chunk = chunkOf(2000);
  EXPECT_EQ(keep(cache, {1, 0, 0, HR_I64}, chunk), chunk); // no room: not kept
  EXPECT_EQ(cache.counters().bytes, 0u);
  EXPECT_FALSE(tier->take(2001));

  tier->giveBack(14'000);
  for (int run = 0; run < 3; ++run) {
    tier->endRun(); // the 14'000 are forgotten
  }
  keep(cache, {1, 0, 0, HR_I64}, chunk);
  EXPECT_GT(tier->usedBytes(), 2000);
  cache.use(nullptr);
  EXPECT_EQ(tier->usedBytes(), 0);
  EXPECT_NE(cache.find({1, 0, 0, HR_I64}), nullptr);
}

TEST(PageCache, LeavesRoomForWhatTheLastRunsNeeded) {
  PageCache cache(1'000'000);
  auto tier = std::make_shared<MemoryTier>(32'000);
  cache.use(tier);
  auto offerAll = [&] {
    for (uint32_t i = 0; i < 20; ++i) {
      keep(cache, {1, i, 0, HR_I64}, chunkOf(2000));
    }
  };
  ASSERT_TRUE(tier->take(20'000));
  tier->giveBack(20'000);
  tier->endRun();
  offerAll();
  EXPECT_GT(cache.counters().bytes, 5'000u);
  EXPECT_LE(cache.counters().bytes, 10'000u);
  const uint64_t before = cache.counters().bytes;
  ASSERT_TRUE(tier->take(20'000)); // nothing gives way for it
  EXPECT_EQ(cache.counters().bytes, before);
  tier->giveBack(20'000);
  for (int run = 0; run < 2; ++run) {
    tier->endRun(); // of runs that need less
  }
  tier->endRun();
  offerAll();
  EXPECT_GT(cache.counters().bytes, 25'000u);
  cache.use(nullptr);
}

TEST(PageCache, TheFirstOfTwoStays) {
  PageCache cache(100000);
  auto first = chunkOf(10), second = chunkOf(10);
  EXPECT_EQ(keep(cache, {1, 0, 0, HR_I64}, first), first);
  EXPECT_EQ(cache.insert({1, 0, 0, HR_I64}, second), first);
}

TEST(StorageCache, ThirdScanReadsNothingAndPinsSurviveDropping) {
  std::mt19937_64 random(seed());
  TestTable test = makeTable({}, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  writeTable(*test.table, path, 1000);
  Storage storage;
  auto read = [&] {
    auto source = storage.scan(test.slot, {path}, {}, {});
    EXPECT_TRUE(source.ok());
    auto rows = readAll(**source, test.slot);
    EXPECT_TRUE(rows.ok());
    expectSame(*rows, test.text, test.slot);
  };
  read();
  StorageCounters first = storage.counters();
  EXPECT_EQ(first.cacheHits, 0u);
  EXPECT_EQ(first.cacheMisses, 5 * test.slot.columns.size());
  EXPECT_EQ(first.cacheBytes, 0u); // what is read once is not kept
  read();
  StorageCounters second = storage.counters();
  EXPECT_EQ(second.fileBytesRead, 2 * first.fileBytesRead);
  EXPECT_GT(second.cacheBytes, 0u);
  read();
  StorageCounters third = storage.counters();
  EXPECT_EQ(third.fileBytesRead, second.fileBytesRead);
  EXPECT_EQ(third.cacheHits, first.cacheMisses);

  auto source = storage.scan(test.slot, {path}, {}, {});
  ASSERT_TRUE(source.ok());
  auto pinned = (*source)->load(0, unlimitedMemory());
  ASSERT_TRUE(pinned.ok());
  storage.dropCache();
  std::filesystem::remove(path);
  EXPECT_EQ(storage.counters().cacheBytes, 0u);
  std::vector<std::string> text;
  ASSERT_TRUE(decodeColumn((*pinned)->morsel, 2, test.slot.columns[2].type, text));
  EXPECT_TRUE(std::equal(text.begin(), text.end(), test.text[2].begin()));
}

TEST(StorageCache, ManyWorkersWithLittleRoom) {
  std::mt19937_64 random(seed());
  TableOptions options;
  options.nullPercent = 10;
  TestTable test = makeTable(options, random);
  TemporaryFolder folder;
  const std::string path = folder.file("t.parquet");
  writeTable(*test.table, path, 500);
  Storage storage(StorageOptions{60'000}); // some of the chunks fit
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        auto source = storage.scan(test.slot, {path}, {}, {});
        ASSERT_TRUE(source.ok());
        auto rows = readAll(**source, test.slot);
        ASSERT_TRUE(rows.ok());
        EXPECT_EQ(*rows, test.text);
      }
    });
  }
  for (std::thread &worker : workers) {
    worker.join();
  }
  EXPECT_LE(storage.counters().cacheBytes, 60'000u);
}

} // namespace
} // namespace headrace::storage::testing
