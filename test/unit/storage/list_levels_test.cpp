// Levels of nested columns as lists: NULL, empty, several rows, lists in lists.
// Sources: list_levels.cpp.
#include "runtime/storage/parquet/list_levels.h"

#include "runtime/base/list_functions.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace::storage {
namespace {

ListColumn columnOf(std::vector<ListColumn::Level> levels, int16_t definitionMax) {
  ListColumn column;
  column.element.type = {LogicalKind::kString};
  column.levels = std::move(levels);
  column.definitionMax = definitionMax;
  return column;
}

std::string textOf(ListAssembler &lists) {
  std::string text;
  for (const auto &row : lists.takeRows()) {
    text += (row ? listText(*row) : "NULL") + ";";
  }
  return text;
}

TEST(ListLevels, RowsOfOneList) {
  const ListColumn column = columnOf({{1, 2}}, 3); // all may be NULL
  ListAssembler lists(column);
  EXPECT_TRUE(lists.add(0, 0, ""));
  EXPECT_TRUE(lists.add(1, 0, ""));
  EXPECT_TRUE(lists.add(3, 0, "a"));
  EXPECT_TRUE(lists.add(2, 1, ""));
  EXPECT_EQ(textOf(lists), "NULL;[];"); // the third row may go on
  EXPECT_TRUE(lists.add(3, 1, "b"));
  lists.end();
  EXPECT_EQ(textOf(lists), "[a, NULL, b];");
}

TEST(ListLevels, ListsInLists) {
  const ListColumn column = columnOf({{1, 2}, {3, 4}}, 5);
  ListAssembler lists(column);
  EXPECT_TRUE(lists.add(5, 0, "a"));
  EXPECT_TRUE(lists.add(5, 2, "b"));
  EXPECT_TRUE(lists.add(3, 1, ""));
  EXPECT_TRUE(lists.add(2, 1, ""));
  EXPECT_TRUE(lists.add(4, 1, ""));
  EXPECT_TRUE(lists.add(1, 0, ""));
  lists.end();
  EXPECT_EQ(textOf(lists), "[[a, b], [], NULL, [NULL]];[];");
}

TEST(ListLevels, ArraysThatAreNullAsDuckDbWritesThem) {
  const ListColumn column = columnOf({{1, 2}}, 3);
  ListAssembler lists(column);
  EXPECT_TRUE(lists.add(0, 0, ""));
  EXPECT_TRUE(lists.add(0, 1, ""));
  EXPECT_EQ(textOf(lists), "NULL;");
  EXPECT_TRUE(lists.add(0, 1, "")); // in the next batch
  EXPECT_TRUE(lists.add(3, 0, "a"));
  lists.end();
  EXPECT_EQ(textOf(lists), "[a];");
}

TEST(ListLevels, RefusesWhatCannotBe) {
  const ListColumn column = columnOf({{1, 2}}, 3);
  ListAssembler lists(column);
  EXPECT_FALSE(lists.add(3, 1, "a")); // goes on with no list
  EXPECT_FALSE(lists.add(3, 2, "a"));
  EXPECT_TRUE(lists.add(3, 0, "a"));
  EXPECT_FALSE(lists.add(1, 1, "")); // no element
}

} // namespace
} // namespace headrace::storage
