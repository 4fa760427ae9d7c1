// UUIDs as text and back, their versions and times.
#include "runtime/base/uuid.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

using namespace std::string_literals;

/// The text of what a text is read as; nothing if it is none.
std::optional<std::string> again(std::string_view text) {
  const std::optional<UuidBytes> bytes = parseUuid(text);
  return bytes ? std::optional(uuidText({bytes->data(), bytes->size()})) : std::nullopt;
}

std::string bytesOf(std::string_view text) {
  const UuidBytes bytes = parseUuid(text).value();
  return {bytes.begin(), bytes.end()};
}

constexpr std::string_view kOne = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";

TEST(Uuid, TextsAndBack) {
  for (const char *text :
       {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "a0eebc999c0b4ef8bb6d6bb9bd380a11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
        "-a0ee--bc999c0b4ef8bb6d6bb9bd380a1-1-", "{-a0eebc999c0b4ef8bb6d6bb9bd380a11-}"}) {
    EXPECT_EQ(again(text), kOne) << text;
  }
  EXPECT_EQ(bytesOf(kOne).substr(0, 5), "\xa0\xee\xbc\x99\x9c"s);
  EXPECT_EQ(uuidText(std::string(15, 'x')), "");
}

TEST(Uuid, TextsThatAreNone) {
  for (const char *text :
       {"", "-", "{", "}", "{}", "x", "a0eebc999c0b4ef8bb6d6bb9bd380a1",
        "a0eebc999c0b4ef8bb6d6bb9bd380a111", "a0eebc999c0b4ef8bb6d6bb9bd380a1g",
        "{a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc999c0b4ef8bb6d6bb9bd380a11}",
        " a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1@"}) {
    EXPECT_EQ(again(text), std::nullopt) << text;
  }
}

TEST(Uuid, VersionsAndTimes) {
  EXPECT_EQ(uuidVersion(bytesOf(kOne)), 4);
  EXPECT_EQ(uuidVersion(bytesOf("ffffffff-ffff-ffff-ffff-ffffffffffff")), 15);
  EXPECT_EQ(uuidVersion(""), 0);
  EXPECT_EQ(uuidMicros(bytesOf(kOne)), std::nullopt);
  EXPECT_EQ(uuidMicros(""), std::nullopt);
  EXPECT_EQ(uuidMicros(bytesOf("019a1234-5678-7abc-8def-0123456789ab")), 0x019a12345678 * 1000);
  EXPECT_EQ(uuidMicros(bytesOf("ffffffff-ffff-7fff-bfff-ffffffffffff")), 0xffffffffffff * 1000);
}

class Room final : public TextRoom {
  char *take(uint64_t bytes) override {
    memory_ = std::string(bytes, 'x');
    return memory_.data();
  }
  std::string memory_;
};

TEST(Uuid, DrawnBitsAreAllButSix) {
  auto drawn = [](int64_t first, int64_t second, int64_t third) {
    Room room;
    return uuidText(drawnUuid(room, first, second, third));
  };
  constexpr int64_t kAll = (int64_t{1} << 52) - 1;
  EXPECT_EQ(drawn(0, 0, 0), "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(drawn(kAll, kAll, kAll), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(drawn(kAll, 0, 0), "ffffffff-ffff-4f00-8000-000000000000");
  EXPECT_EQ(drawn(0, kAll, 0), "00000000-0000-4000-800f-ffffffffffff");
  EXPECT_EQ(drawn(0, 0, kAll), "00000000-0000-40ff-bff0-000000000000");
  EXPECT_EQ(drawn(0x123456789abcd, 1, 0x2ff), "12345678-9abc-4dff-8020-000000000001");
}

TEST(Uuid, TimedHaveAMomentAndDrawnBits) {
  auto timed = [](int64_t millis, int64_t first, int64_t second) {
    Room room;
    return uuidText(timedUuid(room, millis, first, second));
  };
  constexpr int64_t kAll = (int64_t{1} << 52) - 1, kMillis = 0x019a12345678;
  EXPECT_EQ(timed(kMillis, 0, 0), "019a1234-5678-7000-8000-000000000000");
  EXPECT_EQ(timed(kMillis, kAll, 0), "019a1234-5678-7000-800f-ffffffffffff");
  EXPECT_EQ(timed(kMillis, 0, kAll), "019a1234-5678-7fff-bff0-000000000000");
  EXPECT_EQ(timed(-1, 1, 0x1002), "ffffffff-ffff-7002-8010-000000000001");
}

} // namespace
} // namespace headrace
