// Cursors step over segments, empty ones too, and begin a stream of codes where it begins.
#include "runtime/primitives/decode/cursor.h"

#include <gtest/gtest.h>

namespace headrace::primitives {
namespace {

TEST(Cursor, RunsAreWhatIsLeftOfASegment) {
  const uint8_t codes[4] = {};
  const HrSegment segments[] = {{.rows = 0, .encoding = HR_VALUES},
                                {.rows = 5, .encoding = HR_CODES, .bytes = 4, .data = codes},
                                {.rows = 0, .encoding = HR_VALUES},
                                {.rows = 3, .encoding = HR_OFFSETS}};
  const HrColumn column = {.segments = segments, .segmentCount = 4};
  HrCursor cursor;
  cursorOpen(&cursor, &column);
  EXPECT_EQ(cursorRun(&cursor), 5u);
  EXPECT_EQ(cursorEncoding(&cursor), HR_CODES);
  EXPECT_EQ(cursor.next, codes);
  EXPECT_EQ(cursor.end, codes + 4);
  cursor.row = 2;
  EXPECT_EQ(cursorRun(&cursor), 3u);
  cursor.row = 5;
  cursor.runRows = 7; // of a run that is not there any more
  EXPECT_EQ(cursorRun(&cursor), 3u);
  EXPECT_EQ(cursor.segment, 3u);
  EXPECT_EQ(cursor.row, 0u);
  EXPECT_EQ(cursor.runRows, 0u);
  EXPECT_EQ(cursor.next, nullptr);
  EXPECT_EQ(cursorEncoding(&cursor), HR_OFFSETS);
  cursor.row = 3;
  EXPECT_EQ(cursorRun(&cursor), 0u);
  EXPECT_EQ(cursorRun(&cursor), 0u);
  EXPECT_EQ(cursorEncoding(&cursor), HR_VALUES);
}

TEST(Cursor, AColumnWithoutSegmentsHasNoRows) {
  const HrColumn column = {};
  HrCursor cursor;
  cursorOpen(&cursor, &column);
  EXPECT_EQ(cursorRun(&cursor), 0u);
}

} // namespace
} // namespace headrace::primitives
