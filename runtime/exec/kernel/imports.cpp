// Imports that touch states, outputs and the memory of a lane; the rest comes from the primitives.
#include "runtime/exec/kernel/imports.h"

#include "runtime/base/check.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/text_functions.h"
#include "runtime/exec/chunk/chunk.h"
#include "runtime/exec/group/group_copy.h"
#include "runtime/exec/rows/state_copy.h"
#include "runtime/exec/work/worker_context.h"
#include "runtime/primitives/fill.h"
#include "runtime/primitives/string/string.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

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
  Status why;
  uint8_t *row = insertGroup(table, hash, why);
  if (row == nullptr) {
    failImport(worker, HR_ERROR_MEMORY, why);
  }
  return row;
}

int32_t rowsGrow(HrWorker *worker, HrRowBuffer *buffer) { return finish(worker, growRows(buffer)); }

int32_t stringKeep(HrWorker *worker, void *owner, HrString *text) {
  return finish(worker, static_cast<StateCopy *>(owner)->keep(text));
}

/// The buffer of a call in a kernel, which grows in the arena of the morsel.
class BufferRoom final : public TextRoom {
public:
  BufferRoom(HrWorker *worker, HrTextBuffer *buffer) : worker_(worker), buffer_(buffer) {}

  /// Of what could not be made.
  int32_t error() const { return error_; }

private:
  char *take(uint64_t bytes) override {
    if (bytes > kBytesMax) {
      error_ = failImport(worker_, HR_ERROR_OVERFLOW,
                          makeError(ErrorKind::kData, "a text or list larger than 4 GiB"));
      return nullptr;
    }
    if (bytes > buffer_->capacity || !buffer_->data) {
      uint64_t capacity = std::max<uint64_t>({bytes, 2 * buffer_->capacity, 256});
      Expected<uint8_t *> memory = WorkerContext::of(worker_).arena.allocate(
          static_cast<int64_t>(capacity + HR_PADDING), 64);
      if (!memory.ok()) {
        error_ = failImport(worker_, HR_ERROR_MEMORY, memory.status());
        return nullptr;
      }
      *buffer_ = {*memory, capacity};
    }
    return reinterpret_cast<char *>(buffer_->data);
  }

  HrWorker *worker_;
  HrTextBuffer *buffer_;
  int32_t error_ = HR_OK;
};

/// The bytes of an empty text.
constexpr uint8_t kNoText[HR_PADDING] = {};

int32_t text(HrWorker *worker, HrTextBuffer *buffer, int32_t number,
             const HrTextArgument *arguments, int32_t count, HrTextResult *out) {
  if (*worker->stop != 0) { // the rows of a tile may take long together
    return HR_ERROR_RAISED; // nobody looks at it
  }
  constexpr int32_t kFew = 4;
  const TextFunction &function = textFunction(number);
  TextValue few[kFew];
  std::vector<TextValue> many;
  TextValue *given = few;
  if (count > kFew) {
    many.resize(static_cast<size_t>(count));
    given = many.data();
  }
  for (int32_t i = 0; i < count; ++i) {
    if (function.wantsInteger(static_cast<size_t>(i))) {
      given[i].number = arguments[i].number;
    } else {
      const HrString &text = *arguments[i].text;
      given[i].text = {reinterpret_cast<const char *>(text.data), text.length};
    }
  }
  BufferRoom room(worker, buffer);
  TextValue value;
  out->none = function.evaluate(room, {given, static_cast<size_t>(count)}, value) ? 0 : 1;
  if (function.givesText()) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(value.text.data());
    out->text =
        primitives::makeString(bytes ? bytes : kNoText, static_cast<uint32_t>(value.text.size()));
  } else {
    out->number = value.number;
  }
  return room.error();
}

int32_t textKeep(HrWorker *worker, HrTextBuffer *buffer, HrString *text) {
  BufferRoom room(worker, buffer);
  const std::string_view kept = room.make(text->length, [&](char *to) {
    std::memmove(to, text->data, text->length);
    return to + text->length;
  });
  if (!kept.empty()) {
    text->data = reinterpret_cast<const uint8_t *>(kept.data());
  }
  return room.error();
}

int32_t listAppend(HrWorker *worker, HrTextBuffer *buffer, const HrString *list, HrString *lists) {
  if (list->length == 0) {
    return HR_OK;
  }
  BufferRoom room(worker, buffer);
  const uint64_t bytes = uint64_t{lists->length} + sizeof(uint32_t) + list->length;
  const std::string_view all = room.make(bytes, [&](char *to) {
    if (lists->length != 0 && to != reinterpret_cast<const char *>(lists->data)) { // it grew
      std::memcpy(to, lists->data, lists->length);
    }
    to += lists->length;
    std::memcpy(to, &list->length, sizeof(uint32_t));
    std::memcpy(to + sizeof(uint32_t), list->data, list->length);
    return to + sizeof(uint32_t) + list->length;
  });
  if (room.error() == HR_OK) {
    lists->length = static_cast<uint32_t>(all.size());
    lists->data = reinterpret_cast<const uint8_t *>(all.data());
  }
  return room.error();
}

int32_t listJoin(HrWorker *worker, HrTextBuffer *buffer, const HrString *lists, HrString *out) {
  BufferRoom room(worker, buffer);
  const List all = joinedParts(room, {reinterpret_cast<const char *>(lists->data), lists->length});
  const auto *bytes = reinterpret_cast<const uint8_t *>(all.bytes.data());
  *out = primitives::makeString(bytes ? bytes : kNoText, static_cast<uint32_t>(all.bytes.size()));
  return room.error();
}

int32_t listBegin(HrWorker *worker, HrTextBuffer *buffer, int64_t code, int64_t size,
                  HrString *list) {
  BufferRoom room(worker, buffer);
  const auto type = static_cast<ElementCode>(code);
  const auto count = static_cast<uint64_t>(size);
  const std::string_view made = room.make(ListWriter::bytesOf(type, count, 0), [&](char *to) {
    const ListWriter head(to, type, static_cast<uint32_t>(count));
    return to + ListWriter::bytesOf(type, count, 0);
  });
  *list = {static_cast<uint32_t>(made.size()), {}, reinterpret_cast<const uint8_t *>(made.data())};
  return room.error();
}

void listEnd(HrString *list, int64_t size) {
  if (size == 0) {
    *list = primitives::makeString(kNoText, 0);
    return;
  }
  auto *bytes = const_cast<uint8_t *>(list->data);
  const uint64_t length = cutList(reinterpret_cast<char *>(bytes), static_cast<uint32_t>(size));
  *list = primitives::makeString(bytes, static_cast<uint32_t>(length));
}

void *arenaAllocate(HrWorker *worker, uint64_t bytes) {
  Expected<uint8_t *> memory = WorkerContext::of(worker).arena.allocate(bytes, 64);
  if (!memory.ok()) {
    failImport(worker, HR_ERROR_MEMORY, memory.status());
    return nullptr;
  }
  return *memory;
}

uint8_t *dictionaryMap(HrWorker *worker, uint32_t number, const HrColumn *column, uint32_t bytes,
                       HrRange *todo) {
  WorkerContext &context = WorkerContext::of(worker);
  if (context.maps.size() <= number) {
    context.maps.resize(number + 1);
  }
  DictionaryMapOfLane &lane = context.maps[number];
  const bool begins = todo->begin == todo->end;
  const bool same = lane.map() && lane.map()->dictionary() != 0 &&
                    lane.map()->dictionary() == column->dictionaryId;
  if (begins && !same) {
    HR_CHECK(context.allMaps != nullptr);
    lane.set(nullptr); // its memory may be what there is for the next one
    Expected<std::shared_ptr<DictionaryMap>> found =
        context.allMaps->find(number, *column, bytes, *context.account);
    if (!found.ok()) {
      return nullptr;
    }
    lane.set(*std::move(found));
  }
  *todo = lane.map()->next(*todo);
  return lane.map()->bytes();
}

int32_t dictionaryKeep(HrWorker *worker, uint32_t number, HrString *text) {
  return WorkerContext::of(worker).maps[number].keep(*text) ? HR_OK : HR_ERROR_MEMORY;
}

void dictionaryGiveUp(HrWorker *worker, uint32_t number) {
  WorkerContext &context = WorkerContext::of(worker);
  context.maps[number].map()->giveUp();
  context.status = Status();
  worker->error.code = HR_OK;
}

int32_t outputGrow(HrWorker *worker, uint32_t output, uint32_t column, uint64_t bytes) {
  HR_CHECK(output < worker->outputCount);
  OutputChunk &chunk = *WorkerContext::of(worker).outputs[output];
  const Status grown = chunk.growHeap(column, bytes);
  if (chunk.isFull()) {
    HrOutput &filled = worker->outputs[output];
    filled.capacity = std::min(filled.capacity, filled.rows + 1);
  }
  return finish(worker, grown);
}

Expected<HrImports> makeImports() {
  HrImports table{};
  HR_ASSIGN_OR_RETURN(primitives::Isa isa, primitives::chooseIsa());
  primitives::fillPrimitiveImports(&table, isa);
  table.hr_group_insert_ = groupInsert;
  table.hr_rows_grow_ = rowsGrow;
  table.hr_string_keep_ = stringKeep;
  table.hr_text_ = text;
  table.hr_text_keep_ = textKeep;
  table.hr_list_append_ = listAppend;
  table.hr_list_join_ = listJoin;
  table.hr_list_begin_ = listBegin;
  table.hr_list_end_ = listEnd;
  table.hr_arena_allocate_ = arenaAllocate;
  table.hr_dictionary_map_ = dictionaryMap;
  table.hr_dictionary_keep_ = dictionaryKeep;
  table.hr_dictionary_give_up_ = dictionaryGiveUp;
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
