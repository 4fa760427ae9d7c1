// Streams of codes decoded by a device, for random runs of both kinds and all widths.
// Sources: runtime/device/decode/decode_kernels.cpp
#include "runtime/abi/device_kernel.h"
#include "runtime/device/decode/code_runs.h"
#include "test/unit/device/device_fixture.h"
#include "test/unit/primitives/hybrid_stream.h"

#include <cstring>

namespace headrace {
namespace {

using decode::CodeRun;
using decode::CodeRuns;
using decode::DecodeCodesParameters;
using decode::splitCodeRuns;
using primitives::testing::HybridStream;
using primitives::testing::makeHybrid;

class DecodeTest : public DeviceTest {
protected:
  DeviceMemory putBytes(const void *data, size_t bytes) {
    // With the padding that a reader may touch.
    DeviceMemory memory = allocate(Tier::kDevice, static_cast<int64_t>(bytes) + 64);
    Expected<Event> done = device_->copy(Place::of(data), memory.at(), bytes, {&memory.ready(), 1});
    EXPECT_OK(done.status());
    EXPECT_OK(device_->wait(*done));
    return memory;
  }

  std::vector<uint32_t> decoded(const HybridStream &stream, uint32_t width, uint32_t blocks,
                                uint32_t threads) {
    auto rows = static_cast<uint32_t>(stream.codes.size());
    Expected<CodeRuns> found = splitCodeRuns(stream.bytes, width, 0, rows);
    EXPECT_OK(found.status());
    return decodedRuns(*found, stream.bytes, rows, width, blocks, threads);
  }

  std::vector<uint32_t> decodedRuns(const CodeRuns &found, const std::vector<uint8_t> &stream,
                                    uint32_t rows, uint32_t width, uint32_t blocks,
                                    uint32_t threads) {
    const std::vector<CodeRun> &runs = found.runs;
    const std::span<const uint8_t> needed = found.needed(stream); // what lies outside is not
    DeviceMemory runMemory = putBytes(runs.data(), runs.size() * sizeof(CodeRun));
    DeviceMemory bytes = putBytes(needed.data(), needed.size());
    DeviceMemory codes = allocate(Tier::kDevice, rows * 4);
    DecodeCodesParameters parameters = {reinterpret_cast<const CodeRun *>(runMemory.at().address),
                                        runs.size(),
                                        reinterpret_cast<const uint32_t *>(bytes.at().address),
                                        reinterpret_cast<uint32_t *>(codes.at().address),
                                        rows,
                                        width,
                                        0};
    DeviceMemory block = putBytes(&parameters, sizeof parameters);
    HrArgs args = {};
    args.literals = reinterpret_cast<const void *>(block.at().address);
    DeviceMemory argsMemory = putBytes(&args, sizeof args);
    uint64_t arguments[] = {argsMemory.at().address, argsMemory.at().address};
    Expected<Event> done = device_->launch(KernelLaunch{kernel_, blocks, threads, arguments});
    EXPECT_OK(done.status());
    std::vector<uint32_t> out(rows);
    Expected<Event> read = device_->copy(codes.at(), Place::of(out.data()), rows * 4, {&*done, 1});
    EXPECT_OK(read.status());
    return out;
  }

  /// Values through the kernels that put them to their rows, as 64 bits again.
  std::vector<int64_t> spread(const std::vector<int64_t> &values,
                              const std::vector<uint32_t> &levels, bool isNullable, uint32_t from,
                              uint32_t to) {
    std::vector<uint8_t> packed(values.size() * from);
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(packed.data() + i * from, &values[i], from);
    }
    size_t rows = levels.size(), words = (rows + 31) / 32;
    auto room = [&](size_t bytes) { return putBytes(std::vector<char>(bytes).data(), bytes); };
    DeviceMemory source = putBytes(packed.data(), packed.size());
    DeviceMemory levelMemory = putBytes(levels.data(), rows * 4);
    DeviceMemory validity = room(words * 4), starts = room(words * 4),
                 chunks = room((words / decode::kSpreadChunk + 1) * 8), target = room(rows * to);
    decode::SpreadParameters parameters = {
        isNullable ? reinterpret_cast<const uint32_t *>(levelMemory.at().address) : nullptr,
        reinterpret_cast<uint32_t *>(validity.at().address),
        reinterpret_cast<uint32_t *>(starts.at().address),
        reinterpret_cast<uint64_t *>(chunks.at().address),
        reinterpret_cast<const uint8_t *>(source.at().address),
        reinterpret_cast<uint8_t *>(target.at().address),
        rows,
        from,
        to};
    DeviceMemory block = putBytes(&parameters, sizeof parameters);
    HrArgs args = {};
    args.literals = reinterpret_cast<const void *>(block.at().address);
    HrDevice device = {};
    DeviceMemory argsMemory = putBytes(&args, sizeof args),
                 deviceMemory = putBytes(&device, sizeof device);
    uint64_t arguments[] = {argsMemory.at().address, deviceMemory.at().address};
    for (const char *name : {"pack_levels", "count_levels", "sum_chunks", "spread_values"}) {
      if (isNullable || std::string(name) == "spread_values") {
        EXPECT_OK(device_->launch(KernelLaunch{*decoder_->find(name), 2, 32, arguments}).status());
      }
    }
    std::vector<uint8_t> found(rows * to);
    EXPECT_OK(device_->synchronise());
    EXPECT_OK(device_->copy(target.at(), Place::of(found.data()), rows * to).status());
    EXPECT_OK(device_->copy(deviceMemory.at(), Place::of(&device), sizeof device).status());
    error_ = device.error;
    std::vector<int64_t> out(rows);
    for (size_t row = 0; row < rows; ++row) {
      uint64_t bits = 0;
      std::memcpy(&bits, found.data() + row * to, to);
      out[row] = static_cast<int64_t>(bits << (64 - 8 * to)) >> (64 - 8 * to);
    }
    return out;
  }
  HrError error_ = {};

  void SetUp() override {
    DeviceTest::SetUp();
    if (device_) {
      decoder_ = std::move(*device_->load(image("decode_kernels")));
      kernel_ = *decoder_->find("decode_codes");
    }
  }
  void TearDown() override { decoder_.reset(); }

  std::unique_ptr<KernelModule> decoder_;
  Kernel kernel_;
};

INSTANTIATE_TEST_SUITE_P(Devices, DecodeTest, testing::Values(kMachine, 1, 2), nameOfDevice);

TEST_P(DecodeTest, CodesOfAllWidths) {
  std::mt19937_64 random(GetParam());
  for (uint32_t width = 0; width <= 32; ++width) {
    for (uint32_t rows : {1u, 31u, 1024u, 10'007u}) {
      uint64_t bound = uint64_t(1) << width;
      HybridStream stream = makeHybrid(random, rows, width, bound);
      uint32_t threads = std::vector<uint32_t>{256, 96, 33, 1}[random() % 4];
      EXPECT_EQ(decoded(stream, width, 1 + random() % 4, threads), stream.codes)
          << width << " bits, " << rows << " rows, " << threads << " threads";
    }
  }
}

TEST_P(DecodeTest, ValuesGoToTheirRows) {
  std::mt19937_64 random(GetParam());
  constexpr std::pair<uint32_t, uint32_t> kWidths[] = {{4, 4}, {8, 4}, {8, 2},
                                                       {4, 1}, {4, 8}, {8, 8}};
  for (uint32_t rows : {1u, 33u, 1000u, 70'001u}) {
    for (auto [from, to] : kWidths) {
      bool isNullable = random() % 4 != 0;
      std::vector<uint32_t> levels(rows, 1);
      std::vector<int64_t> expected(rows), values;
      for (uint32_t row = 0; row < rows; ++row) {
        levels[row] = isNullable ? random() % 3 != 0 : 1;
        if (levels[row] != 0) {
          expected[row] = static_cast<int64_t>(random() % 200) - 100;
          values.push_back(expected[row]);
        }
      }
      EXPECT_EQ(spread(values, levels, isNullable, from, to), expected)
          << rows << " rows, " << from << " to " << to;
      EXPECT_EQ(error_.code, HR_OK);
    }
  }
  // 128 is no number of one byte: the error has its row.
  spread({5, 127, 128, 7}, {1, 1, 0, 1, 1}, true, 8, 1);
  EXPECT_EQ(error_.code, HR_ERROR_RANGE);
  EXPECT_EQ(error_.row, 3);
}

TEST_P(DecodeTest, RowsFromTheMiddleOfAStream) {
  std::mt19937_64 random(GetParam() + 100);
  for (uint32_t width : {0u, 1u, 7u, 20u, 32u}) {
    HybridStream stream = makeHybrid(random, 9'000, width, uint64_t(1) << width);
    for (auto [first, rows] : {std::pair(0u, 9'000u), {1u, 8'999u}, {777u, 5'000u}, {8'999u, 1u}}) {
      Expected<CodeRuns> found = splitCodeRuns(stream.bytes, width, first, rows);
      ASSERT_OK(found.status());
      EXPECT_EQ(found->runs.front().firstRow, 0u);
      const std::vector<uint32_t> expected(stream.codes.begin() + first,
                                           stream.codes.begin() + first + rows);
      EXPECT_EQ(decodedRuns(*found, stream.bytes, rows, width, 2, 64), expected)
          << width << " bits, from " << first;
    }
  }
}

TEST(CodeRuns, AStreamThatEndsEarlyIsCorrupt) {
  std::mt19937_64 random(7);
  HybridStream stream = makeHybrid(random, 5000, 11, 2000);
  for (size_t size = 0; size < stream.bytes.size(); size += 97) {
    Expected<CodeRuns> runs = splitCodeRuns(std::span(stream.bytes).first(size), 11, 0, 5000);
    ASSERT_FALSE(runs.ok()) << size;
    EXPECT_EQ(runs.status().kind(), ErrorKind::kCorrupt);
    EXPECT_TRUE(
        runs.status().message().starts_with("a stream of codes ends early, of 5000 rows it has: "));
  }
  EXPECT_EQ(splitCodeRuns(stream.bytes, 33, 0, 5000).status().message(),
            "codes have at most 32 bits, got: 33");
  // No run is empty, and a head has at most 32 bits.
  for (std::vector<uint8_t> bad :
       {std::vector<uint8_t>{0, 0, 0, 0}, {1, 0, 0}, {255, 255, 255, 255, 255, 1, 1}}) {
    EXPECT_FALSE(splitCodeRuns(bad, 3, 0, 10).ok());
  }
}

} // namespace
} // namespace headrace
