// UTF-8 with vectors: as the plain reader of base has it, wherever a character stands.
#include "runtime/primitives/string/utf8.h"

#include "runtime/base/utf8.h"
#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

namespace headrace::primitives::testing {
namespace {

void expectAsBase(const std::string &text) {
  const PaddedBytes bytes{std::string_view(text)};
  for (Isa isa : supportedIsas()) {
    ASSERT_EQ(isUtf8(isa, bytes.data(), bytes.size()), utf8::isValid(text))
        << isaName(isa) << ", bytes " << text.size();
  }
}

TEST(Utf8, EveryLeadAndWhatFollows) {
  // All pairs of bytes, and behind each lead the ends of what may be third and fourth.
  const std::string ends = {'\0', '\x7f', '\x80', '\x8f', '\x90', '\x9f', '\xa0', '\xbf', '\xc0'};
  for (size_t before : {0, 30, 31, 62, 63}) {
    for (int lead = 0; lead < 256; ++lead) {
      for (int second = 0; second < 256; ++second) {
        std::string text(before, 'a');
        text += static_cast<char>(lead);
        text += static_cast<char>(second);
        expectAsBase(text);
        if (lead < 0xe0 || before % 31 == 1) {
          continue;
        }
        for (char third : ends) {
          expectAsBase(text + third);
          for (char fourth : ends) {
            expectAsBase(text + third + fourth);
            expectAsBase(text + third + fourth + std::string(70, 'z'));
          }
        }
      }
    }
  }
}

TEST(Utf8, RandomTextsWithOneByteChanged) {
  std::mt19937_64 random(seed());
  const std::string_view characters[] = {"a", "7", "é", "ß", "日", "本", "€", "😀", "\U0010ffff"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const size_t kinds = 1 + random() % std::size(characters);
    for (size_t i = random() % 80; i > 0; --i) {
      text += characters[random() % kinds];
    }
    expectAsBase(text);
    if (!text.empty()) {
      text[random() % text.size()] = static_cast<char>(random());
      expectAsBase(text);
      text.resize(random() % text.size());
      expectAsBase(text);
    }
  }
}

} // namespace
} // namespace headrace::primitives::testing
