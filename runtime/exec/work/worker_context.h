// What the imports find behind HrWorker.arena: the memory of the lane that runs the kernel.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/exec/memory/memory_account.h"
#include "runtime/exec/work/dictionary_maps.h"

namespace headrace::exec {

class OutputChunk;

/// One per lane. Not shared between threads at a time.
struct WorkerContext {
  explicit WorkerContext(const std::shared_ptr<MemoryAccount> &account,
                         DictionaryMaps *allMaps = nullptr)
      : account(account), arena(account), allMaps(allMaps) {}

  std::shared_ptr<MemoryAccount> account;
  BumpArena arena;                       ///< hr_arena_allocate; reset at the end of a morsel
  DictionaryMaps *allMaps;               ///< of the lanes of a task that scans
  std::vector<DictionaryMapOfLane> maps; ///< hr_dictionary_map, by number
  OutputChunk *const *outputs = nullptr; ///< behind HrWorker.outputs, for hr_output_grow
  Status status;                         ///< why an import failed, beside HrWorker.error

  static WorkerContext &of(HrWorker *worker) {
    return *static_cast<WorkerContext *>(worker->arena);
  }
};

/// Records why an import failed; the first reason stays. Returns the error code.
int32_t failImport(HrWorker *worker, HrErrorCode code, const Status &status);

} // namespace headrace::exec
