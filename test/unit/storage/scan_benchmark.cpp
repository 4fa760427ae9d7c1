// ns a row and core of scanning lineitem, cold and with kept pages: `scan_benchmark DIR [rounds]`.
#include "runtime/storage/parquet/chunk_loader.h"
#include "runtime/storage/storage.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using namespace headrace;
using namespace headrace::storage;

namespace {

/// Seconds of this thread on a processor: what matters on a busy machine too.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int32_t decodeTile(const HrImports &imports, uint32_t width, HrCursor *cursor, uint32_t rows, void *out) {
  switch (width) {
  case 1:
    return imports.hr_decode_8_(cursor, rows, out);
  case 2:
    return imports.hr_decode_16_(cursor, rows, out);
  case 4:
    return imports.hr_decode_32_(cursor, rows, out);
  case 8:
    return imports.hr_decode_64_(cursor, rows, out);
  default:
    return imports.hr_decode_128_(cursor, rows, out);
  }
}

/// Loads all morsels; decodes them too unless `decodeColumn` is -2; -1: all columns, else one. Seconds.
double scan(Storage &storage, const plan::Slot &slot, const std::string &path, int decodeColumn, uint64_t &rows) {
  const HrImports &imports = Decoders::get().imports;
  const double start = now();
  auto source = storage.scan(slot, {path}, {}, {});
  if (!source.ok()) {
    std::fprintf(stderr, "%s\n", source.status().toString().c_str());
    std::exit(1);
  }
  alignas(64) static uint8_t tile[HR_TILE_ROWS * 16];
  rows = (*source)->rows();
  for (size_t m = 0; m < (*source)->morselCount(); ++m) {
    auto loaded = (*source)->load(m);
    if (!loaded.ok()) {
      std::fprintf(stderr, "%s\n", loaded.status().toString().c_str());
      std::exit(1);
    }
    for (size_t c = 0; c < slot.columns.size(); ++c) {
      if (decodeColumn != -1 && decodeColumn != static_cast<int>(c)) {
        continue;
      }
      HrCursor cursor;
      imports.hr_cursor_open_(&cursor, &(*loaded)->columns[c]);
      while (uint32_t run = imports.hr_cursor_run_(&cursor)) {
        uint32_t step = run < HR_TILE_ROWS ? run : HR_TILE_ROWS;
        if (decodeTile(imports, valueBytes(slot.columns[c].type), &cursor, step, tile) != HR_OK) {
          std::fprintf(stderr, "a column does not decode\n");
          std::exit(1);
        }
      }
    }
  }
  return now() - start;
}

void measure(const char *name, const plan::Slot &slot, const std::string &path, int rounds) {
  double coldLoad = 1e9, cached = 1e9, cachedLoad = 1e9;
  uint64_t rows = 0;
  Storage storage;
  std::vector<double> columns(slot.columns.size(), 1e9);
  for (int i = 0; i < rounds; ++i) {
    storage.dropCache();
    coldLoad = std::min(coldLoad, scan(storage, slot, path, -2, rows));
    cachedLoad = std::min(cachedLoad, scan(storage, slot, path, -2, rows));
    cached = std::min(cached, scan(storage, slot, path, -1, rows));
    for (size_t c = 0; c < columns.size(); ++c) {
      columns[c] = std::min(columns[c], scan(storage, slot, path, static_cast<int>(c), rows));
    }
  }
  const double perRow = 1e9 / static_cast<double>(rows);
  std::printf("%-12s load cold %6.2f ns/row   load cached %5.3f   cached + decode %5.2f   (cache %.0f MB)\n", name,
              coldLoad * perRow, cachedLoad * perRow, cached * perRow, static_cast<double>(storage.counters().cacheBytes) / 1e6);
  for (size_t c = 0; c < columns.size(); ++c) {
    std::printf("    %-18s %-6s %5.3f ns/row\n", slot.columns[c].file.c_str(), typeName(slot.columns[c].type),
                columns[c] * perRow);
  }
}

} // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: scan_benchmark DIR [rounds]\n");
    return 2;
  }
  const std::string path = std::string(arguments[1]) + "/lineitem.parquet";
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 3;
  std::printf("instruction set %s\n", primitives::isaName(Decoders::get().isa));
  {
    Storage storage;
    double start = now();
    auto document = storage.statistics({path});
    double first = now() - start;
    start = now();
    document = storage.statistics({path});
    std::printf("statistics: first %.2f ms, again %.2f ms\n", first * 1e3, (now() - start) * 1e3);
  }
  plan::Slot q6;
  q6.columns = {{"l_quantity", "decimal<15, 2>", HR_I16},
                {"l_extendedprice", "decimal<15, 2>", HR_I32},
                {"l_discount", "decimal<15, 2>", HR_I8},
                {"l_shipdate", "date", HR_I16}};
  measure("q06", q6, path, rounds);
  plan::Slot q1 = q6;
  q1.columns.push_back({"l_tax", "decimal<15, 2>", HR_I8});
  q1.columns.push_back({"l_returnflag", "string", HR_STRING});
  q1.columns.push_back({"l_linestatus", "string", HR_STRING});
  measure("q01", q1, path, rounds);
  plan::Slot keys;
  keys.columns = {{"l_orderkey", "i64", HR_I32}, {"l_partkey", "i64", HR_I32}, {"l_suppkey", "i64", HR_I16}, {"l_comment", "string", HR_STRING}};
  measure("keys+text", keys, path, rounds);
}
