// Packed structs and maps: order, texts, fields in and out, keys.
// Sources: runtime/base/{struct_functions,list_values,list_texts}.cpp
#include "packed_lists.h"

#include "runtime/base/text_functions.h"

#include <string>
#include <vector>

namespace headrace {
namespace {

class StructValues : public testing::Test {
protected:
  std::string_view number(std::optional<int64_t> value) {
    const int64_t code = elementCode({LogicalKind::kI64});
    return value ? listOfInteger(room, *value, code).bytes : listOfNull(room, code).bytes;
  }
  std::string_view text(std::string_view value, LogicalKind kind = LogicalKind::kString) {
    return listOfText(room, value, elementCode({kind})).bytes;
  }
  std::string_view joined(std::vector<TextValue> parts) {
    return joinedLists(room, Lists{parts}).bytes;
  }
  std::string_view pair(std::string_view first, std::string_view second) {
    const TextValue fields[] = {{first}, {second}};
    return structOf(room, Lists{fields}).bytes;
  }

  ExactRoom room;
};

LogicalType structType(std::vector<std::string> names) {
  LogicalType type{LogicalKind::kStruct};
  type.names = std::move(names);
  type.children = {{LogicalKind::kI64}, {LogicalKind::kString}};
  return type;
}

TEST_F(StructValues, FieldsComeOutAsTheyWentIn) {
  const std::string_view bytes = pair(number(-7), text("it's"));
  const List fields(bytes);
  EXPECT_EQ(fields.view.size(), 2u);
  EXPECT_EQ(integerAt(fields, 1).number, -7);
  EXPECT_EQ(elementAt(fields, 2), "it's");
  EXPECT_EQ(elementAt(fields, 3), std::nullopt);
  EXPECT_EQ(integerAt(List(pair(number(std::nullopt), text(""))), 1).number, 0);
  EXPECT_EQ(pair(number(1), text("a")), pair(number(1), text("a")));
}

TEST_F(StructValues, OrderIsByTheFirstFieldsThatDifferAndNullIsTheLargest) {
  const std::string_view rows[] = {
      pair(number(-1), text("b")), pair(number(1), text("a")), pair(number(1), text("ab")),
      pair(number(1), listOfNull(room, elementCode({LogicalKind::kString})).bytes),
      pair(number(std::nullopt), text("a"))};
  for (size_t a = 0; a < std::size(rows); ++a) {
    for (size_t b = 0; b < std::size(rows); ++b) {
      const int order = a < b ? -1 : a > b ? 1 : 0;
      EXPECT_EQ(compareElements(elementCode({LogicalKind::kStruct}), rows[a], rows[b]), order);
      const int found = orderText(room, {rows[a]}).compare(orderText(room, {rows[b]}));
      EXPECT_EQ((found > 0) - (found < 0), order) << a << " " << b;
    }
  }
}

TEST_F(StructValues, TextsHaveTheNames) {
  const std::string_view bytes = pair(number(1), text("a, b"));
  EXPECT_EQ(nestedText(bytes, shapeOf(structType({"x", "it's"}))), "{'x': 1, 'it\\'s': 'a, b'}");
  EXPECT_EQ(nestedText(bytes, shapeOf(structType({"", ""}))), "(1, 'a, b')");
  const TextValue one[] = {{number(1)}};
  LogicalType tuple{LogicalKind::kStruct};
  tuple.names = {""};
  tuple.children = {{LogicalKind::kI64}};
  EXPECT_EQ(nestedText(structOf(room, Lists{one}).bytes, shapeOf(tuple)), "(1,)");
  LogicalType list{LogicalKind::kList};
  list.children = {structType({"a", "b"})};
  EXPECT_EQ(nestedText(text(bytes, LogicalKind::kStruct), shapeOf(list)),
            "[{'a': 1, 'b': 'a, b'}]");
  EXPECT_EQ(list.text(), "list<struct<a: i64, b: string>>");
}

TEST_F(StructValues, KeysOfMapsAreUniqueAndNotNull) {
  const std::string_view keys = joined({{text("a")}, {text("b")}}),
                         values = joined({{number(1)}, {number(std::nullopt)}});
  const MaybeList entries = entriesOf(room, List(keys), List(values));
  ASSERT_TRUE(entries);
  LogicalType map{LogicalKind::kMap};
  map.children = {{LogicalKind::kString}, {LogicalKind::kI64}};
  EXPECT_EQ(nestedText(entries->bytes, shapeOf(map)), "{a=1, b=NULL}");
  EXPECT_EQ(map.text(), "map<string, i64>");
  EXPECT_EQ(fieldsOf(room, *entries, 1).bytes, keys);
  EXPECT_EQ(fieldsOf(room, *entries, 2).bytes, values);
  EXPECT_EQ(valuesAt(room, *entries, List(text("a"))).bytes, number(1));
  EXPECT_EQ(valuesAt(room, *entries, List(text("c"))).bytes, "");
  EXPECT_FALSE(entriesOf(room, List(joined({{text("a")}, {text("a")}})), List(values)));
  EXPECT_FALSE(entriesOf(room, List(keys), List(number(1))));
  EXPECT_FALSE(entriesOf(room, List(number(std::nullopt)), List(number(1))));
  EXPECT_FALSE(
      checkedEntries(room, List(listOfNull(room, elementCode({LogicalKind::kStruct})).bytes)));
  const MaybeList others = entriesOf(room, List(joined({{text("b")}, {text("c")}})),
                                     List(joined({{number(2)}, {number(3)}})));
  const TextValue maps[] = {{entries->bytes}, {others->bytes}};
  EXPECT_EQ(nestedText(mergedEntries(room, Lists{maps}).bytes, shapeOf(map)), "{a=1, b=2, c=3}");
}

} // namespace
} // namespace headrace
