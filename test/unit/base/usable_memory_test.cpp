// Limits of control groups, as files of both versions have them.
#include "runtime/base/usable_memory.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

using namespace headrace;

namespace {

class UsableMemory : public ::testing::Test {
protected:
  UsableMemory()
      : root_(std::filesystem::temp_directory_path() /
              ("headrace-groups-" + std::to_string(::getpid()))) {}
  ~UsableMemory() override { std::filesystem::remove_all(root_); }

  void write(const std::string &file, const std::string &text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  const std::filesystem::path root_;
};

TEST_F(UsableMemory, OfVersionTwoTheLeastOfAllGroupsAround) {
  write("jobs/memory.max", "5000");
  write("jobs/mine/memory.max", "max");
  write("others/memory.max", "10");
  EXPECT_EQ(memoryLimitOfGroups("0::/jobs/mine\n", root_), 5000);
  write("jobs/mine/memory.max", "3000");
  EXPECT_EQ(memoryLimitOfGroups("0::/jobs/mine\n", root_), 3000);
  write("memory.max", "2000"); // of a container, which sees its own group as the root
  EXPECT_EQ(memoryLimitOfGroups("0::/\n", root_), 2000);
}

TEST_F(UsableMemory, OfVersionOne) {
  write("memory/jobs/memory.limit_in_bytes", "7000");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(memoryLimitOfGroups("9:cpuset:/\n5:hugetlb,memory:/jobs\n0::/\n", root_), 7000);
}

TEST_F(UsableMemory, NothingReadableLimitsNothing) {
  EXPECT_EQ(memoryLimitOfGroups("0::/absent\nnot a group\n", root_), INT64_MAX);
  EXPECT_EQ(memoryLimitOfGroups("", root_), INT64_MAX);
  EXPECT_GT(usableMemoryBytes(), int64_t{64} << 20);
}

} // namespace
