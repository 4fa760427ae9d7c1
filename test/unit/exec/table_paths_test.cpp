// Which files a text means by tables: files, folders, partitions, patterns, names.
#include "runtime/exec/table_paths.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace headrace::exec {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::string>;

class TablePathsTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("table_paths_" + std::to_string(getpid()));
    for (const char *name :
         {"a.parquet", "b.parquet", "notes.txt", "parts/2.parquet", "parts/1.parquet",
          "parts/readme.md", "empty/none.txt", "sales/year=2025/x.parquet",
          "sales/year=2024/month=2/y.parquet", "sales/year=2024/month=1/z.parquet"}) {
      fs::create_directories((folder / name).parent_path());
      std::ofstream(folder / name) << name;
    }
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string at(const char *name) const { return (folder / name).string(); }
  Files at(std::initializer_list<const char *> names) const {
    Files files;
    for (const char *name : names) {
      files.push_back(at(name));
    }
    return files;
  }

  /// The tables of these texts, one after another.
  Expected<TablePaths> tablesOf(std::initializer_list<std::string> texts) const {
    TablePaths tables;
    for (const std::string &text : texts) {
      HR_RETURN_IF_ERROR(addTables(tables, text));
    }
    return tables;
  }
  std::string errorOf(std::initializer_list<std::string> texts) const {
    return tablesOf(texts).status().message();
  }

  fs::path folder;
};

TEST_F(TablePathsTest, AFolderHasATableForEachFileAndFolder) {
  fs::remove_all(folder / "sales");
  auto tables = tablesOf({folder.string()});
  ASSERT_TRUE(tables.ok()) << tables.status().toString();
  EXPECT_EQ(*tables, (TablePaths{{"a", at({"a.parquet"})},
                                 {"b", at({"b.parquet"})},
                                 {"parts", at({"parts/1.parquet", "parts/2.parquet"})}}));
}

TEST_F(TablePathsTest, PartitionsMakeOneTable) {
  const Files files = at({"sales/year=2024/month=1/z.parquet", "sales/year=2024/month=2/y.parquet",
                          "sales/year=2025/x.parquet"});
  for (const std::string &text : {at("sales"), at("sales") + "/", "sales=" + at("sales")}) {
    auto tables = tablesOf({text});
    ASSERT_TRUE(tables.ok()) << tables.status().toString();
    EXPECT_EQ(*tables, (TablePaths{{"sales", files}})) << text;
  }
  // A folder that is called as a name and a path would be.
  auto one = tablesOf({at("sales/year=2025")});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(*one, (TablePaths{{"x", at({"sales/year=2025/x.parquet"})}}));
}

TEST_F(TablePathsTest, FilesAndPatterns) {
  auto tables = tablesOf({at("notes.txt"), at("[ab].parquet")});
  ASSERT_TRUE(tables.ok()) << tables.status().toString();
  EXPECT_EQ(*tables,
            (TablePaths{
                {"a", at({"a.parquet"})}, {"b", at({"b.parquet"})}, {"notes", at({"notes.txt"})}}));
}

TEST_F(TablePathsTest, ANameGathersFiles) {
  auto tables = tablesOf({"t=" + at("a.parquet"), "t=" + at("parts"), "u=" + at("*.parquet")});
  ASSERT_TRUE(tables.ok()) << tables.status().toString();
  EXPECT_EQ(tables->at("t"), at({"a.parquet", "parts/1.parquet", "parts/2.parquet"}));
  EXPECT_EQ(tables->at("u"), at({"a.parquet", "b.parquet"}));
}

TEST_F(TablePathsTest, WhatIsNoTable) {
  EXPECT_EQ(errorOf({at("none")}), "no such directory of tables: " + at("none"));
  EXPECT_EQ(errorOf({at("empty")}), "no Parquet files in: " + at("empty"));
  EXPECT_EQ(errorOf({"t=" + at("empty")}), "no Parquet files in: " + at("empty"));
  EXPECT_EQ(errorOf({"t=" + at("none.parquet")}), "no such file: " + at("none.parquet"));
  EXPECT_EQ(errorOf({"=a.parquet"}), "tables are DIR, FILE or NAME=PATH, got =a.parquet");
  EXPECT_EQ(errorOf({"t="}), "tables are DIR, FILE or NAME=PATH, got t=");
  EXPECT_EQ(errorOf({at("a.parquet"), at("a.parquet")}),
            "two tables of the same name (" + at("a.parquet") + "): a");
}

} // namespace
} // namespace headrace::exec
