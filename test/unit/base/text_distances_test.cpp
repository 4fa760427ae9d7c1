// Distances of texts: textbook values, and the edits that are fewest by recursion over short texts.
#include "runtime/base/text_distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace headrace {
namespace {

/// By the definition: the fewest edits of the last bytes. `swaps`: a swapped pair may have others
/// put in between.
int64_t slowly(std::string_view x, std::string_view y, bool swaps) {
  if (x.empty() || y.empty()) {
    return static_cast<int64_t>(x.size() + y.size());
  }
  const std::string_view a = x.substr(0, x.size() - 1), b = y.substr(0, y.size() - 1);
  int64_t least = std::min({slowly(a, y, swaps) + 1, slowly(x, b, swaps) + 1,
                            slowly(a, b, swaps) + (x.back() == y.back() ? 0 : 1)});
  for (size_t i = 0; swaps && i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      if (x[i] == y.back() && y[j] == x.back()) {
        const auto between = static_cast<int64_t>((a.size() - i - 1) + (b.size() - j - 1));
        least = std::min(least, slowly(x.substr(0, i), y.substr(0, j), true) + between + 1);
      }
    }
  }
  return least;
}

TEST(TextDistances, EditsAreTheFewest) {
  std::mt19937 random(7);
  auto draw = [&] {
    std::string text(random() % 6, 'a');
    std::ranges::generate(text, [&] { return static_cast<char>('a' + random() % 3); });
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    const std::string x = draw(), y = draw();
    ASSERT_EQ(editDistance(x, y), slowly(x, y, false)) << x << " " << y;
    ASSERT_EQ(editDistanceWithSwaps(x, y), slowly(x, y, true)) << x << " " << y;
  }
  EXPECT_EQ(editDistance("kitten", "sitting"), 3);
  EXPECT_EQ(editDistanceWithSwaps("ca", "abc"), 2);
  EXPECT_EQ(editDistanceWithSwaps("\xff\x01", "\x01\xff"), 1);
}

TEST(TextDistances, BytesThatDiffer) {
  EXPECT_EQ(hammingDistance("karolin", "kathrin"), 3);
  EXPECT_EQ(hammingDistance("a", "ab"), std::nullopt);
  EXPECT_EQ(hammingDistance("", ""), std::nullopt);
}

TEST(TextDistances, BytesInCommon) {
  EXPECT_DOUBLE_EQ(*jaccardSimilarity("night", "nacht"), 3.0 / 7);
  EXPECT_EQ(jaccardSimilarity("aab", "ba"), 1);
  EXPECT_EQ(jaccardSimilarity("a", ""), std::nullopt);
}

TEST(TextDistances, Jaro) {
  EXPECT_DOUBLE_EQ(jaroSimilarity("MARTHA", "MARHTA"), 17.0 / 18);
  EXPECT_DOUBLE_EQ(jaroSimilarity("DIXON", "DICKSONX"), 23.0 / 30);
  EXPECT_EQ(jaroSimilarity("", "a"), 0);
  EXPECT_EQ(jaroSimilarity("abc", "abc"), 1);
  EXPECT_DOUBLE_EQ(jaroWinklerSimilarity("MARTHA", "MARHTA"), 17.0 / 18 + 0.3 / 18);
  EXPECT_DOUBLE_EQ(jaroWinklerSimilarity("abcdefgh", "abcdefxy"), 5.0 / 6 + 0.4 / 6);
  const double far = jaroSimilarity("abcdef", "abxyzw"); // (1/3 + 1/3 + 1) / 3 is not above 0.7
  EXPECT_DOUBLE_EQ(far, 5.0 / 9);
  EXPECT_EQ(jaroWinklerSimilarity("abcdef", "abxyzw"), far);
}

} // namespace
} // namespace headrace
