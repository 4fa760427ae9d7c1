// Values of enums as bytes, in order as their list is.
#include "runtime/base/enum_values.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(EnumValues, PlacesAndTexts) {
  for (const uint32_t place : {0U, 1U, 255U, 256U, 70'000U, UINT32_MAX}) {
    const std::string bytes = packedEnum(place, "ž");
    EXPECT_EQ(enumPlace(bytes), place);
    EXPECT_EQ(enumText(bytes), "ž");
  }
  EXPECT_LT(packedEnum(255, "z"), packedEnum(256, "a"));
  EXPECT_EQ(enumText(packedEnum(3, "")), "");
  EXPECT_EQ(enumText(""), "");
  EXPECT_EQ(enumPlace(""), 0U);
}

} // namespace
} // namespace headrace
