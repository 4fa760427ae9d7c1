// Loads kernel objects and hands them the imports.
#include "runtime/exec/kernel/kernels.h"

#include "runtime/exec/kernel/imports.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace headrace::exec {

KernelLibrary::~KernelLibrary() {
  if (handle_) {
    dlclose(handle_);
  }
  if (file_ >= 0) {
    close(file_);
  }
}

Expected<std::shared_ptr<const KernelLibrary>> KernelLibrary::load(int file) {
  std::shared_ptr<KernelLibrary> library(new KernelLibrary());
  library->file_ = file;
  std::string path = "/proc/self/fd/" + std::to_string(file);
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle_) {
    return makeError(ErrorKind::kIo, "cannot load kernels: ", dlerror());
  }
  const auto *version = static_cast<const uint32_t *>(library->find("hr_abi_version"));
  const auto *hash = static_cast<const uint64_t *>(library->find("hr_imports_hash"));
  void *entry = library->find("hr_set_imports");
  if (!version || !hash || !entry) {
    return makeError(ErrorKind::kCorrupt, "not a kernel object: hr_abi_version, hr_imports_hash or "
                                          "hr_set_imports is missing");
  }
  if (*version != HR_ABI_VERSION) {
    return makeError(ErrorKind::kMismatch, "kernels of ABI version ", *version, ", this build has ",
                     HR_ABI_VERSION, "; recompile");
  }
  if (*hash != abi::importsHash()) {
    return makeError(ErrorKind::kMismatch,
                     "kernels were compiled against another catalogue of imports; recompile");
  }
  HR_ASSIGN_OR_RETURN(const HrImports *imports, kernelImports());
  reinterpret_cast<void (*)(const HrImports *)>(entry)(imports);
  return std::shared_ptr<const KernelLibrary>(std::move(library));
}

Expected<std::shared_ptr<const KernelLibrary>>
KernelLibrary::fromBytes(std::span<const uint8_t> bytes) {
  int file = memfd_create("headrace-kernels", MFD_CLOEXEC);
  if (file < 0) {
    return makeError(ErrorKind::kIo, "memfd_create: ", std::strerror(errno));
  }
  for (size_t written = 0; written < bytes.size();) {
    ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      Status status =
          // no test: it takes more memory than a machine has
          makeError(ErrorKind::kIo, "cannot write kernels to memory: ", std::strerror(errno));
      close(file);
      return status;
    }
    written += static_cast<size_t>(count);
  }
  return load(file);
}

std::shared_ptr<const KernelLibrary>
KernelLibrary::fromFunctions(std::map<std::string, void *> functions) {
  std::shared_ptr<KernelLibrary> library(new KernelLibrary());
  library->functions_ = std::move(functions);
  return library;
}

std::span<const std::byte> KernelLibrary::deviceImage() const {
  const auto *bytes = static_cast<const uint64_t *>(find("hr_device_image_bytes"));
  const auto *image = static_cast<const std::byte *>(find("hr_device_image"));
  return bytes && image ? std::span(image, *bytes) : std::span<const std::byte>();
}

void *KernelLibrary::find(const std::string &symbol) const {
  if (handle_) {
    return dlsym(handle_, symbol.c_str());
  }
  auto found = functions_.find(symbol);
  return found == functions_.end() ? nullptr : found->second;
}

} // namespace headrace::exec
