// Types that are held as bytes: each is found by its kind, and is the text that its bytes were read
// from.
#include "runtime/base/byte_types.h"

#include "runtime/base/enum_values.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

using namespace std::string_literals;

struct Case {
  LogicalKind kind;
  const char *functions;
  std::string text, bytes, none;
};

TEST(ByteTypes, BytesOfTextsAndBack) {
  const Case cases[] = {
      {LogicalKind::kBinary, "binary", "a\\x00b", "a\0b"s, "\\xg0"},
      {LogicalKind::kInterval, "interval", "1 month 2 days",
       "\x80\0\0\1\x80\0\0\2\x80\0\0\0\0\0\0\0"s, "some time"},
      {LogicalKind::kU128, "ui128", "258", std::string(14, '\0') + "\1\2", "-1"},
      {LogicalKind::kUuid, "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f",
       "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf"s, "00010203"},
  };
  for (const Case &each : cases) {
    const ByteType *type = byteTypeOf(each.kind);
    ASSERT_NE(type, nullptr) << each.functions;
    EXPECT_STREQ(type->functions, each.functions);
    EXPECT_EQ(type->parse(each.text), each.bytes) << each.functions;
    EXPECT_EQ(type->text(each.bytes), each.text);
    EXPECT_EQ(type->parse(each.none), std::nullopt) << each.functions;
  }
}

TEST(ByteTypes, AnEnumIsReadByItsListAlone) {
  const ByteType *type = byteTypeOf(LogicalKind::kEnum);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->text(packedEnum(3, "sad")), "sad");
  EXPECT_EQ(type->parse("sad"), std::nullopt);
}

TEST(ByteTypes, OthersAreNone) {
  for (const LogicalKindName &each : kLogicalKindNames) {
    const ByteType *type = byteTypeOf(each.value);
    EXPECT_EQ(type != nullptr, type && type->kind == each.value) << each.name;
    const bool isOther = LogicalType{each.value}.real() || LogicalType{each.value}.integral() ||
                         LogicalType{each.value}.isNested() || each.value == LogicalKind::kString;
    EXPECT_FALSE(isOther && type) << each.name;
  }
}

} // namespace
} // namespace headrace
