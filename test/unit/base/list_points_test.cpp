// Lists that are points: distances, products and angles that are known exactly.
// Sources: runtime/base/list_points.cpp
#include "packed_lists.h"

#include <cmath>

namespace headrace {
namespace {

const ElementCode kSingle = elementCode({LogicalKind::kF32});

class ListPoints : public testing::Test {
protected:
  /// A point, which lives as long as the test.
  List point(const std::vector<double> &coordinates, ElementCode code = kReal) {
    std::vector<std::optional<std::string>> elements;
    for (const double each : coordinates) {
      elements.emplace_back(ElementBytes::ofReal(code, each).view());
    }
    return listOfText(pack(code, elements));
  }
  List listOfText(const std::string &bytes) {
    return List(
        room.make(bytes.size(), [&](char *to) { return std::ranges::copy(bytes, to).out; }));
  }
  static std::string text(const MaybeList &list) { return list ? listText(list->bytes) : "none"; }

  ExactRoom room;
};

TEST_F(ListPoints, OfPoints) {
  const List x = point({1, 2, 2}), y = point({1, 5, -2});
  EXPECT_EQ(text(distanceOf(room, x, y)), "[5.0]");
  EXPECT_EQ(text(innerProduct(room, x, y, 1)), "[7.0]");
  EXPECT_EQ(text(innerProduct(room, x, y, -1)), "[-7.0]");
  EXPECT_EQ(text(crossProduct(room, x, y)), "[-14.0, 4.0, 3.0]");
  EXPECT_EQ(text(cosineOf(room, x, point({2, 4, 4}))), "[1.0]");
  EXPECT_EQ(text(cosineOf(room, point({0, 3}), point({4, 0}))), "[0.0]");
  EXPECT_EQ(text(cosineDistance(room, x, point({-1, -2, -2}))), "[2.0]");
}

TEST_F(ListPoints, SumsOfManyCoordinatesTakeEachOnce) {
  std::vector<double> ones, places;
  for (int size = 0; size <= 50; ++size) { // around the lanes that are summed side by side
    EXPECT_EQ(text(innerProduct(room, point(ones), point(places), 1)),
              text(point({size * (size + 1) / 2.0})));
    ones.push_back(1);
    places.push_back(size + 1);
  }
}

TEST_F(ListPoints, FloatsAreComputedAsFloats) {
  const List x = point({1e30, 0}, kSingle), y = point({0, 0}, kSingle);
  EXPECT_EQ(text(distanceOf(room, x, y)), "[inf]"); // its square does not fit
  EXPECT_EQ(distanceOf(room, x, y)->view.code(), kSingle);
  EXPECT_EQ(text(innerProduct(room, point({0.1}, kSingle), point({3}, kSingle), 1)),
            text(point({0.1F * 3.0F}, kSingle)));
}

TEST_F(ListPoints, NeitherMinusZeroNorSignsOfNan) {
  const std::string zero = pack(kReal, {real(0)}), nan = pack(kReal, {real(std::nan(""))});
  EXPECT_EQ(innerProduct(room, point({0}), point({1}), -1)->bytes, zero);
  EXPECT_EQ(cosineOf(room, point({0}), point({1}))->bytes, nan);
}

TEST_F(ListPoints, WhatIsNoPoint) {
  const List two = point({1, 2}), three = point({1, 2, 3}), none = point({});
  const List null = listOfText(pack(kReal, {real(1), std::nullopt}));
  EXPECT_EQ(text(distanceOf(room, two, three)), "none");
  EXPECT_EQ(text(innerProduct(room, two, null, 1)), "none");
  EXPECT_EQ(text(crossProduct(room, two, two)), "none");
  EXPECT_EQ(text(cosineOf(room, none, none)), "[]");
  EXPECT_EQ(text(distanceOf(room, none, none)), "[0.0]");
}

} // namespace
} // namespace headrace
