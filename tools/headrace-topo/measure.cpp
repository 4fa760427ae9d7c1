// Memory and threads: copies, gathers, chains of loads, hand-overs; then what other files measure.
#include "tools/headrace-topo/measure.h"
#include "tools/headrace-topo/measure_arithmetic.h"
#include "tools/headrace-topo/measure_codecs.h"
#include "tools/headrace-topo/measure_disk.h"
#include "tools/headrace-topo/measure_gpus.h"
#include "tools/headrace-topo/on_threads.h"
#include "tools/headrace-topo/repeated.h"
#include "tools/headrace-topo/units.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

namespace headrace::topo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSecondsEach = 0.07; // of one run
constexpr size_t kLineBytes = 64;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Bytes copied per second by each of `threads`, added up.
double copyRate(int64_t threads, size_t bytes) {
  return onThreads(threads, [&](int64_t) {
    std::vector<char> source(bytes, 1);
    std::vector<char> target(bytes, 2);
    double copied = 0;
    Clock::time_point start = Clock::now();
    do {
      std::memcpy(target.data(), source.data(), bytes);
      source[0] = target[bytes - 1]; // the next copy depends on this one
      copied += static_cast<double>(bytes);
    } while (secondsSince(start) < kSecondsEach);
    return copied / secondsSince(start);
  });
}

/// Cache lines read per second at random places of a working set that all threads share.
double gatherRate(int64_t threads, const std::vector<uint64_t> &data) {
  return onThreads(threads, [&](int64_t thread) {
    uint64_t state = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(thread + 1);
    const uint64_t lines = data.size() * sizeof(uint64_t) / kLineBytes;
    uint64_t sum = 0;
    double read = 0;
    Clock::time_point start = Clock::now();
    do {
      for (int i = 0; i < 4096; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t line =
            static_cast<uint64_t>((static_cast<unsigned __int128>(state) * lines) >> 64);
        sum += data[line * (kLineBytes / sizeof(uint64_t))];
      }
      read += 4096;
    } while (secondsSince(start) < kSecondsEach);
    volatile uint64_t keep = sum;
    (void)keep;
    return read / secondsSince(start);
  });
}

/// Every line names the next, in random order.
void makeChain(std::vector<uint64_t> &data) {
  constexpr size_t kStride = kLineBytes / sizeof(uint64_t);
  size_t lines = data.size() / kStride;
  // One cycle through all lines in random order (Sattolo's shuffle).
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(1);
  for (size_t i = lines - 1; i > 0; --i) {
    std::swap(order[i], order[random() % i]);
  }
  for (size_t i = 0; i < lines; ++i) {
    data[i * kStride] = order[i] * kStride;
  }
}

/// Seconds of one load whose address is the result of the one before.
double chainSeconds(const std::vector<uint64_t> &data) {
  uint64_t at = 0;
  double loads = 0;
  Clock::time_point start = Clock::now();
  do {
    for (int i = 0; i < 4096; ++i) {
      at = data[at];
    }
    loads += 4096;
  } while (secondsSince(start) < kSecondsEach);
  volatile uint64_t keep = at;
  (void)keep;
  return secondsSince(start) / loads;
}

/// Half of the time for a sleeping thread to wake, answer and wake the first.
double handOverSeconds() {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t turn = 0;
  bool done = false;
  std::thread other([&] {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return done || turn % 2 == 1; });
      if (done) {
        return;
      }
      ++turn;
      changed.notify_all();
    }
  });
  Clock::time_point start = Clock::now();
  {
    std::unique_lock<std::mutex> lock(mutex);
    do {
      ++turn;
      changed.notify_all();
      changed.wait(lock, [&] { return turn % 2 == 0; });
    } while (secondsSince(start) < kSecondsEach);
    done = true;
    changed.notify_all();
  }
  other.join();
  return secondsSince(start) / static_cast<double>(turn);
}

/// "±7 %", and a question where the runs disagree much.
std::string spreadText(const Measured &measured) {
  return " " + percentText(measured.relativeError) +
         (measured.relativeError > kSpreadMuch ? ": runs disagree, is the machine busy?" : "");
}

void measureMemory(const MeasureOptions &options, const Progress &progress, Rates &rates) {
  double threads = static_cast<double>(options.threads);
  double budget = options.memoryBytes > 0 ? options.memoryBytes / 8 : 256e6;
  double beyond = std::clamp(4 * options.cacheBytes, 64e6, std::min(512e6, std::max(budget, 64e6)));
  size_t each = static_cast<size_t>(beyond / threads / 2);
  progress("memory, all cores");
  // A copy reads and writes every byte.
  rates.streamBytesPerSecond = repeated([&] { return 2 * copyRate(options.threads, each); });
  progress("  " + rateText(rates.streamBytesPerSecond) + spreadText(rates.streamBytesPerSecond));
  progress("memory, one core copying");
  rates.coreCopyBytesPerSecond = repeated([&] { return copyRate(1, each); });
  progress("  " + rateText(rates.coreCopyBytesPerSecond) +
           spreadText(rates.coreCopyBytesPerSecond));
  progress("random reads");
  std::vector<uint64_t> data;
  for (double bytes : {256e3, 4e6, 64e6, 256e6}) {
    if (bytes > std::max(budget, 1e6)) {
      break;
    }
    data.assign(static_cast<size_t>(bytes) / sizeof(uint64_t), 1);
    Measured rate = repeated([&] { return gatherRate(options.threads, data) * kLineBytes; });
    rates.randomAccess[bytes] = rate;
    progress("  " + bytesText(bytes) + ": " + rateText(rate) + spreadText(rate));
  }
  progress("latency of memory");
  makeChain(data);
  rates.memoryLatencySeconds = repeated([&] { return chainSeconds(data); });
  progress("  " + secondsText(rates.memoryLatencySeconds) + spreadText(rates.memoryLatencySeconds));
}

void measureGpusInto(Rates &rates, const Progress &progress) {
  progress("copies of GPUs");
  Expected<GpuRates> gpus = measureGpus();
  if (!gpus.ok()) {
    progress("  skipped: " + gpus.status().message());
    return;
  }
  rates.gpu = *gpus;
  progress("  memory " + rateText(gpus->memoryBytesPerSecond) + ", to the host " +
           rateText(gpus->toHostBytesPerSecond) + ", from it " +
           rateText(gpus->fromHostBytesPerSecond));
  progress(gpus->peerBytesPerSecond > 0 ? "  to another GPU " + rateText(gpus->peerBytesPerSecond) +
                                              ", " + secondsText(gpus->peerLatencySeconds)
                                        : std::string("  to another GPU: not directly"));
}

} // namespace

Rates measureRates(const MeasureOptions &options, const Progress &progress) {
  Rates rates;
  measureMemory(options, progress, rates);
  progress("hand-over between threads");
  rates.handOverSeconds = repeated(handOverSeconds);
  rates.taskLaunchSeconds = rates.handOverSeconds;
  progress("  " + secondsText(rates.handOverSeconds) + spreadText(rates.handOverSeconds));
  progress("arithmetic of one core");
  rates.coreCompute = measureArithmetic(kSecondsEach);
  for (const auto &[kind, rate] : rates.coreCompute) {
    progress("  " + kind + ": " + countText(rate) + "op/s" + spreadText(rate));
  }
  progress("codecs, all cores");
  rates.codecs = measureCodecs(options.threads);
  for (const CodecRates &codec : rates.codecs) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f", codec.ratio);
    progress("  " + codec.name + ": ratio " + ratio + ", " +
             rateText(codec.compressBytesPerSecond) + spreadText(codec.compressBytesPerSecond) +
             " and back " + rateText(codec.decompressBytesPerSecond) +
             spreadText(codec.decompressBytesPerSecond));
  }
  if (options.gpus > 0) {
    measureGpusInto(rates, progress);
  }
  progress("disk, in " + options.diskFolder);
  Expected<DiskRates> disk = measureDisk(options.diskFolder);
  if (!disk.ok()) {
    progress("  skipped: " + disk.status().message());
    return rates;
  }
  rates.diskReadBytesPerSecond = disk->readBytesPerSecond;
  rates.diskWriteBytesPerSecond = disk->writeBytesPerSecond;
  rates.diskLatencySeconds = disk->latencySeconds;
  progress("  read " + rateText(disk->readBytesPerSecond) + ", write " +
           rateText(disk->writeBytesPerSecond) + ", " + secondsText(disk->latencySeconds));
  return rates;
}

} // namespace headrace::topo
