// Snappy against a byte-by-byte writer of random elements of every kind, and on broken input.
#include "runtime/primitives/snappy/snappy.h"

#include "test/unit/primitives/hybrid_stream.h"
#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

namespace headrace::primitives::testing {
namespace {

struct Compressed {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> plain;
};

void putLiteral(std::vector<uint8_t> &out, const std::vector<uint8_t> &text) {
  uint32_t last = static_cast<uint32_t>(text.size()) - 1;
  if (last < 60) {
    out.push_back(static_cast<uint8_t>(last << 2));
  } else {
    uint32_t bytes = last < 256 ? 1 : last < 65536 ? 2 : 3;
    out.push_back(static_cast<uint8_t>((59 + bytes) << 2));
    for (uint32_t i = 0; i < bytes; ++i) {
      out.push_back(static_cast<uint8_t>(last >> (8 * i)));
    }
  }
  out.insert(out.end(), text.begin(), text.end());
}

/// Random elements; `style` leans to short matches, long literals or overlapping copies.
Compressed makeCompressed(std::mt19937_64 &random, uint32_t elements, int style) {
  Compressed result;
  std::vector<uint8_t> body;
  auto literal = [&] {
    uint32_t length = 1 + static_cast<uint32_t>(random() % (style == 1 ? 400 : 40));
    std::vector<uint8_t> text(length);
    for (uint8_t &byte : text) {
      byte = static_cast<uint8_t>(random());
    }
    putLiteral(body, text);
    result.plain.insert(result.plain.end(), text.begin(), text.end());
  };
  literal();
  for (uint32_t i = 0; i < elements; ++i) {
    uint64_t kind = random() % 4;
    if (kind == 0) {
      literal();
      continue;
    }
    uint64_t size = result.plain.size();
    uint64_t reach = style == 2 ? std::min<uint64_t>(size, 20) : size;
    uint64_t distance = 1 + random() % reach;
    uint64_t length;
    if (kind == 1) {
      length = 4 + random() % 8;
      distance = std::min<uint64_t>(distance, 2047);
      body.push_back(static_cast<uint8_t>((distance >> 8) << 5 | (length - 4) << 2 | 1));
      body.push_back(static_cast<uint8_t>(distance));
    } else {
      length = 1 + random() % 64;
      uint32_t bytes = kind == 2 ? 2 : 4;
      distance = kind == 2 ? std::min<uint64_t>(distance, 65535) : distance;
      body.push_back(static_cast<uint8_t>((length - 1) << 2 | kind));
      for (uint32_t b = 0; b < bytes; ++b) {
        body.push_back(static_cast<uint8_t>(distance >> (8 * b)));
      }
    }
    for (uint64_t b = 0; b < length; ++b) {
      result.plain.push_back(result.plain[result.plain.size() - distance]);
    }
  }
  putVarint(result.bytes, result.plain.size());
  result.bytes.insert(result.bytes.end(), body.begin(), body.end());
  return result;
}

class SnappyTest : public ::testing::TestWithParam<Isa> {};

TEST_P(SnappyTest, RandomElementsOneToSevenBlocks) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 600; ++round) {
    size_t count = 1 + random() % 7;
    std::vector<Compressed> inputs;
    std::vector<std::vector<uint8_t>> outputs(count);
    std::vector<SnappyBlock> blocks;
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(makeCompressed(random, static_cast<uint32_t>(random() % 400), round % 3));
    }
    for (size_t i = 0; i < count; ++i) {
      outputs[i].resize(inputs[i].plain.size());
      blocks.push_back(
          {inputs[i].bytes.data(), inputs[i].bytes.size(), outputs[i].data(), outputs[i].size()});
    }
    ASSERT_TRUE(snappyDecompress(GetParam(), blocks)) << "seed " << seed();
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(outputs[i], inputs[i].plain) << "seed " << seed();
    }
  }
}

TEST_P(SnappyTest, BrokenInputEndsAndStaysInside) {
  std::mt19937_64 random(seed());
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    Compressed input = makeCompressed(random, static_cast<uint32_t>(random() % 100), round % 3);
    std::vector<uint8_t> bytes = input.bytes;
    if (round % 2) {
      bytes.resize(random() % bytes.size());
    } else {
      for (int flips = 0; flips < 3; ++flips) {
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      }
    }
    std::vector<uint8_t> exact(bytes); // its own allocation: no slack for the sanitizer
    exact.shrink_to_fit();
    std::vector<uint8_t> output(input.plain.size());
    SnappyBlock block{exact.data(), exact.size(), output.data(), output.size()};
    refused += !snappyDecompress(GetParam(), {&block, 1});
  }
  EXPECT_GT(refused, 2000);
}

TEST_P(SnappyTest, WrongSizeIsRefused) {
  std::mt19937_64 random(seed());
  Compressed input = makeCompressed(random, 50, 0);
  std::vector<uint8_t> output(input.plain.size() + 1);
  for (size_t size : {input.plain.size() - 1, input.plain.size() + 1}) {
    SnappyBlock block{input.bytes.data(), input.bytes.size(), output.data(), size};
    EXPECT_FALSE(snappyDecompress(GetParam(), {&block, 1}));
  }
}

TEST(SnappyLiteral, FoundInPlaceOnlyIfItIsEverything) {
  std::mt19937_64 random(seed());
  for (size_t size : {1u, 59u, 60u, 61u, 256u, 257u, 65536u, 65537u}) {
    std::vector<uint8_t> text(size);
    for (uint8_t &byte : text) {
      byte = static_cast<uint8_t>(random());
    }
    std::vector<uint8_t> bytes;
    putVarint(bytes, size);
    putLiteral(bytes, text);
    const uint8_t *found = snappySingleLiteral(bytes.data(), bytes.size(), size);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(std::memcmp(found, text.data(), size), 0);
    EXPECT_EQ(snappySingleLiteral(bytes.data(), bytes.size(), size + 1), nullptr);
    for (size_t cut = 0; cut < std::min<size_t>(bytes.size(), 70); ++cut) {
      EXPECT_EQ(snappySingleLiteral(bytes.data(), cut, size), nullptr);
    }
    bytes.push_back(0);
    EXPECT_EQ(snappySingleLiteral(bytes.data(), bytes.size(), size), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, SnappyTest, ::testing::ValuesIn(supportedIsas()),
                         [](const auto &info) { return isaTestName(info.param); });

} // namespace
} // namespace headrace::primitives::testing
