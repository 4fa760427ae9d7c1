// Parts of paths, by each kind of separator.
#include "runtime/base/file_names.h"

#include <gtest/gtest.h>

namespace headrace::file_names {
namespace {

using Parts = std::vector<std::string_view>;

TEST(FileNames, OfAPath) {
  EXPECT_EQ(last("/a/b/c.tar.gz", "system"), "c.tar.gz");
  EXPECT_EQ(stem("/a/b/c.tar.gz", "system"), "c.tar");
  EXPECT_EQ(first("a/b/c", "system"), "a");
  EXPECT_EQ(folders("/a/b/c", "system"), "/a/b");
  EXPECT_EQ(parts("/a//b/c/", "system"), (Parts{"/", "a", "b", "c"}));
}

TEST(FileNames, AtTheEnds) {
  EXPECT_EQ(last("a/", "system"), "");
  EXPECT_EQ(last("c", "system"), "c");
  EXPECT_EQ(stem(".profile", "system"), "");
  EXPECT_EQ(first("/a", "system"), "/");
  EXPECT_EQ(first("c", "system"), "");
  EXPECT_EQ(folders("/", "system"), "/");
  EXPECT_EQ(folders("/c", "system"), "");
  EXPECT_EQ(folders("c", "system"), "");
  EXPECT_EQ(parts("", "system"), Parts{});
  EXPECT_EQ(parts("/", "system"), Parts{"/"});
}

TEST(FileNames, SeparatorsByName) {
  EXPECT_EQ(last("a/b\\c", "forward_slash"), "b\\c");
  EXPECT_EQ(last("a\\b/c", "backslash"), "b/c");
  EXPECT_EQ(folders("a/b\\c", "both_slash"), "a/b");
  EXPECT_EQ(parts("a/b\\c", "both_slash"), (Parts{"a", "b", "c"}));
}

} // namespace
} // namespace headrace::file_names
