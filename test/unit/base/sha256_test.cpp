// The examples of FIPS 180-4, and every length around a block.
#include "runtime/base/sha256.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace headrace {
namespace {

std::string hashOf(const std::string &text) {
  return sha256(std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

TEST(Sha256, examples_of_the_standard) {
  EXPECT_EQ(hashOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hashOf(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, lengths_around_a_block_differ) {
  std::set<std::string> seen;
  for (size_t length = 50; length < 140; ++length) {
    EXPECT_TRUE(seen.insert(hashOf(std::string(length, 'x'))).second);
  }
}

} // namespace
} // namespace headrace
