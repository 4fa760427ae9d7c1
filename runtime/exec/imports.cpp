// Imports that touch states, outputs and the memory of a lane; the rest comes from the primitives.
#include "runtime/exec/imports.h"

#include "runtime/base/check.h"
#include "runtime/exec/chunk.h"
#include "runtime/exec/state_copy.h"
#include "runtime/exec/worker_context.h"
#include "runtime/primitives/fill.h"
#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace headrace::exec {

int32_t failImport(HrWorker *worker, HrErrorCode code, const Status &status) {
  WorkerContext &context = WorkerContext::of(worker);
  if (context.status.ok()) {
    context.status = status;
  }
  if (worker->error.code == HR_OK) {
    worker->error.code = code;
  }
  return code;
}

namespace {

int32_t finish(HrWorker *worker, const Status &status) {
  return status.ok() ? HR_OK : failImport(worker, HR_ERROR_MEMORY, status);
}

uint8_t *groupInsert(HrWorker *worker, HrGroupTable *table, uint64_t hash) {
  Expected<uint8_t *> row = insertGroup(table, hash);
  if (!row.ok()) {
    failImport(worker, HR_ERROR_MEMORY, row.status());
    return nullptr;
  }
  return *row;
}

int32_t rowsGrow(HrWorker *worker, HrRowBuffer *buffer) { return finish(worker, growRows(buffer)); }

int32_t stringKeep(HrWorker *worker, void *owner, HrString *text) {
  return finish(worker, static_cast<StateCopy *>(owner)->keep(text));
}

int32_t text(HrWorker *worker, HrTextBuffer *buffer, int32_t function,
             const HrString *const *operands, int32_t count, HrString *out) {
  auto what = static_cast<HrTextFunction>(function);
  if (what == HR_TEXT_TRIM || what == HR_TEXT_TRIM_START || what == HR_TEXT_TRIM_END) {
    *out = primitives::textTrimmed(what, *operands[0], *operands[1]);
    return HR_OK;
  }
  uint64_t most = primitives::textBytesMax(what, operands, count);
  if (most > buffer->capacity) {
    uint64_t capacity = std::max<uint64_t>({most, 2 * buffer->capacity, 256});
    Expected<uint8_t *> memory =
        WorkerContext::of(worker).arena.allocate(static_cast<int64_t>(capacity + HR_PADDING), 64);
    if (!memory.ok()) {
      return failImport(worker, HR_ERROR_MEMORY, memory.status());
    }
    *buffer = {*memory, capacity};
  }
  uint64_t bytes = primitives::writeText(what, operands, count, buffer->data);
  if (bytes > UINT32_MAX) {
    // no test: it takes a text of 4 GiB
    return failImport(worker, HR_ERROR_OVERFLOW,
                      makeError(ErrorKind::kData, "a string of more than 4 GiB"));
  }
  *out = primitives::makeString(buffer->data, static_cast<uint32_t>(bytes));
  return HR_OK;
}

void *arenaAllocate(HrWorker *worker, uint64_t bytes) {
  Expected<uint8_t *> memory = WorkerContext::of(worker).arena.allocate(bytes, 64);
  if (!memory.ok()) {
    failImport(worker, HR_ERROR_MEMORY, memory.status());
    return nullptr;
  }
  return *memory;
}

int32_t outputGrow(HrWorker *worker, uint32_t output, uint32_t column, uint64_t bytes) {
  HR_CHECK(output < worker->outputCount);
  return finish(worker, WorkerContext::of(worker).outputs[output]->growHeap(column, bytes));
}

Expected<HrImports> makeImports() {
  HrImports table{};
  HR_ASSIGN_OR_RETURN(primitives::Isa isa, primitives::chooseIsa());
  primitives::fillPrimitiveImports(&table, isa);
  table.hr_group_insert_ = groupInsert;
  table.hr_rows_grow_ = rowsGrow;
  table.hr_string_keep_ = stringKeep;
  table.hr_text_ = text;
  table.hr_arena_allocate_ = arenaAllocate;
  table.hr_output_grow_ = outputGrow;
  return table;
}

} // namespace

Expected<const HrImports *> kernelImports() {
  static const Expected<HrImports> table = makeImports();
  if (!table.ok()) {
    return table.status();
  }
  return &*table;
}

} // namespace headrace::exec
