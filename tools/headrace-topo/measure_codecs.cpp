// Compresses and decompresses blocks of made-up columns: through Arrow, and Snappy back through our
// own.
#include "tools/headrace-topo/measure_codecs.h"

#include "runtime/storage/parquet/codec.h"
#include "tools/headrace-topo/on_threads.h"
#include "tools/headrace-topo/repeated.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <string_view>

namespace headrace::topo {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

constexpr double kSecondsEach = 0.08; // of one run
constexpr size_t kBlockRows = 32768;

template <typename T> void appendValue(Bytes &bytes, const T &value) {
  size_t end = bytes.size();
  bytes.resize(end + sizeof(T));
  std::memcpy(bytes.data() + end, &value, sizeof(T));
}

/// About a megabyte, column by column, as an exchange sends it.
Bytes columns() {
  constexpr std::array<std::string_view, 8> kWords = {"carefully ", "express ",  "deposits ",
                                                      "final ",     "requests ", "sleep ",
                                                      "quickly ",   "ironic "};
  std::mt19937_64 random(1);
  Bytes bytes;
  int64_t key = 1;
  for (size_t row = 0; row < kBlockRows; ++row) {
    key += static_cast<int64_t>(random() % 4 == 0);
    appendValue<int64_t>(bytes, key);
  }
  for (size_t row = 0; row < kBlockRows; ++row) {
    appendValue<int64_t>(bytes,
                         static_cast<int64_t>(90000 + random() % 10000000)); // a price in cents
  }
  for (size_t row = 0; row < kBlockRows; ++row) {
    appendValue<int32_t>(bytes, static_cast<int32_t>(1 + random() % 50));
  }
  for (size_t row = 0; row < kBlockRows; ++row) {
    appendValue<int32_t>(bytes,
                         static_cast<int32_t>(8036 + random() % 2526)); // a day of seven years
  }
  for (size_t row = 0; row < kBlockRows; ++row) {
    for (size_t word = 0; word < 1 + row % 3; ++word) {
      std::string_view text = kWords[random() % kWords.size()];
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
  }
  return bytes;
}

/// Calls per second of `work`, which says whether it could.
template <typename Work> double callsPerSecond(const Work &work) {
  Clock::time_point start = Clock::now();
  double calls = 0;
  double spent = 0;
  do {
    if (!work()) {
      return 0;
    }
    ++calls;
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  } while (spent < kSecondsEach);
  return calls / spent;
}

double decompressRate(int codec, const Bytes &compressed, size_t plainBytes) {
  Bytes plain(plainBytes);
  return callsPerSecond([&] {
    return storage::decompressBlock(codec, compressed.data(), compressed.size(), plain.data(),
                                    plainBytes)
        .ok();
  });
}

} // namespace

std::vector<CodecRates> measureCodecs(int64_t threads) {
  constexpr std::array<std::pair<const char *, int>, 3> kCodecs = {
      {{"lz4", storage::kCodecLz4},
       {"snappy", storage::kCodecSnappy},
       {"zstd", storage::kCodecZstd}}};
  const Bytes plain = columns();
  double bytes = static_cast<double>(plain.size());
  std::vector<CodecRates> measured;
  for (const auto &[name, number] : kCodecs) {
    Expected<Bytes> compressed = storage::compressWithArrow(number, plain);
    if (!compressed.ok() || compressed->empty()) {
      continue; // an Arrow without it
    }
    int codec = number;
    CodecRates rates;
    rates.name = name;
    rates.ratio = std::max(1.0, bytes / static_cast<double>(compressed->size()));
    rates.compressBytesPerSecond = repeated([&] {
      return bytes * onThreads(threads, [&](int64_t) {
               return callsPerSecond([&] { return storage::compressWithArrow(codec, plain).ok(); });
             });
    });
    rates.decompressBytesPerSecond = repeated([&] {
      return bytes * onThreads(threads, [&](int64_t) {
               return decompressRate(codec, *compressed, plain.size());
             });
    });
    if (rates.compressBytesPerSecond > 0 && rates.decompressBytesPerSecond > 0) {
      measured.push_back(std::move(rates));
    }
  }
  return measured;
}

} // namespace headrace::topo
