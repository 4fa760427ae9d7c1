// Copies of files count against one limit, and those that nobody reads give way.
#include "runtime/base/temporary_space.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(TemporarySpace, CopiesCountAgainstTheLimit) {
  TemporarySpace space;
  space.use("/a/folder", 100);
  EXPECT_EQ(space.directory(), "/a/folder");
  EXPECT_TRUE(space.take(60).ok());
  EXPECT_EQ(
      space.take(41).message(),
      "tables of sessions, and copies of files that are read in another form, exceed spillLimit, "
      "100 B; raise it");
  EXPECT_TRUE(space.take(40).ok());
  space.give(100);
  space.use("", 0);
  EXPECT_TRUE(space.take(int64_t{1} << 60).ok()); // what the disk has
}

TEST(TemporarySpace, UnreadCopiesGiveWay) {
  TemporarySpace space;
  space.use("", 100);
  int asked = 0;
  auto drop = std::make_shared<const std::function<void()>>([&] {
    if (asked++ == 0) {
      space.give(60);
    }
  });
  space.add(drop);
  EXPECT_TRUE(space.take(60).ok());
  EXPECT_TRUE(space.take(40).ok());
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(space.take(50).ok());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(space.copiedBytes(90), 90);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(space.copiedBytes(89), 90);
  EXPECT_EQ(asked, 2);
  drop.reset(); // gone: nobody is asked
  EXPECT_FALSE(space.take(11).ok());
  EXPECT_EQ(asked, 2);
}

} // namespace
} // namespace headrace
