// What the handles of an emulated driver point to.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/driver_types.h"
#include "runtime/device/emulated/device_process.h"

namespace headrace::emulated {

/// Whether something that was submitted has been done, and when.
struct Ticket {
  bool done = false;
  std::chrono::steady_clock::time_point when = {};
};
using TicketRef = std::shared_ptr<Ticket>;

/// One entry of a stream. It runs when it is the first, `after` is done, and it has been passed
/// over `delay` times.
struct Operation {
  std::function<cuda::Result()> act; ///< may be empty
  TicketRef after;                   ///< may be null
  int delay = 0;
  uint64_t number = 0; ///< in the order of submission to any stream
  TicketRef ticket = std::make_shared<Ticket>();
};

/// A launch as it was submitted.
struct KernelCall {
  const cuda::FunctionRecord *function;
  uint32_t blocks, threads;
  uint64_t arguments[2];
};

} // namespace headrace::emulated

namespace headrace::cuda {

struct ContextRecord {};
struct ModuleRecord {
  uint32_t number;
  std::vector<std::unique_ptr<FunctionRecord>> functions;
};
struct FunctionRecord {
  uint32_t module;
  std::string symbol;
  HrEmulatedShape shape;
};
struct GraphRecord {
  std::vector<emulated::KernelCall> launches;
};
struct GraphExecRecord {
  std::vector<emulated::KernelCall> launches;
};
struct StreamRecord {
  std::deque<emulated::Operation> operations;
  std::unique_ptr<GraphRecord> recording; ///< while it is captured
};
struct SignalRecord {
  emulated::TicketRef ticket; ///< of the last record; null: never recorded
};
struct PoolRecord {
  size_t limitBytes;
  size_t usedBytes = 0;
};

} // namespace headrace::cuda
