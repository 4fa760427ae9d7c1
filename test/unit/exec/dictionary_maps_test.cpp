// Maps of dictionaries, as kernels ask for them: kept, charged, and made by several lanes together.
#include "runtime/exec/work/dictionary_maps.h"

#include "runtime/exec/kernel/imports.h"
#include "runtime/exec/work/worker_context.h"
#include "runtime/primitives/string/string.h"
#include "test/unit/exec/finished_state.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace headrace::exec {
namespace {

/// A lane that asks for maps of dictionaries.
struct AskingLane {
  AskingLane(const std::shared_ptr<MemoryAccount> &account, DictionaryMaps &maps)
      : context(account, &maps) {
    worker.arena = &context;
  }

  uint8_t *ask(uint32_t number, uint32_t id, uint32_t entries) {
    column.dictionaryId = id;
    column.dictionaryCount = entries;
    return (*kernelImports())->hr_dictionary_map_(&worker, number, &column, 1, &todo);
  }
  /// Likewise of texts.
  HrString *askForTexts(uint32_t number, uint32_t id, uint32_t entries) {
    column.dictionaryId = id;
    column.dictionaryCount = entries;
    return reinterpret_cast<HrString *>(
        (*kernelImports())->hr_dictionary_map_(&worker, number, &column, sizeof(HrString), &todo));
  }
  int32_t keep(uint32_t number, HrString &text) {
    return (*kernelImports())->hr_dictionary_keep_(&worker, number, &text);
  }
  /// How many entries a kernel writes until all are there.
  uint32_t make(uint32_t number, uint32_t id, uint32_t entries) {
    uint32_t made = 0;
    for (todo = {}; uint8_t *map = ask(number, id, entries);) {
      if (todo.begin == todo.end) {
        return made;
      }
      for (uint32_t entry = todo.begin; entry < todo.end; ++entry) { // as others may, too
        std::atomic_ref(map[entry]).store(static_cast<uint8_t>(id), std::memory_order_relaxed);
      }
      made += todo.end - todo.begin;
    }
    ADD_FAILURE() << context.status.message();
    return made;
  }

  WorkerContext context;
  HrWorker worker{};
  HrColumn column{};
  HrRange todo{};
};

TEST(DictionaryMaps, stay_for_the_same_one) {
  auto account = makeAccount();
  DictionaryMaps maps;
  AskingLane lane(account, maps);
  constexpr uint32_t kMany = 10 * DictionaryMap::kPiece + 1;
  EXPECT_EQ(lane.make(1, 7, 3), 3);
  EXPECT_EQ(lane.make(0, 7, 3), 3); // of another condition
  EXPECT_EQ(lane.make(1, 7, 3), 0);
  EXPECT_EQ(lane.ask(1, 7, 3)[2], 7);
  EXPECT_EQ(lane.make(1, 8, kMany), kMany); // another dictionary
  EXPECT_EQ(lane.make(1, 7, 3), 0);         // the one before is kept
  EXPECT_EQ(lane.make(1, 9, 0), 0);
  EXPECT_EQ(lane.make(1, 10, 2), 2);
  EXPECT_EQ(lane.make(1, 8, kMany), kMany); // kept no longer
  EXPECT_EQ(lane.make(1, 0, 3), 3);         // of which nobody knows whether it is another
  EXPECT_EQ(lane.make(1, 0, 3), 3);
}

TEST(DictionaryMaps, lanes_make_a_map_together) {
  auto account = makeAccount();
  DictionaryMaps maps;
  AskingLane one(account, maps), other(account, maps);
  constexpr uint32_t kPiece = DictionaryMap::kPiece;
  uint8_t *map = one.ask(0, 7, 2 * kPiece + 5);
  EXPECT_EQ(std::pair(one.todo.begin, one.todo.end), std::pair(0u, kPiece));
  EXPECT_EQ(other.ask(0, 7, 2 * kPiece + 5), map);
  EXPECT_EQ(std::pair(other.todo.begin, other.todo.end), std::pair(kPiece, 2 * kPiece));
  one.ask(0, 7, 2 * kPiece + 5);
  EXPECT_EQ(std::pair(one.todo.begin, one.todo.end), std::pair(2 * kPiece, 2 * kPiece + 5));
  // What is begun and has not ended is made again: the other lane may never end it.
  one.ask(0, 7, 2 * kPiece + 5);
  EXPECT_EQ(std::pair(one.todo.begin, one.todo.end), std::pair(kPiece, 2 * kPiece));
  one.ask(0, 7, 2 * kPiece + 5);
  EXPECT_EQ(one.todo.begin, one.todo.end);
  other.ask(0, 7, 2 * kPiece + 5);
  EXPECT_EQ(other.todo.begin, other.todo.end);
}

TEST(DictionaryMaps, are_charged) {
  constexpr int64_t kBytes = 1 << 20;
  auto account = makeAccount(kBytes);
  DictionaryMaps maps;
  AskingLane lane(account, maps);
  EXPECT_EQ(lane.ask(0, 1, 2 * kBytes), nullptr); // which is no error: rows go on without it
  EXPECT_EQ(lane.worker.error.code, HR_OK);
  EXPECT_TRUE(lane.context.status.ok());
  EXPECT_EQ(lane.make(0, 1, 8), 8); // nothing was kept for it
}

HrString textOf(const std::string &bytes) {
  return primitives::makeString(reinterpret_cast<const uint8_t *>(bytes.data()),
                                static_cast<uint32_t>(bytes.size()));
}

TEST(DictionaryMaps, keep_texts) {
  auto account = makeAccount();
  DictionaryMaps maps;
  AskingLane lane(account, maps);
  constexpr uint32_t kEntries = 3000;
  HrString *texts = lane.askForTexts(0, 1, kEntries);
  auto expected = [](uint32_t entry) {
    return std::string(entry % 100, static_cast<char>('a' + entry % 26));
  };
  while (lane.todo.begin < lane.todo.end) {
    for (uint32_t entry = lane.todo.begin; entry < lane.todo.end; ++entry) {
      const std::string bytes = expected(entry); // gone by the next
      HrString text = textOf(bytes);
      ASSERT_EQ(lane.keep(0, text), HR_OK);
      texts[entry] = text;
    }
    lane.askForTexts(0, 1, kEntries);
  }
  for (uint32_t entry = 0; entry < kEntries; ++entry) {
    ASSERT_EQ(std::string(reinterpret_cast<const char *>(texts[entry].data), texts[entry].length),
              expected(entry));
  }
}

TEST(DictionaryMaps, are_given_up) {
  auto account = makeAccount(1 << 20);
  DictionaryMaps maps;
  AskingLane one(account, maps), other(account, maps);
  ASSERT_NE(one.askForTexts(0, 1, 5), nullptr);
  ASSERT_NE(other.askForTexts(0, 1, 5), nullptr);
  const std::string bytes(2 << 20, 'x');
  HrString large = textOf(bytes);
  EXPECT_EQ(one.keep(0, large), HR_ERROR_MEMORY);
  failImport(&one.worker, HR_ERROR_OVERFLOW, makeError(ErrorKind::kData, "too large"));
  (*kernelImports())->hr_dictionary_give_up_(&one.worker, 0);
  EXPECT_EQ(one.worker.error.code, HR_OK);
  EXPECT_TRUE(one.context.status.ok());
  EXPECT_EQ(one.askForTexts(0, 1, 5), nullptr);
  EXPECT_EQ(one.todo.begin, one.todo.end);
  EXPECT_EQ(other.askForTexts(0, 1, 5), nullptr); // in the middle of it
  EXPECT_EQ(other.todo.begin, other.todo.end);
  EXPECT_EQ(one.askForTexts(0, 1, 5), nullptr); // another morsel
  EXPECT_NE(one.askForTexts(0, 2, 5), nullptr); // another dictionary
  const std::string letter = "x", nothing;
  HrString small = textOf(letter), none = textOf(nothing);
  EXPECT_EQ(one.keep(0, small), HR_OK);
  EXPECT_EQ(one.keep(0, none), HR_OK);
  EXPECT_NE(none.data, nullptr);
}

TEST(DictionaryMaps, all_threads_see_whole_maps) {
  auto account = makeAccount();
  DictionaryMaps maps;
  constexpr uint32_t kEntries = 50 * DictionaryMap::kPiece + 7, kDictionaries = 20;
  std::atomic<uint64_t> made{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      AskingLane lane(account, maps);
      for (uint32_t id = 1; id <= kDictionaries; ++id) {
        made += lane.make(0, id, kEntries);
        uint8_t *map = lane.ask(0, id, kEntries);
        EXPECT_TRUE(std::all_of(map, map + kEntries, [&](uint8_t &byte) {
          return std::atomic_ref(byte).load(std::memory_order_relaxed) == id;
        }));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_GE(made, uint64_t{kEntries} * kDictionaries);
}

} // namespace
} // namespace headrace::exec
