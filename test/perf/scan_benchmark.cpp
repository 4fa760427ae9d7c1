// The scan of lineitem: ns a row and thread, for the first scan of the process, for one whose pages
// are not kept, and for one whose pages are, decoded or not: `scan_benchmark DIR [rounds]`.
// Figures: docs/reference/scan.md.
#include "runtime/abi/type_bytes.h"
#include "runtime/primitives/decode/decode_values.h"
#include "runtime/storage/parquet/chunk_loader.h"
#include "runtime/storage/storage.h"
#include "test/perf/benchmark.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

using namespace headrace;
using namespace headrace::storage;

namespace {

constexpr const char *kTables[] = {"customer", "lineitem", "nation", "orders",
                                   "part",     "partsupp", "region", "supplier"};

/// Of this thread on a processor: what matters on a busy machine too.
double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void decode(const HrColumn &column, HrType type) {
  alignas(64) thread_local uint8_t tile[HR_TILE_ROWS * 16];
  const HrImports &imports = Decoders::get().imports;
  HrCursor cursor;
  imports.hr_cursor_open_(&cursor, &column);
  while (uint32_t run = imports.hr_cursor_run_(&cursor)) {
    if (decodeValues(imports, &cursor, std::min<uint32_t>(run, HR_TILE_ROWS), abi::bytesOf(type),
                     tile) != HR_OK) {
      fail("a column does not decode");
    }
  }
}

constexpr int kNoColumn = -2, kAllColumns = -1;

/// Loads all morsels on `threads` threads and decodes that column of them. Seconds of all threads
/// together.
double scan(Storage &storage, const plan::Slot &slot, const std::string &path, int threads,
            int decoded) {
  std::unique_ptr<MorselSource> source = take(storage.scan(slot, {path}, {}, {}));
  Budget budget({.limitBytes = int64_t{1} << 40});
  Reservation memory = take(budget.reserve({.operatorName = "scan"}));
  std::atomic<size_t> next{0};
  std::vector<double> seconds(static_cast<size_t>(threads));
  auto work = [&](int thread) {
    const double start = threadSeconds();
    for (size_t m; (m = next.fetch_add(1)) < source->morselCount();) {
      MorselHandle loaded = take(source->load(m, memory));
      for (size_t c = 0; c < slot.columns.size(); ++c) {
        if (decoded == kAllColumns || decoded == static_cast<int>(c)) {
          decode(loaded->columns[c], slot.columns[c].type);
        }
      }
    }
    seconds[static_cast<size_t>(thread)] = threadSeconds() - start;
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back(work, i);
  }
  work(0);
  double all = seconds[0];
  for (int i = 1; i < threads; ++i) {
    others[static_cast<size_t>(i - 1)].join();
    all += seconds[static_cast<size_t>(i)];
  }
  return all;
}

void measure(const char *name, const plan::Slot &slot, const std::string &path, int rounds) {
  Storage storage;
  const double perRow = 1e9 / static_cast<double>(take(storage.scan(slot, {path}, {}, {}))->rows());
  auto best = [&](int threads, int decoded, bool cached) {
    double seconds = 1e9;
    for (int i = 0; i < rounds; ++i) {
      if (!cached) {
        storage.dropCache();
      }
      seconds = std::min(seconds, scan(storage, slot, path, threads, decoded));
    }
    return seconds * perRow;
  };
  std::printf("%-10s first %6.2f   not kept %6.2f", name,
              scan(storage, slot, path, 1, kNoColumn) * perRow, best(1, kNoColumn, false));
  std::printf("   kept %6.3f   kept, decoded %5.2f, by two threads %5.2f   %.0f MB kept\n",
              best(1, kNoColumn, true), best(1, kAllColumns, true), best(2, kAllColumns, true),
              static_cast<double>(storage.counters().cacheBytes) / 1e6);
  for (size_t c = 0; c < slot.columns.size(); ++c) {
    std::printf("    %-18s %-6s %5.3f\n", slot.columns[c].file.c_str(),
                typeName(slot.columns[c].type), best(1, static_cast<int>(c), true));
  }
}

/// What a query pays before its first row.
void measureFooters(const std::string &folder) {
  std::vector<std::string> paths;
  for (const char *table : kTables) {
    paths.push_back(folder + "/" + table + ".parquet");
  }
  Storage storage;
  for (const char *when : {"first", "again"}) {
    double start = wallSeconds();
    for (const std::string &path : paths) {
      take(storage.scan({}, {path}, {}, {}));
    }
    const double opened = wallSeconds() - start;
    start = wallSeconds();
    size_t bytes = 0;
    for (const std::string &path : paths) {
      bytes += take(storage.statistics({path})).dump().size();
    }
    std::printf("8 files, %s: opened in %.2f ms, statistics in %.2f ms (%zu bytes)\n", when,
                opened * 1e3, (wallSeconds() - start) * 1e3, bytes);
  }
}

} // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    fail("usage: scan_benchmark DIR [rounds]");
  }
  const std::string folder = arguments[1], path = folder + "/lineitem.parquet";
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 5;
  std::printf("instruction set %s; ns a row and thread\n",
              primitives::isaName(Decoders::get().isa));
  measureFooters(folder);
  plan::Slot q06;
  q06.columns = {{"l_quantity", {LogicalKind::kDecimal, 15, 2}, HR_I16},
                 {"l_extendedprice", {LogicalKind::kDecimal, 15, 2}, HR_I32},
                 {"l_discount", {LogicalKind::kDecimal, 15, 2}, HR_I8},
                 {"l_shipdate", {LogicalKind::kDate}, HR_I16}};
  measure("q06", q06, path, rounds);
  plan::Slot q01 = q06;
  q01.columns.push_back({"l_tax", {LogicalKind::kDecimal, 15, 2}, HR_I8});
  q01.columns.push_back({"l_returnflag", {LogicalKind::kString}, HR_STRING});
  q01.columns.push_back({"l_linestatus", {LogicalKind::kString}, HR_STRING});
  measure("q01", q01, path, rounds);
  plan::Slot keys;
  keys.columns = {{"l_orderkey", {LogicalKind::kI64}, HR_I32},
                  {"l_partkey", {LogicalKind::kI64}, HR_I32},
                  {"l_suppkey", {LogicalKind::kI64}, HR_I16},
                  {"l_receiptdate", {LogicalKind::kDate}, HR_I16},
                  {"l_shipmode", {LogicalKind::kString}, HR_STRING},
                  {"l_comment", {LogicalKind::kString}, HR_STRING}};
  measure("others", keys, path, rounds);
}
