// The order in which an emulated device's operations run, its memory and its launches.
#include "runtime/device/emulated/emulation.h"

#include "runtime/base/check.h"

#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace headrace::emulated {

using namespace cuda;

namespace {
constexpr int kDelayMax = 3;      // how often an operation is passed over
constexpr int kStepsACallMax = 2; // operations that end while another call is made

/// Addresses for allocations of so many bytes, each with its guard page.
uint64_t addressBytes(int64_t memoryBytes) {
  constexpr uint64_t kPage = 4096;
  return (4 * static_cast<uint64_t>(memoryBytes) + (64 << 20)) / kPage * kPage;
}
} // namespace

Emulation *Emulation::current = nullptr;

Emulation::Emulation(EmulationOptions chosen)
    : options(chosen), random(chosen.seed), process(addressBytes(chosen.memoryBytes), chosen.seed),
      heap(process, addressBytes(chosen.memoryBytes)) {
  HR_CHECK(current == nullptr); // one emulated driver at a time
  current = this;
}

Emulation::~Emulation() {
  current = nullptr;
  for (auto [address, bytes] : pinned) {
    munmap(reinterpret_cast<void *>(address), bytes);
  }
}

// ---- errors ----

Result Emulation::begin(const char *symbol) {
  if (sticky == kSuccess && demand.times > 0 && demand.symbol == symbol &&
      demand.successes-- <= 0) {
    --demand.times;
    return isSticky(demand.result) ? stay(demand.result) : demand.result;
  }
  return sticky;
}

Result Emulation::resultOf(Outcome outcome) {
  switch (outcome) {
  case Outcome::kDone:
    return kSuccess;
  case Outcome::kNotFound:
    return kNotFound;
  case Outcome::kIllegalAddress:
    return stay(kIllegalAddress);
  case Outcome::kTrapped:
    return stay(kLaunchFailed);
  case Outcome::kTimedOut:
    return stay(kLaunchTimeout);
  }
  return stay(kUnknown);
}

// ---- streams ----

TicketRef Emulation::submit(Stream stream, std::function<Result()> act, TicketRef after) {
  Operation operation{.act = std::move(act),
                      .after = std::move(after),
                      .delay = static_cast<int>(random() % (kDelayMax + 1)),
                      .number = submitted++};
  stream->operations.push_back(std::move(operation));
  return stream->operations.back().ticket;
}

bool Emulation::step() {
  std::vector<StreamRecord *> ready;
  uint64_t earliest = UINT64_MAX;
  for (const auto &stream : streams) {
    if (!stream->operations.empty()) {
      const Operation &first = stream->operations.front();
      earliest = std::min(earliest, first.number);
      if (!first.after || first.after->done) {
        ready.push_back(stream.get());
      }
    }
  }
  if (ready.empty() || sticky != kSuccess) {
    return false;
  }
  StreamRecord &chosen = *ready[random() % ready.size()];
  if (chosen.operations.front().delay-- > 0) {
    return true;
  }
  Operation operation = std::move(chosen.operations.front());
  chosen.operations.pop_front();
  overtakings += operation.number > earliest;
  Result result = operation.act ? operation.act() : kSuccess;
  if (result != kSuccess) {
    stay(result); // what runs later has nobody else to tell
    return false;
  }
  operation.ticket->when = std::chrono::steady_clock::now();
  operation.ticket->done = true;
  return true;
}

void Emulation::passTime() {
  for (int steps = static_cast<int>(random() % (kStepsACallMax + 1)); steps > 0 && step();) {
    --steps;
  }
}

Result Emulation::runUntil(TicketRef ticket) {
  while (sticky == kSuccess && !ticket->done) {
    HR_CHECK(step() || sticky != kSuccess); // what is waited for was submitted before
  }
  return sticky;
}

Result Emulation::runAll(Stream stream) {
  return stream->operations.empty() ? sticky : runUntil(stream->operations.back().ticket);
}

// ---- memory ----

Result Emulation::allocate(Address *address, size_t bytes, Pool pool, Stream stream) {
  // Taking over what is freed in the order of streams is the harder case: often, though not needed.
  if (random() % 2 == 0) {
    if (auto taken = heap.takeOver(bytes)) {
      return settle(address, *taken, pool, stream);
    }
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    bool fits = usedBytes + bytes <= static_cast<size_t>(options.memoryBytes) &&
                (pool->limitBytes == 0 || pool->usedBytes + bytes <= pool->limitBytes);
    if (fits) {
      if (auto taken = heap.take(bytes)) {
        return settle(address, *taken, pool, stream);
      }
    }
    if (auto taken = heap.takeOver(bytes)) {
      return settle(address, *taken, pool, stream);
    }
    for (const TicketRef &freed : std::exchange(frees_, {})) {
      if (Result result = runUntil(freed); result != kSuccess) {
        return result;
      }
    }
  }
  return kOutOfMemory;
}

Result Emulation::settle(Address *address, DeviceHeap::Taken taken, Pool pool, Stream stream) {
  DeviceHeap::Tenant *tenant = taken.tenant;
  usedBytes += tenant->bytes;
  pool->usedBytes += tenant->bytes;
  owners_[tenant] = pool;
  submit(stream, [this, tenant] { return resultOf(heap.open(*tenant)); }, taken.after);
  *address = tenant->address;
  return kSuccess;
}

Result Emulation::free(Address address, Stream stream) {
  DeviceHeap::Tenant *tenant = heap.find(address);
  if (tenant == nullptr) {
    return kInvalidValue;
  }
  TicketRef ticket = submit(stream, [this, tenant] {
    if (!tenant->open) {
      return kIllegalAddress; // freed before it is allocated, in the order of streams
    }
    auto owner = owners_.find(tenant);
    usedBytes -= tenant->bytes;
    owner->second->usedBytes -= tenant->bytes;
    owners_.erase(owner);
    return resultOf(heap.close(*tenant));
  });
  heap.retire(*tenant, ticket);
  frees_.push_back(std::move(ticket));
  return kSuccess;
}

bool Emulation::isPinned(uint64_t address, size_t bytes) const {
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin()) {
    return false;
  }
  auto [first, size] = *std::prev(after);
  return address + bytes <= first + size;
}

Result Emulation::copyNow(uint64_t target, uint64_t source, size_t bytes) {
  auto reach = [&](uint64_t address) -> std::byte * {
    if (heap.contains(address)) {
      return heap.isOpen(address, bytes) ? heap.alias(address) : nullptr;
    }
    return isPinned(address, bytes) ? reinterpret_cast<std::byte *>(address) : nullptr;
  };
  std::byte *to = reach(target), *from = reach(source);
  if (to == nullptr || from == nullptr) {
    return stay(kIllegalAddress);
  }
  std::memmove(to, from, bytes);
  return kSuccess;
}

Result Emulation::fillNow(uint64_t target, int value, size_t bytes) {
  if (!heap.isOpen(target, bytes)) {
    return stay(kIllegalAddress);
  }
  std::memset(heap.alias(target), value, bytes);
  return kSuccess;
}

// ---- kernels ----

Result Emulation::launchNow(const KernelCall &call) {
  return resultOf(process.launch(call.function->module, call.function->symbol, call.blocks,
                                 call.threads, call.arguments));
}

} // namespace headrace::emulated
