// Compiled kernels in a folder: found as they were put, and not where anybody could have changed
// them.
#include "passes/driver/object_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace headrace::driver {
namespace {

namespace fs = std::filesystem;

class ObjectCache : public testing::Test {
protected:
  ObjectCache() {
    std::string pattern = testing::TempDir() + "objects-XXXXXX";
    root = ::mkdtemp(pattern.data());
    folder = root / "in" / "it";
  }
  ~ObjectCache() override { fs::remove_all(root); }
  static std::string found(const lower::ObjectCache &cache, const std::string &key) {
    std::vector<char> object;
    return cache.find(key, &object) ? std::string(object.begin(), object.end()) : "none";
  }
  fs::path root, folder;
  const std::vector<char> object{'\n', '\0', 'x'};
  const std::string text{object.begin(), object.end()};
};

TEST_F(ObjectCache, what_was_put_is_found) {
  const lower::ObjectCache cache = objectCache(folder);
  EXPECT_EQ(found(cache, "key"), "none");
  cache.put("key", object);
  EXPECT_EQ(found(cache, "key"), text);
  EXPECT_EQ(found(objectCache(folder), "key"), text);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1); // nothing is left beside it
  cache.put("key", {'y'});
  EXPECT_EQ(found(cache, "key"), "y");
}

TEST_F(ObjectCache, a_damaged_object_is_not_found) {
  const lower::ObjectCache cache = objectCache(folder);
  cache.put("key", object);
  const fs::path file = folder / "key.o";
  std::ifstream reading(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(reading), {}};
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_EQ(found(cache, "key"), "none") << byte;
    std::ofstream(file, std::ios::binary) << whole.substr(0, byte);
    EXPECT_EQ(found(cache, "key"), "none") << byte;
  }
  std::ofstream(file, std::ios::binary) << whole;
  EXPECT_EQ(found(cache, "key"), text);
}

TEST_F(ObjectCache, the_folder_is_this_users_alone) {
  objectCache(folder).put("key", object);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  ::chmod(folder.c_str(), 0755); // others could read: then they no longer can
  EXPECT_EQ(found(objectCache(folder), "key"), text);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  ::chmod(folder.c_str(), 0777); // others could write
  EXPECT_FALSE(objectCache(folder).find);
  EXPECT_FALSE(objectCache(folder).put);
}

TEST_F(ObjectCache, neither_a_link_nor_a_file_is_a_folder) {
  fs::create_directories(folder);
  fs::create_symlink(folder, root / "link");
  std::ofstream(root / "file") << "x";
  for (const std::string &other :
       {(root / "link").string(), (root / "file").string(), std::string()}) {
    EXPECT_FALSE(objectCache(other).find) << other;
  }
}

} // namespace
} // namespace headrace::driver
