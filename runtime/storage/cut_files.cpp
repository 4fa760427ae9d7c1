// The handler looks through a list that only grows, with atomics alone: it may run at any
// instruction.
#include "runtime/storage/cut_files.h"

#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace headrace::storage {
namespace {

using Entry = GuardedMapping::Entry;

std::atomic<Entry *> entries{nullptr};
std::mutex entriesMutex; ///< of those who add and remove; the handler does without
struct sigaction before;

/// Zeros from the faulting page to the end of the mapping: the file has nothing there any more.
bool fillWithZeros(const char *address) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (Entry *entry = entries.load(std::memory_order_acquire); entry; entry = entry->next) {
    const char *begin = entry->begin.load(std::memory_order_acquire);
    const char *end = begin + entry->bytes.load(std::memory_order_relaxed);
    if (!begin || address < begin || address >= end) {
      continue;
    }
    entry->cut.store(true, std::memory_order_release);
    auto first = reinterpret_cast<uintptr_t>(address) / page * page;
    auto *from = reinterpret_cast<char *>(first);
    return mmap(from, static_cast<size_t>(end - from), PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

void onBusError(int signal, siginfo_t *info, void *context) {
  if (fillWithZeros(static_cast<const char *>(info->si_addr))) {
    return; // and the instruction is tried again
  }
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    sigaction(SIGBUS, &before, nullptr); // the instruction faults again, and that is the end
  }
}

void installHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
  });
}

Entry *freeEntry() {
  for (Entry *entry = entries.load(std::memory_order_relaxed); entry; entry = entry->next) {
    if (!entry->begin.load(std::memory_order_relaxed)) {
      return entry;
    }
  }
  auto *entry = new Entry; // kept for the next mapping
  entry->next = entries.load(std::memory_order_relaxed);
  entries.store(entry, std::memory_order_release);
  return entry;
}

} // namespace

GuardedMapping::GuardedMapping(const void *begin, size_t bytes) {
  installHandler();
  std::lock_guard lock(entriesMutex);
  entry_ = freeEntry();
  entry_->cut.store(false, std::memory_order_relaxed);
  entry_->bytes.store(bytes, std::memory_order_relaxed);
  entry_->begin.store(static_cast<const char *>(begin), std::memory_order_release);
}

GuardedMapping::~GuardedMapping() {
  std::lock_guard lock(entriesMutex);
  entry_->begin.store(nullptr, std::memory_order_release);
}

} // namespace headrace::storage
