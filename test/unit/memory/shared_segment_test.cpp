// Memory that another process maps.
#include "runtime/memory/shared_segment.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/memory/block_pool.h"

using namespace headrace;

namespace {

/// Of the file's pages that exist.
int64_t pageBytes(const SharedSegment &segment) {
  int file = segment.descriptorForReading();
  struct stat about{};
  EXPECT_EQ(fstat(file, &about), 0);
  close(file);
  return about.st_blocks * 512;
}

} // namespace

TEST(SharedSegment, WhoAttachesSeesWhatIsWritten) {
  auto own = *SharedSegment::create(1 << 20);
  auto theirs = *SharedSegment::attach(own->descriptorForReading());
  std::memcpy(own->data() + 5000, "seen", 4);
  EXPECT_EQ(std::memcmp(theirs->data() + 5000, "seen", 4), 0);
  EXPECT_EQ(theirs->size(), 1 << 20);
}

TEST(SharedSegment, WhoAttachesCannotWrite) {
  auto own = *SharedSegment::create(1 << 20);
  int file = own->descriptorForReading();
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
  EXPECT_NE(ftruncate(file, 0), 0);
  close(file);
}

TEST(SharedSegment, AFileThatCouldShrinkIsRefused) {
  int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(file, 1 << 20), 0);
  EXPECT_EQ(SharedSegment::attach(file).status().message(),
            "no file to be shared: its seals are 0");
}

TEST(SharedSegment, WhatCannotBeMappedIsSaid) {
  EXPECT_EQ(SharedSegment::create(INT64_MAX / 4096 * 4096).status().kind(), ErrorKind::kIo);
  int empty = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(fcntl(empty, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  Status refused = SharedSegment::attach(empty).status();
  EXPECT_EQ(refused.message().rfind("memory of another process cannot be mapped (", 0), 0u)
      << refused.message();
}

TEST(SharedSegment, RangesComeTogetherAgain) {
  auto segment = *SharedSegment::create(1 << 20);
  std::byte *first = segment->take(300 << 10, 4096);
  std::byte *second = segment->take(300 << 10, 4096);
  std::byte *third = segment->take(300 << 10, 4096);
  EXPECT_EQ(segment->take(300 << 10, 4096), nullptr);
  segment->giveBack(first, 300 << 10);
  segment->giveBack(third, 300 << 10);
  EXPECT_EQ(segment->take(600 << 10, 4096), nullptr);
  segment->giveBack(second, 300 << 10);
  EXPECT_EQ(segment->take(1 << 20, 4096), segment->data());
}

TEST(SharedSegment, BlocksComeFromItAndTheirPagesGo) {
  auto segment = *SharedSegment::create(8 << 20);
  BlockPool pool({.capacityBytes = 8 << 20, .retainedBytesMax = 0, .segment = segment});
  {
    Block small = *pool.allocate(100 << 10);
    Block large = *pool.allocate(2 << 20);
    EXPECT_TRUE(segment->contains(small.data()) && segment->contains(large.data()));
    std::memset(small.data(), 1, 100 << 10);
    std::memset(large.data(), 1, 2 << 20);
    EXPECT_GE(pageBytes(*segment), (2 << 20) + (100 << 10));
    EXPECT_EQ(pool.allocate(8 << 20).status().kind(), ErrorKind::kMemory);
  }
  EXPECT_EQ(pageBytes(*segment), 0);
}

TEST(SharedSegment, MoreThanAFileCanHaveIsTheTypedError) {
  Status refused = SharedSegment::create(-1).status();
  EXPECT_EQ(refused.kind(), ErrorKind::kIo);
  EXPECT_NE(refused.message().find("the system has no memory to share"), std::string::npos);
}

TEST(SharedSegment, WhatIsLeftToReadersStays) {
  auto segment = *SharedSegment::create(1 << 20);
  auto theirs = *SharedSegment::attach(segment->descriptorForReading());
  std::byte *part = segment->take(4096, 4096);
  std::memcpy(part, "last words", 10);
  segment->leaveToReaders();
  segment->giveBack(part, 4096);
  segment.reset();
  EXPECT_EQ(std::memcmp(theirs->data(), "last words", 10), 0);
}
