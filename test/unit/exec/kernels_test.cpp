// Kernel objects from memory; what is not one is refused.
#include "runtime/exec/kernel/kernels.h"

#include <dlfcn.h>
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
  auto nothing = KernelLibrary::fromBytes({});
  EXPECT_EQ(nothing.status().message().find("cannot load kernels: "), 0u);
  auto libm = KernelLibrary::fromBytes(bytesOf("/lib/x86_64-linux-gnu/libm.so.6"));
  EXPECT_EQ(libm.status().message(), "not a kernel object: hr_abi_version, hr_imports_hash or "
                                     "hr_set_imports is missing");
}

TEST(Kernels, ObjectsOfAnotherBuildAreRefused) {
  const std::vector<uint8_t> sound = bytesOf(KERNEL_OBJECT);
  auto library = KernelLibrary::fromBytes(sound);
  ASSERT_TRUE(library.ok());
  // The object with another constant under this name.
  auto changed = [&](const char *name) {
    void *constant = (*library)->find(name);
    Dl_info object{};
    EXPECT_NE(dladdr(constant, &object), 0);
    auto offset = static_cast<const char *>(constant) - static_cast<const char *>(object.dli_fbase);
    std::vector<uint8_t> bytes = sound;
    bytes[offset] ^= 1;
    return KernelLibrary::fromBytes(bytes).status().message();
  };
  EXPECT_EQ(changed("hr_abi_version").find("kernels of ABI version "), 0u);
  EXPECT_EQ(changed("hr_imports_hash"),
            "kernels were compiled against another catalogue of imports; recompile");
}

} // namespace
} // namespace headrace::exec
