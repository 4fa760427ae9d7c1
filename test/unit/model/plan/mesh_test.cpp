// A rank's part along axes of the mesh, and the ranks that a plan runs on.
#include "model/plan/mesh.h"

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

TEST(PlanMesh, RanksAreNumberedRowByRow) {
  // 2 x 3 x 4: rank 17 is at (1, 1, 1).
  MeshPosition position{{2, 3, 4}, 17};
  auto along = [&](std::vector<int32_t> axes) {
    GroupPlace place = position.along(axes);
    return std::pair(place.index, place.count);
  };
  EXPECT_EQ(along({}), std::pair(0u, 1u));
  EXPECT_EQ(along({0}), std::pair(1u, 2u));
  EXPECT_EQ(along({2}), std::pair(1u, 4u));
  EXPECT_EQ(along({0, 2}), std::pair(5u, 8u));
  EXPECT_EQ(along({2, 0}), std::pair(3u, 8u)); // the first axis is the slowest
  EXPECT_EQ(along({0, 1, 2}), std::pair(17u, 24u));
  EXPECT_EQ(position.group({}), std::vector<int>({17}));
  EXPECT_EQ(position.group(std::vector<int32_t>{0}), std::vector<int>({5, 17}));
  EXPECT_EQ(position.group(std::vector<int32_t>{2}), std::vector<int>({16, 17, 18, 19}));
  EXPECT_EQ(position.group(std::vector<int32_t>{0, 2}),
            std::vector<int>({4, 5, 6, 7, 16, 17, 18, 19}));
}

TEST(PlanMesh, OneAxisTakesAnyRanksAndSeveralTheirOwn) {
  Plan plan;
  EXPECT_EQ(*axisSizes(plan, 3), std::vector<uint32_t>{3});
  plan.mesh = {{"ranks", 8}};
  EXPECT_EQ(*axisSizes(plan, 3), std::vector<uint32_t>{3});
  EXPECT_EQ(partsAlong(plan, std::vector<int32_t>{0}, 3), 3);
  EXPECT_EQ(partsAlong(plan, {}, 3), 1);
  plan.mesh = {{"node", 2}, {"device", 4}};
  EXPECT_EQ(*axisSizes(plan, 8), (std::vector<uint32_t>{2, 4}));
  EXPECT_EQ(axisSizes(plan, 4).status().message(),
            "the plan was compiled for a mesh of 8 ranks, run it on as many or compile it again; "
            "got 4");
  EXPECT_EQ(partsAlong(plan, std::vector<int32_t>{1}, 8), 4);
}

} // namespace
} // namespace headrace::plan
