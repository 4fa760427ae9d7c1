// Decoding against naive references: every bit width, value width, instruction set, and stop in
// mid-run.
#include "test/unit/primitives/hybrid_stream.h"
#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace headrace::primitives::testing {
namespace {

using Decode = int32_t (*)(HrCursor *, uint32_t, void *);
using DecodeSelected = int32_t (*)(HrCursor *, uint32_t, const uint16_t *, uint32_t, void *);

Decode decodeOf(const HrImports &table, uint32_t width) {
  switch (width) {
  case 1:
    return table.hr_decode_8_;
  case 2:
    return table.hr_decode_16_;
  case 4:
    return table.hr_decode_32_;
  case 8:
    return table.hr_decode_64_;
  default:
    return table.hr_decode_128_;
  }
}

DecodeSelected decodeSelectedOf(const HrImports &table, uint32_t width) {
  switch (width) {
  case 1:
    return table.hr_decode_selected_8_;
  case 2:
    return table.hr_decode_selected_16_;
  case 4:
    return table.hr_decode_selected_32_;
  case 8:
    return table.hr_decode_selected_64_;
  default:
    return table.hr_decode_selected_128_;
  }
}

/// A column of several pages, encoded and plain, with what it decodes to.
struct TestColumn {
  uint32_t valueBytes;
  std::vector<PaddedBytes> buffers;
  std::vector<HrSegment> segments;
  std::vector<uint8_t> dictionary;
  std::vector<uint8_t> expected;
  std::vector<uint32_t> codes; // UINT32_MAX: not dictionary encoded
  HrColumn column{};
};

uint32_t dictionaryEntries(std::mt19937_64 &random, uint32_t width) {
  uint64_t most = width >= 12 ? 4096 : uint64_t{1} << width;
  return static_cast<uint32_t>(1 + random() % most);
}

void makeColumn(TestColumn &test, std::mt19937_64 &random, uint32_t width, uint32_t valueBytes) {
  test.valueBytes = valueBytes;
  uint32_t entries = dictionaryEntries(random, width);
  std::vector<uint8_t> dictionary(entries * valueBytes);
  for (uint8_t &byte : dictionary) {
    byte = static_cast<uint8_t>(random());
  }
  test.dictionary = dictionary;
  for (int page = 0; page < 4; ++page) {
    uint32_t rows = static_cast<uint32_t>(random() % 3000);
    HrSegment segment{};
    segment.rows = rows;
    if (random() % 5 == 0) {
      std::vector<uint8_t> values(rows * valueBytes);
      for (uint8_t &byte : values) {
        byte = static_cast<uint8_t>(random());
      }
      test.expected.insert(test.expected.end(), values.begin(), values.end());
      test.codes.insert(test.codes.end(), rows, UINT32_MAX);
      segment.encoding = HR_VALUES;
      test.buffers.emplace_back(values);
    } else {
      HybridStream stream = makeHybrid(random, rows, width, entries);
      for (uint32_t code : stream.codes) {
        const uint8_t *value = dictionary.data() + code * valueBytes;
        test.expected.insert(test.expected.end(), value, value + valueBytes);
      }
      test.codes.insert(test.codes.end(), stream.codes.begin(), stream.codes.end());
      if (random() % 4 == 0) {
        segment.encoding = HR_INDICES;
        test.buffers.emplace_back(stream.codes.data(), stream.codes.size() * 4);
      } else {
        segment.encoding = HR_CODES;
        segment.bitWidth = static_cast<uint8_t>(width);
        test.buffers.emplace_back(stream.bytes);
      }
    }
    segment.data = test.buffers.back().data();
    segment.bytes = test.buffers.back().size();
    test.segments.push_back(segment);
  }
  test.column = {test.segments.data(), static_cast<uint32_t>(test.segments.size()), entries,
                 test.dictionary.data()};
}

class DecodeTest : public ::testing::TestWithParam<Isa> {
protected:
  HrImports table = primitivesOf(GetParam());
};

TEST_P(DecodeTest, AllWidthsInRandomSteps) {
  std::mt19937_64 random(seed());
  for (uint32_t width = 0; width <= 32; ++width) {
    for (uint32_t valueBytes : {1u, 2u, 4u, 8u, 16u}) {
      TestColumn test;
      makeColumn(test, random, width, valueBytes);
      HrCursor cursor;
      table.hr_cursor_open_(&cursor, &test.column);
      uint64_t done = 0;
      while (uint32_t run = table.hr_cursor_run_(&cursor)) {
        uint32_t rows = 1 + static_cast<uint32_t>(random() % (random() % 2 ? 2500 : 30));
        rows = std::min(rows, run);
        const uint8_t *expected = test.expected.data() + done * valueBytes;
        // Exactly as large as needed: the sanitizer sees a write past the end.
        if (random() % 6 == 0) {
          ASSERT_EQ(table.hr_cursor_skip_(&cursor, rows), HR_OK);
        } else if (random() % 2) {
          std::vector<uint8_t> out(rows * valueBytes);
          ASSERT_EQ(decodeOf(table, valueBytes)(&cursor, rows, out.data()), HR_OK);
          ASSERT_EQ(std::memcmp(out.data(), expected, out.size()), 0)
              << "width " << width << " value bytes " << valueBytes << " seed " << seed();
        } else {
          std::vector<uint16_t> selection;
          uint64_t percent = random() % 101;
          for (uint32_t i = 0; i < rows; ++i) {
            if (random() % 100 < percent) {
              selection.push_back(static_cast<uint16_t>(i));
            }
          }
          std::vector<uint8_t> out(selection.size() * valueBytes);
          ASSERT_EQ(decodeSelectedOf(table, valueBytes)(&cursor, rows, selection.data(),
                                                        static_cast<uint32_t>(selection.size()),
                                                        out.data()),
                    HR_OK);
          for (size_t i = 0; i < selection.size(); ++i) {
            ASSERT_EQ(std::memcmp(out.data() + i * valueBytes, expected + selection[i] * valueBytes,
                                  valueBytes),
                      0)
                << "width " << width << " value bytes " << valueBytes << " seed " << seed();
          }
        }
        done += rows;
      }
      EXPECT_EQ(done * valueBytes, test.expected.size());
    }
  }
}

template <typename Value>
void checkMapped(const HrImports &table,
                 int32_t (*decode)(HrCursor *, uint32_t, const void *, void *), uint32_t width) {
  std::mt19937_64 random(seed() + width);
  TestColumn test;
  makeColumn(test, random, width, 4);
  std::vector<Value> map(test.column.dictionaryCount);
  for (Value &value : map) {
    value = static_cast<Value>(random());
  }
  HrCursor cursor;
  table.hr_cursor_open_(&cursor, &test.column);
  uint64_t done = 0;
  while (uint32_t run = table.hr_cursor_run_(&cursor)) {
    uint32_t rows = std::min<uint32_t>(1 + static_cast<uint32_t>(random() % 700), run);
    std::vector<Value> out(rows);
    if (table.hr_cursor_encoding_(&cursor) == HR_VALUES) {
      ASSERT_EQ(decode(&cursor, rows, map.data(), out.data()), HR_ERROR_CORRUPT);
      ASSERT_EQ(table.hr_cursor_skip_(&cursor, rows), HR_OK);
    } else {
      ASSERT_EQ(decode(&cursor, rows, map.data(), out.data()), HR_OK);
      for (uint32_t i = 0; i < rows; ++i) {
        ASSERT_EQ(out[i], map[test.codes[done + i]]);
      }
    }
    done += rows;
  }
}

TEST_P(DecodeTest, Mapped) {
  for (uint32_t width = 0; width <= 20; ++width) {
    checkMapped<uint32_t>(table, table.hr_decode_mapped_32_, width);
  }
}

/// A page of one packed run, and a column of it.
class PackedRun {
public:
  PackedRun(const std::vector<uint32_t> &codes, uint32_t width, uint32_t entries,
            const void *dictionary)
      : bytes_(packed(codes, width)), segment_(),
        column{&segment_, 1, entries, dictionary, /*skip=*/0, /*reserved=*/0} {
    segment_.rows = static_cast<uint32_t>(codes.size());
    segment_.encoding = HR_CODES;
    segment_.bitWidth = static_cast<uint8_t>(width);
    segment_.data = bytes_.data();
    segment_.bytes = bytes_.size();
  }

private:
  static std::vector<uint8_t> packed(const std::vector<uint32_t> &codes, uint32_t width) {
    std::vector<uint8_t> bytes;
    putVarint(bytes, codes.size() / 8 << 1 | 1);
    putPacked(bytes, codes, width);
    return bytes;
  }

  PaddedBytes bytes_;
  HrSegment segment_;

public:
  const HrColumn column;
};

/// Around the sizes at which a dictionary no longer fits registers, and around whole vectors.
TEST_P(DecodeTest, DictionariesAndRunsOfEverySize) {
  std::mt19937_64 random(seed());
  for (uint32_t entries : {1u, 2u, 15u, 16u, 17u, 32u, 33u, 64u, 65u, 128u, 129u, 255u, 256u}) {
    const uint32_t width = std::max(1u, static_cast<uint32_t>(std::bit_width(entries - 1)));
    for (uint32_t valueBytes : {1u, 2u, 4u, 8u, 16u}) {
      std::vector<uint8_t> dictionary(entries * valueBytes);
      for (uint8_t &byte : dictionary) {
        byte = static_cast<uint8_t>(random());
      }
      std::vector<uint32_t> codes(504);
      for (uint32_t &code : codes) {
        code = static_cast<uint32_t>(random() % entries);
      }
      const PackedRun page(codes, width, entries, dictionary.data());
      for (uint32_t skipped : {0u, 1u, 5u}) {
        for (uint32_t rows :
             {1u, 31u, 32u, 33u, 63u, 64u, 65u, 255u, 256u, 257u, 287u, 288u, 499u}) {
          HrCursor cursor;
          table.hr_cursor_open_(&cursor, &page.column);
          ASSERT_EQ(table.hr_cursor_skip_(&cursor, skipped), HR_OK);
          std::vector<uint8_t> out(rows * valueBytes);
          ASSERT_EQ(decodeOf(table, valueBytes)(&cursor, rows, out.data()), HR_OK);
          for (uint32_t i = 0; i < rows; ++i) {
            ASSERT_EQ(std::memcmp(out.data() + i * valueBytes,
                                  dictionary.data() + codes[skipped + i] * valueBytes, valueBytes),
                      0)
                << entries << " entries of " << valueBytes << " bytes, row " << i << " of " << rows
                << " after " << skipped;
          }
        }
      }
    }
  }
}

TEST_P(DecodeTest, CodePastTheDictionaryIsCorrupt) {
  std::mt19937_64 random(seed());
  for (uint32_t width = 1; width <= 32; ++width) {
    for (uint32_t place : {0u, 7u, 63u, 64u, 255u, 256u, 499u}) {
      uint32_t entries = width >= 10 ? 700 : 1u << (width - 1);
      std::vector<uint32_t> codes(504);
      for (uint32_t &code : codes) {
        code = static_cast<uint32_t>(random() % entries);
      }
      codes[place] = width == 32 ? UINT32_MAX : (1u << width) - 1;
      if (codes[place] < entries) {
        continue;
      }
      std::vector<uint32_t> dictionary(entries);
      const PackedRun page(codes, width, entries, dictionary.data());
      std::vector<uint32_t> out(504);
      HrCursor cursor;
      table.hr_cursor_open_(&cursor, &page.column);
      EXPECT_EQ(table.hr_decode_32_(&cursor, 500, out.data()), HR_ERROR_CORRUPT);
      // Codes past the wanted rows do not count.
      table.hr_cursor_open_(&cursor, &page.column);
      EXPECT_EQ(table.hr_decode_32_(&cursor, place, out.data()), HR_OK);
      std::vector<uint16_t> all(500);
      for (uint16_t i = 0; i < 500; ++i) {
        all[i] = i;
      }
      table.hr_cursor_open_(&cursor, &page.column);
      EXPECT_EQ(table.hr_decode_selected_32_(&cursor, 500, all.data(), 500, out.data()),
                HR_ERROR_CORRUPT);
      table.hr_cursor_open_(&cursor, &page.column);
      uint16_t one = static_cast<uint16_t>(place);
      EXPECT_EQ(table.hr_decode_selected_32_(&cursor, 500, &one, 1, out.data()), HR_ERROR_CORRUPT);
    }
  }
}

TEST_P(DecodeTest, CutStreamsAreCorruptAndStayInside) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 2000; ++round) {
    uint32_t width = 1 + static_cast<uint32_t>(random() % 32);
    uint32_t rows = 1 + static_cast<uint32_t>(random() % 900);
    HybridStream stream = makeHybrid(random, rows, width, width == 32 ? 1ull << 32 : 1ull << width);
    size_t size = random() % (stream.bytes.size() + 1);
    stream.bytes.resize(size);
    if (round % 2) {
      for (int flips = 0; flips < 4 && size != 0; ++flips) {
        stream.bytes[random() % size] = static_cast<uint8_t>(random());
      }
    }
    PaddedBytes padded(stream.bytes);
    uint32_t entries = 1 + static_cast<uint32_t>(random() % 300);
    std::vector<uint64_t> dictionary(entries);
    HrSegment segment{};
    segment.rows = rows;
    segment.encoding = HR_CODES;
    segment.bitWidth = static_cast<uint8_t>(width);
    segment.data = padded.data();
    segment.bytes = padded.size();
    HrColumn column{&segment, 1, entries, dictionary.data()};
    std::vector<uint64_t> out(rows);
    HrCursor cursor;
    table.hr_cursor_open_(&cursor, &column);
    int32_t error = table.hr_decode_64_(&cursor, rows, out.data());
    if (size == 0) {
      EXPECT_EQ(error, HR_ERROR_CORRUPT);
    }
  }
}

TEST_P(DecodeTest, MoreRowsThanTheSegmentHas) {
  HrSegment segment{};
  std::vector<uint8_t> values(10 + HR_PADDING);
  segment.rows = 10;
  segment.encoding = HR_VALUES;
  segment.data = values.data();
  HrColumn column{&segment, 1, 0, nullptr};
  HrCursor cursor;
  table.hr_cursor_open_(&cursor, &column);
  std::vector<uint8_t> out(20);
  EXPECT_EQ(table.hr_decode_8_(&cursor, 11, out.data()), HR_ERROR_CORRUPT);
  EXPECT_EQ(table.hr_decode_8_(&cursor, 10, out.data()), HR_OK);
  EXPECT_EQ(table.hr_decode_8_(&cursor, 1, out.data()), HR_ERROR_CORRUPT);
  EXPECT_EQ(table.hr_cursor_run_(&cursor), 0u);
}

TEST_P(DecodeTest, BitmapsAndValidity) {
  std::mt19937_64 random(seed());
  const uint32_t rows = 777;
  std::vector<uint8_t> bits((rows + 7) / 8), valid((rows + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<uint8_t>(random());
    valid[i] = static_cast<uint8_t>(random());
  }
  auto at = [](const std::vector<uint8_t> &map, uint32_t i) { return map[i / 8] >> (i % 8) & 1; };
  HrSegment segment{};
  segment.rows = rows;
  segment.encoding = HR_BITMAP;
  segment.data = bits.data();
  segment.bytes = bits.size();
  segment.validity = valid.data();
  HrColumn column{&segment, 1, 0, nullptr};
  HrCursor cursor;
  table.hr_cursor_open_(&cursor, &column);
  uint32_t done = 0;
  while (uint32_t run = table.hr_cursor_run_(&cursor)) {
    uint32_t step = std::min<uint32_t>(run, 1 + static_cast<uint32_t>(random() % 70));
    std::vector<uint8_t> values(step), validity(step);
    ASSERT_EQ(table.hr_decode_validity_(&cursor, step, validity.data()), HR_OK);
    ASSERT_EQ(table.hr_decode_8_(&cursor, step, values.data()), HR_OK);
    for (uint32_t i = 0; i < step; ++i) {
      ASSERT_EQ(values[i], at(bits, done + i));
      ASSERT_EQ(validity[i], at(valid, done + i));
    }
    done += step;
  }
  table.hr_cursor_open_(&cursor, &column);
  uint16_t selection[3] = {0, 9, 400};
  uint8_t picked[3];
  ASSERT_EQ(table.hr_decode_selected_8_(&cursor, 401, selection, 3, picked), HR_OK);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(picked[i], at(bits, selection[i]));
  }
  std::vector<uint32_t> wide(rows);
  table.hr_cursor_open_(&cursor, &column);
  EXPECT_EQ(table.hr_decode_32_(&cursor, 5, wide.data()), HR_ERROR_CORRUPT);

  segment.validity = nullptr;
  std::vector<uint8_t> validity(rows);
  ASSERT_EQ(table.hr_decode_validity_(&cursor, rows, validity.data()), HR_OK);
  EXPECT_EQ(std::count(validity.begin(), validity.end(), 1), rows);
}

TEST_P(DecodeTest, OffsetsBecomeStrings) {
  std::vector<std::string> texts = {
      "", "a", "abc", "abcd", "abcde", "", "a longer text than the prefix"};
  std::string heap;
  std::vector<uint32_t> offsets = {0};
  for (const std::string &text : texts) {
    heap += text;
    offsets.push_back(static_cast<uint32_t>(heap.size()));
  }
  PaddedBytes padded(heap);
  HrSegment segment{};
  segment.rows = static_cast<uint32_t>(texts.size());
  segment.encoding = HR_OFFSETS;
  segment.data = offsets.data();
  segment.heap = padded.data();
  HrColumn column{&segment, 1, 0, nullptr};
  HrCursor cursor;
  table.hr_cursor_open_(&cursor, &column);
  std::vector<HrString> out(texts.size());
  ASSERT_EQ(table.hr_decode_128_(&cursor, segment.rows, out.data()), HR_OK);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(out[i].data), out[i].length), texts[i]);
    char prefix[4] = {};
    std::memcpy(prefix, texts[i].data(), std::min<size_t>(4, texts[i].size()));
    EXPECT_EQ(std::memcmp(out[i].prefix, prefix, 4), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, DecodeTest, ::testing::ValuesIn(supportedIsas()),
                         [](const auto &info) { return isaTestName(info.param); });

} // namespace
} // namespace headrace::primitives::testing
