// Compiled kernels: a shared object from memory, or functions of this process (tests).
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace headrace::exec {

/// Purpose: finds symbols of kernels. Ownership: keeps the object loaded; shared by programs.
/// Thread-safety: full once made. A kernel object imports no symbol: it exports hr_abi_version
/// (uint32_t), hr_imports_hash (uint64_t) and hr_set_imports(const HrImports *), which is called
/// once here.
class KernelLibrary {
public:
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  /// The object's bytes, which never touch a disk. They are code, and loading runs it: the caller
  /// knows that they are whole and whose they are. Errors: kIo if they cannot be loaded, kCorrupt
  /// if they are no kernels, kMismatch if they were built against another ABI or catalogue.
  static Expected<std::shared_ptr<const KernelLibrary>> fromBytes(std::span<const uint8_t> bytes);
  /// Functions of this process, by symbol. They must reach the imports through HrWorker.
  static std::shared_ptr<const KernelLibrary>
  fromFunctions(std::map<std::string, void *> functions);

  /// The kernels for GPUs that were compiled beside the others; empty: none.
  std::span<const std::byte> deviceImage() const;

  /// Null if there is no such symbol.
  void *find(const std::string &symbol) const;

private:
  KernelLibrary() = default;
  static Expected<std::shared_ptr<const KernelLibrary>> load(int file);
  void *handle_ = nullptr;
  /// Kept open while loaded: the loader takes two objects of one path, so of one descriptor, for
  /// the same.
  int file_ = -1;
  std::map<std::string, void *> functions_;
};

} // namespace headrace::exec
