// Files that can and that cannot be written.
#include "runtime/base/writable_file.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace headrace {
namespace {

namespace fs = std::filesystem;

TEST(WritableFile, NothingIsLeftBehindAndWhatIsThereStays) {
  fs::path folder = fs::path(testing::TempDir()) / "writable";
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "there") << "kept";
  EXPECT_TRUE(checkWritable(folder / "new", "the trace").ok());
  EXPECT_TRUE(checkWritable(folder / "there", "the trace").ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  EXPECT_EQ(fs::file_size(folder / "there"), 4u);
}

TEST(WritableFile, AFolderThatIsMissingOrRefusesIsAnError) {
  Status missing = checkWritable("/no/such/folder/t.json", "the trace");
  EXPECT_EQ(missing.kind(), ErrorKind::kIo);
  EXPECT_EQ(missing.message(),
            "cannot write the trace: /no/such/folder/t.json: No such file or directory");
  EXPECT_FALSE(checkWritable("/proc/t.json", "the trace").ok());
  EXPECT_EQ(checkWritable("/tmp", "the result").message(),
            "cannot write the result: /tmp: Is a directory");
}

} // namespace
} // namespace headrace
