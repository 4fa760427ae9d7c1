// Kernel objects from memory; what is not one is refused.
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

std::vector<uint8_t> bytesOf(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
  return {chars.begin(), chars.end()};
}

TEST(Kernels, LoadFromMemory) {
  std::vector<uint8_t> bytes = bytesOf(KERNEL_OBJECT);
  auto first = KernelLibrary::fromBytes(bytes);
  auto second = KernelLibrary::fromBytes(bytes);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status().toString();
  EXPECT_EQ(callKernel(**first), 1971);
  EXPECT_EQ(callKernel(**second), 1971);
  EXPECT_EQ((*first)->find("nothing"), nullptr);
  EXPECT_NE((*first)->find("kernel"), (*second)->find("kernel"));
}

TEST(Kernels, OtherObjectsAreRefused) {
  EXPECT_EQ(KernelLibrary::fromBytes({}).status().kind(), ErrorKind::kIo);
  auto libm = KernelLibrary::fromBytes(bytesOf("/lib/x86_64-linux-gnu/libm.so.6"));
  EXPECT_EQ(libm.status().kind(), ErrorKind::kCorrupt);
}

} // namespace
} // namespace headrace::exec
