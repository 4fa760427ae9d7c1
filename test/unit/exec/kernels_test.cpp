// Kernel objects from files and from memory; what is not one is refused.
#include "runtime/exec/kernels.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace headrace::exec {
namespace {

int32_t callKernel(const KernelLibrary &library) {
  auto *kernel = reinterpret_cast<int32_t (*)(const HrArgs *, HrWorker *)>(library.find("kernel"));
  return kernel ? kernel(nullptr, nullptr) : -1;
}

TEST(Kernels, LoadFromFileAndFromMemory) {
  auto fromFile = KernelLibrary::open(KERNEL_OBJECT);
  ASSERT_TRUE(fromFile.ok()) << fromFile.status().toString();
  EXPECT_EQ(callKernel(**fromFile), 1971);
  EXPECT_EQ((*fromFile)->find("nothing"), nullptr);

  std::ifstream file(KERNEL_OBJECT, std::ios::binary);
  std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
  std::vector<uint8_t> bytes(chars.begin(), chars.end());
  auto first = KernelLibrary::fromBytes(bytes);
  auto second = KernelLibrary::fromBytes(bytes);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(callKernel(**first), 1971);
  EXPECT_EQ(callKernel(**second), 1971);
  EXPECT_NE((*first)->find("kernel"), (*second)->find("kernel"));
}

TEST(Kernels, OtherObjectsAreRefused) {
  EXPECT_EQ(KernelLibrary::open("/nowhere/kernels.so").status().kind(), ErrorKind::kIo);
  EXPECT_EQ(KernelLibrary::fromBytes({}).status().kind(), ErrorKind::kIo);
  auto libc = KernelLibrary::open("/lib/x86_64-linux-gnu/libm.so.6");
  EXPECT_EQ(libc.status().kind(), ErrorKind::kCorrupt);
}

} // namespace
} // namespace headrace::exec
