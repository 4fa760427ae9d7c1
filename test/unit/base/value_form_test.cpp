// Formats of format and printf: their pieces, and values in their forms.
#include "runtime/base/value_form.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

using Text = std::string_view;

TEST(ValueForm, PiecesOfFormats) {
  const auto braces = piecesOf("a{{{}b{:>5}}}", FormatStyle::kBraces);
  ASSERT_TRUE(braces && braces->size() == 5);
  EXPECT_EQ((*braces)[0].text, "a{");
  EXPECT_EQ((*braces)[1].argument, 0u);
  EXPECT_EQ((*braces)[3].text, ">5");
  EXPECT_EQ((*braces)[3].argument, 1u);
  EXPECT_EQ((*braces)[4].text, "}");
  const auto percent = piecesOf("%5d%%%lld", FormatStyle::kPercent);
  ASSERT_TRUE(percent && percent->size() == 3);
  EXPECT_EQ((*percent)[0].text, "%5d");
  EXPECT_EQ((*percent)[1].text, "%");
  EXPECT_EQ((*percent)[2].text, "%lld");
  for (const Text wrong : {"{", "}", "{0}{}", "{}{0}", "{a}", "{:", "{9999999}"}) {
    EXPECT_FALSE(piecesOf(wrong, FormatStyle::kBraces)) << wrong;
  }
}

TEST(ValueForm, OnlyFormsOfTheKindOfValue) {
  for (const Text wrong :
       {"z", "f", "s", ".3", "#d", "<05", "9999999", "%", "%5", "%*d", "%-05d"}) {
    EXPECT_FALSE(writtenIn(wrong, int64_t{1})) << wrong;
  }
  for (const Text wrong : {"d", "s", ".3", "#f", ".f", ",5f", "%s", "%d", ".0g"}) {
    EXPECT_FALSE(writtenIn(wrong, 1.0)) << wrong;
  }
  for (const Text wrong : {"d", "+", "05", ",", "#", "%d", "%+s", "%05s"}) {
    EXPECT_FALSE(writtenIn(wrong, Text("x"))) << wrong;
  }
}

TEST(ValueForm, Extremes) {
  EXPECT_EQ(writtenIn("", INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(writtenIn("b", INT64_MIN), "-1" + std::string(63, '0'));
  EXPECT_EQ(writtenIn("%o", int64_t{-1}), "1777777777777777777777");
  EXPECT_EQ(writtenIn(",", INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(writtenIn("f", 1e308)->size(), 316u);
  EXPECT_EQ(writtenIn(".999f", -1e308)->size(), 1310u);
  EXPECT_EQ(writtenIn("^4.1", Text("\xc3\xa4z")), " \xc3\xa4  ");
}

} // namespace
} // namespace headrace
