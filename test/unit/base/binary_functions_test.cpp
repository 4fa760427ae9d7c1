// Bytes as escaped text, digits and base64, and back; digests at the ends of blocks.
// Sources: binary_functions.cpp, digests.cpp.
#include "runtime/base/binary_functions.h"
#include "runtime/base/digests.h"

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <vector>

namespace headrace {
namespace {

using namespace std::string_literals;

/// As much room as is asked for and no byte more, so that a sanitizer sees what goes beyond.
class ExactRoom final : public TextRoom {
  char *take(uint64_t bytes) override {
    memory_.push_back(std::vector<char>(bytes));
    return memory_.back().data();
  }
  std::vector<std::vector<char>> memory_;
};

std::optional<std::string> copy(const MaybeBinary &bytes) {
  return bytes ? std::optional<std::string>(*bytes) : std::nullopt;
}

std::string allBytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

TEST(BinaryFunctions, AllBytesAsTextAndBack) {
  ExactRoom room;
  EXPECT_EQ(binaryText("a\0\xff b"s), "a\\x00\\xFF b");
  EXPECT_EQ(binaryText("'\"\\~\x7f"), "\\x27\\x22\\x5C~\\x7F");
  EXPECT_EQ(binaryText(""), "");
  const std::string text = binaryText(allBytes());
  EXPECT_EQ(printedBinary(room, allBytes()), text);
  EXPECT_EQ(copy(parsedBinary(room, text)), allBytes());
  EXPECT_EQ(binaryOfText(text), allBytes());
}

TEST(BinaryFunctions, TextsThatAreNone) {
  ExactRoom room;
  for (const char *text : {"\\", "\\x", "\\xA", "\\a41", "\\xAG", "\\xGA", "\\X41", "\xc3\x9f"}) {
    EXPECT_EQ(copy(parsedBinary(room, text)), std::nullopt) << text;
    EXPECT_EQ(binaryOfText("ab"s + text), std::nullopt) << text;
  }
  EXPECT_EQ(binaryOfText("\\xaa\\xAa'\""), "\xaa\xaa'\"");
}

TEST(BinaryFunctions, Digits) {
  ExactRoom room;
  EXPECT_EQ(copy(fromDigits(room, "", 4)), "");
  EXPECT_EQ(copy(fromDigits(room, "00fFa", 4)), "\x00\x0f\xfa"s);
  EXPECT_EQ(copy(fromDigits(room, "abg", 4)), std::nullopt);
  EXPECT_EQ(copy(fromDigits(room, "1010101", 1)), "U");
  EXPECT_EQ(copy(fromDigits(room, "101111111", 1)), "\x01\x7f");
  EXPECT_EQ(copy(fromDigits(room, "12", 1)), std::nullopt);
}

TEST(BinaryFunctions, Base64) {
  ExactRoom room;
  // The examples of RFC 4648, section 10.
  const std::vector<std::pair<std::string, std::string>> examples = {{"", ""},
                                                                     {"f", "Zg=="},
                                                                     {"fo", "Zm8="},
                                                                     {"foo", "Zm9v"},
                                                                     {"foob", "Zm9vYg=="},
                                                                     {"fooba", "Zm9vYmE="},
                                                                     {"foobar", "Zm9vYmFy"},
                                                                     {"\xff\xfe\xfd", "//79"}};
  for (const auto &[bytes, text] : examples) {
    EXPECT_EQ(inBase64(room, bytes), text);
    EXPECT_EQ(copy(fromBase64(room, text)), bytes);
  }
  EXPECT_EQ(copy(fromBase64(room, inBase64(room, allBytes()))), allBytes());
  for (const char *text : {"YQ=", "YWI", "Y===", "YQ==YQ==", "Y Q=", "====", "Y_=="}) {
    EXPECT_EQ(copy(fromBase64(room, text)), std::nullopt) << text;
  }
}

std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

TEST(Digests, ExamplesOfTheStandards) {
  EXPECT_EQ(md5(bytesOf("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5(bytesOf("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5(bytesOf("1234567890123456789012345678901234567890123456789012345678901234567890"
                        "1234567890")),
            "57edf4a22be3c955ac49da2e2107b67a");
  EXPECT_EQ(sha1(bytesOf("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1(bytesOf("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1(bytesOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

TEST(Digests, LengthsAroundABlockDiffer) {
  std::set<std::string> seen;
  for (size_t length = 50; length < 140; ++length) {
    EXPECT_TRUE(seen.insert(md5(bytesOf(std::string(length, 'x')))).second);
    EXPECT_TRUE(seen.insert(sha1(bytesOf(std::string(length, 'x')))).second);
  }
}

} // namespace
} // namespace headrace
