// Which types kernels may read of columns, and names and ranges of types.
#include "runtime/storage/columns/column_type.h"

#include <gtest/gtest.h>

namespace headrace::storage {
namespace {

TEST(ColumnType, KernelsReadAColumnAsWhatItIsInside) {
  for (const LogicalKindName &each : kLogicalKindNames) {
    const LogicalType type{each.value};
    if (each.value == LogicalKind::kNone || each.value == LogicalKind::kDoubleDouble) {
      continue; // of no file
    }
    for (HrType promised :
         {HR_BOOL, HR_I8, HR_I16, HR_I32, HR_I64, HR_I128, HR_F32, HR_F64, HR_STRING}) {
      const bool isInteger = promised >= HR_I8 && promised <= HR_I128;
      const bool expected = promised == HR_STRING ? type.isHeldAsText()
                            : promised == HR_BOOL ? each.value == LogicalKind::kBool
                            : promised == HR_F32  ? each.value == LogicalKind::kF32
                            : promised == HR_F64  ? each.value == LogicalKind::kF64
                                                  : isInteger && type.integral();
      EXPECT_EQ(canBe(type, promised), expected) << each.name << " as " << typeName(promised);
    }
  }
}

TEST(ColumnType, IntegersMayBeReadAsWiderOnes) {
  const LogicalType narrow{LogicalKind::kI16}, wide{LogicalKind::kI64}, text{LogicalKind::kString};
  EXPECT_TRUE(widensTo(narrow, wide));
  EXPECT_FALSE(widensTo(wide, narrow));
  EXPECT_TRUE(widensTo(text, text));
  EXPECT_FALSE(widensTo(narrow, text));
  EXPECT_FALSE(widensTo(narrow, {LogicalKind::kU32}));
  EXPECT_FALSE(widensTo({LogicalKind::kDecimal, 5, 2}, {LogicalKind::kDecimal, 9, 2}));
}

TEST(ColumnType, TypesAsStatisticsHaveThem) {
  LogicalType list{LogicalKind::kList};
  list.size = 3;
  list.children = {{LogicalKind::kDecimal, 15, 2}};
  EXPECT_EQ(
      typeJson(list),
      (nlohmann::json{{"kind", "list"},
                      {"size", 3},
                      {"children", {{{"kind", "decimal"}, {"precision", 15}, {"scale", 2}}}}}));
  LogicalType moment{LogicalKind::kTimestamp};
  moment.zoned = true;
  EXPECT_EQ(typeJson(moment),
            (nlohmann::json{{"kind", "timestamp"}, {"unit", "us"}, {"zoned", true}}));
}

TEST(ColumnType, RangesOfIntegers) {
  EXPECT_TRUE(fitsInteger(HR_I8, -128, 127));
  EXPECT_FALSE(fitsInteger(HR_I8, -129, 0));
  EXPECT_FALSE(fitsInteger(HR_I8, 0, 128));
  EXPECT_TRUE(fitsInteger(HR_I64, INT64_MIN, INT64_MAX));
  EXPECT_FALSE(fitsInteger(HR_I64, 0, static_cast<__int128>(INT64_MAX) + 1));
  EXPECT_TRUE(fitsInteger(HR_I128, 0, ~(static_cast<__int128>(1) << 127)));
}

TEST(ColumnType, NumbersOfAnySizeAsText) {
  const __int128 least = static_cast<__int128>(1) << 127;
  EXPECT_EQ(integerText(0), "0");
  EXPECT_EQ(integerText(-10), "-10");
  EXPECT_EQ(integerText(least), "-170141183460469231731687303715884105728");
  EXPECT_EQ(integerText(~least), "170141183460469231731687303715884105727");
}

TEST(ColumnType, InfinityIsOfAnyUnit) {
  EXPECT_EQ(inUnits(5, 1000), 5000);
  EXPECT_EQ(inUnits(INT64_MAX, 1000), INT64_MAX);
  EXPECT_EQ(inUnits(-INT64_MAX, 1000), -INT64_MAX);
  EXPECT_EQ(integerText(inUnits(INT64_MAX - 1, 1000)), "9223372036854775806000");
}

} // namespace
} // namespace headrace::storage
