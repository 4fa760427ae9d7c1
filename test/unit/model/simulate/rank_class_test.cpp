// Ranks that differ are classes of their own, and all ranks together are so many as there are.
#include "model/simulate/rank_class.h"

#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

/// 1,000 nodes of two ranks.
topology::Topology thousandNodes() {
  nlohmann::json document = topology::smallTopology();
  document["instances"][0]["count"] = 1000;
  return *topology::parseTopology(document.dump());
}

std::vector<RankClass> classesOf(const Division &division) {
  Graph graph;
  Expected<Classes> made = makeClasses(thousandNodes(), division, graph);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made->classes;
}

std::vector<std::string> textsOf(const Division &division) {
  std::vector<std::string> texts;
  for (const RankClass &each : classesOf(division)) {
    texts.push_back(each.ranks);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(RankClass, equal_ranks_are_one_class) {
  EXPECT_EQ(textsOf({2000}), (Texts{"ranks 0-1 ×1000"}));
  EXPECT_EQ(textsOf({2}), (Texts{"ranks 0-1"}));
  EXPECT_EQ(textsOf({1}), (Texts{"rank 0"}));
  EXPECT_EQ(textsOf({5}), (Texts{"ranks 0-1 ×2", "rank 4"})); // a node that is filled in part
}

TEST(RankClass, those_that_differ_are_others) {
  EXPECT_EQ(textsOf({2000, {{.first = 5, .count = 1, .speed = 0.5}}}),
            (Texts{"ranks 0-1 ×2", "rank 4", "rank 5", "ranks 6-7 ×997"}));
  EXPECT_EQ(textsOf({2000, {{.first = 1000, .count = 1000, .rows = 3}}}),
            (Texts{"ranks 0-1 ×500", "ranks 1000-1001 ×500"}));
}

TEST(RankClass, weights_are_against_the_mean_rank) {
  // 1,999 ranks of one part and one of 2: 2,001 parts.
  const std::vector<RankClass> classes =
      classesOf({2000, {{.first = 0, .count = 1, .speed = 0.5, .rows = 2}}});
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_DOUBLE_EQ(classes[0].rows, 2 * 2000.0 / 2001);
  EXPECT_DOUBLE_EQ(classes[1].weight(Weight::kRows), 2000.0 / 2001);
  EXPECT_DOUBLE_EQ(classes[0].weight(Weight::kSpeed), 0.5 * 2000 / 1999.5);
  EXPECT_DOUBLE_EQ(classes[0].keys, 1);
  // Keys that follow the speed: 1,999.5 parts.
  const std::vector<RankClass> moved =
      classesOf({2000, {{.first = 0, .count = 1, .speed = 0.5}}, /*keysBySpeed=*/true});
  EXPECT_DOUBLE_EQ(moved[0].keys, 0.5 * 2000 / 1999.5);
  EXPECT_DOUBLE_EQ(moved[2].keys, 2000 / 1999.5);
}

TEST(RankClass, resources_are_a_ranks_own_and_links_the_nodes) {
  Graph graph;
  const Classes made = *makeClasses(
      thousandNodes(), {.ranks = 2000, .skews = {{.first = 0, .speed = 0.5}}, .memoryBytes = 4e8},
      graph);
  ASSERT_EQ(made.classes.size(), 3u);
  EXPECT_EQ(made.runs.size(), 2u);
  EXPECT_EQ(made.links.size(), 2u);
  EXPECT_DOUBLE_EQ(graph.resources[made.classes[0].memory].capacity, 2.5e9);
  EXPECT_DOUBLE_EQ(graph.resources[made.classes[1].memory].capacity, 5e9);
  EXPECT_NE(made.classes[0].memory, made.classes[1].memory);
  EXPECT_EQ(graph.tiers[made.classes[0].tier].bytes, 4e8);
  EXPECT_EQ(made.classes[0].storage, kNone);
}

TEST(RankClass, what_makes_no_sense_is_refused) {
  auto error = [](const Division &division) {
    Graph graph;
    return makeClasses(thousandNodes(), division, graph).status().message();
  };
  EXPECT_EQ(error({2001}), "topology small has 2000 ranks, got 2001");
  EXPECT_EQ(error({0}), "topology small has 2000 ranks, got 0");
  EXPECT_EQ(error({2, {{.first = 0, .speed = 0}}}),
            "a skew needs a positive speed and no negative rows or keys, got 0, 1, 1");
}

} // namespace
} // namespace headrace::simulate
