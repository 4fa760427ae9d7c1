// Lists of other lists' elements: flattened, selected, resized, repeated.
// Sources: runtime/base/list_shapes.cpp
#include "packed_lists.h"

namespace headrace {
namespace {

std::string text(const MaybeList &list) { return list ? listText(list->bytes) : "none"; }

const std::string kNumbers = pack(kInteger, {integer(7), std::nullopt, integer(9)});

TEST(ListShapes, Flattened) {
  ExactRoom room;
  const std::string lists = pack(elementCode({LogicalKind::kList}),
                                 {kNumbers, std::nullopt, "", pack(kInteger, {integer(1)})});
  EXPECT_EQ(text(flattenedList(room, List(lists))), "[7, NULL, 9, 1]");
  EXPECT_EQ(text(flattenedList(room, List(""))), "[]");
}

TEST(ListShapes, SelectedByPlacesAndMarks) {
  ExactRoom room;
  auto numbers = [](std::vector<std::optional<std::string>> values) {
    return pack(kInteger, values);
  };
  const std::string places = numbers({integer(3), integer(0), integer(1), integer(4), integer(3)});
  EXPECT_EQ(text(selectedElements(room, List(kNumbers), List(places))), "[9, NULL, 7, NULL, 9]");
  const std::string marks = numbers({integer(0), integer(1), integer(1), integer(1)});
  EXPECT_EQ(text(markedElements(room, List(kNumbers), List(marks))), "[NULL, 9, NULL]");
  const std::string unknown = numbers({integer(1), std::nullopt});
  EXPECT_EQ(text(selectedElements(room, List(kNumbers), List(unknown))), "none");
  EXPECT_EQ(text(markedElements(room, List(kNumbers), List(unknown))), "none");
}

TEST(ListShapes, Resized) {
  ExactRoom room;
  const std::string filling = pack(kInteger, {integer(5)}), null = pack(kInteger, {std::nullopt});
  auto resized = [&](int64_t size, const std::string &by) {
    return text(resizedList(room, List(kNumbers), size, List(by)));
  };
  EXPECT_EQ(resized(5, filling), "[7, NULL, 9, 5, 5]");
  EXPECT_EQ(resized(4, null), "[7, NULL, 9, NULL]");
  EXPECT_EQ(resized(1, filling), "[7]");
  EXPECT_EQ(resized(0, filling), "[]");
  EXPECT_EQ(resized(-1, filling), "none");
  EXPECT_EQ(resized(int64_t{1} << 32, filling), "none");
}

TEST(ListShapes, Repeated) {
  ExactRoom room;
  EXPECT_EQ(text(repeatedList(room, List(kNumbers), 2)), "[7, NULL, 9, 7, NULL, 9]");
  EXPECT_EQ(text(repeatedList(room, List(kNumbers), 0)), "[]");
  EXPECT_EQ(text(repeatedList(room, List(kNumbers), -1)), "[]");
  EXPECT_EQ(text(repeatedList(room, List(""), INT64_MAX)), "[]");
}

} // namespace
} // namespace headrace
