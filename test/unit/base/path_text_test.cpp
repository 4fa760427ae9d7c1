// "~" and patterns.
#include "runtime/base/path_text.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace headrace {
namespace {

namespace fs = std::filesystem;

class PathTextTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("path_text_" + std::to_string(getpid()));
    fs::create_directories(folder);
    for (const char *name : {"b.parquet", "a.parquet", "c.txt", "[x].parquet"}) {
      std::ofstream(folder / name) << name;
    }
    home = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("HOME", folder.c_str(), 1);
  }
  void TearDown() override {
    setenv("HOME", home.c_str(), 1);
    fs::remove_all(folder);
  }
  std::string at(const char *name) const { return (folder / name).string(); }

  fs::path folder;
  std::string home;
};

TEST_F(PathTextTest, HomeIsALeadingTilde) {
  EXPECT_EQ(homePath("~"), folder.string());
  EXPECT_EQ(homePath("~/a.parquet"), at("a.parquet"));
  EXPECT_EQ(homePath("~somebody/a"), "~somebody/a");
  EXPECT_EQ(homePath("a/~/b"), "a/~/b");
}

TEST_F(PathTextTest, PatternsComeInTheOrderOfNames) {
  EXPECT_EQ(*matchingPaths("~/?.parquet"),
            (std::vector<std::string>{at("a.parquet"), at("b.parquet")}));
}

TEST_F(PathTextTest, TwoStarsAreAnyNumberOfFolders) {
  fs::create_directories(folder / "x*" / "y");
  std::ofstream(folder / "x*" / "c.parquet");
  std::ofstream(folder / "x*" / "y" / "a.parquet");
  EXPECT_EQ(*matchingPaths("~/**/a.parquet"),
            (std::vector<std::string>{at("a.parquet"), at("x*/y/a.parquet")}));
  EXPECT_EQ(*matchingPaths("~/x*/**"),
            (std::vector<std::string>{at("x*/c.parquet"), at("x*/y/a.parquet")}));
  EXPECT_EQ(*matchingPaths("~/**/y/*.parquet"), std::vector<std::string>{at("x*/y/a.parquet")});
  EXPECT_FALSE(matchingPaths("~/**/none").ok());
}

TEST_F(PathTextTest, AFileOfThatNameIsNoPattern) {
  EXPECT_EQ(*matchingPaths("~/[x].parquet"), std::vector<std::string>{at("[x].parquet")});
}

TEST_F(PathTextTest, WhatIsNoPatternNeedNotExist) {
  EXPECT_EQ(*matchingPaths("none.parquet"), std::vector<std::string>{"none.parquet"});
}

TEST_F(PathTextTest, APatternWithoutMatchIsAnError) {
  Expected<std::vector<std::string>> none = matchingPaths("~/*.csv");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().kind(), ErrorKind::kIo);
  EXPECT_EQ(none.status().message(), "no file matches: ~/*.csv");
}

} // namespace
} // namespace headrace
