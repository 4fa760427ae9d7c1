// The kernels: plain C++ against the ABI.
#include "test/unit/exec/test_kernels.h"

#include "runtime/abi/imports.h"
#include "runtime/primitives/hash/hash.h"

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace headrace::exec {

uint64_t testHash(uint64_t key) {
  key += 0x9e3779b97f4a7c15ull;
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
  key = (key ^ key >> 27) * 0x94d049bb133111ebull;
  return key ^ key >> 31;
}

namespace {

const int64_t *column(const HrArgs *args, size_t index) {
  return static_cast<const int64_t *>(args->morsel->columns[index].segments[0].data);
}
int64_t field(const uint8_t *row, size_t offset) {
  int64_t value;
  std::memcpy(&value, row + offset, sizeof value);
  return value;
}
/// Wraps around, as compiled sums of integers do that are not checked.
void addField(uint8_t *row, size_t offset, int64_t more) {
  auto value = static_cast<uint64_t>(field(row, offset)) + static_cast<uint64_t>(more);
  std::memcpy(row + offset, &value, sizeof value);
}
void setField(uint8_t *row, size_t offset, int64_t value) {
  std::memcpy(row + offset, &value, sizeof value);
}

/// Where a resumable kernel stands, in its scratch.
struct Position {
  uint64_t row;
  const uint8_t *chain;
  uint64_t inChain;
};
Position &position(HrWorker *worker) { return *reinterpret_cast<Position *>(worker->scratch); }

/// Appends two integers to an output; false: it is full.
bool emitPair(HrWorker *worker, uint32_t output, int64_t a, int64_t b) {
  HrOutput &out = worker->outputs[output];
  if (out.rows == out.capacity) {
    worker->fullOutput = output;
    return false;
  }
  static_cast<int64_t *>(out.columns[0].data)[out.rows] = a;
  static_cast<int64_t *>(out.columns[1].data)[out.rows] = b;
  ++out.rows;
  return true;
}

/// Emits two fields of every state row, resumably.
int32_t emitFields(const HrArgs *args, HrWorker *worker, size_t a, size_t b) {
  for (uint64_t &i = position(worker).row; i < args->morsel->rows; ++i) {
    const uint8_t *row = args->morsel->stateRows[i];
    if (!emitPair(worker, 0, field(row, a), field(row, b))) {
      return HR_OUTPUT_FULL;
    }
  }
  return HR_DONE;
}

int32_t sum(const HrArgs *args, HrWorker *) {
  uint8_t *row = static_cast<HrScalarState *>(args->states[0])->row;
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    addField(row, 0, column(args, 0)[i]);
    addField(row, 8, 1);
  }
  return HR_DONE;
}
int32_t mergeSum(const HrArgs *args, HrWorker *) {
  uint8_t *row = static_cast<HrScalarState *>(args->states[0])->row;
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    addField(row, 0, field(args->morsel->stateRows[i], 0));
    addField(row, 8, field(args->morsel->stateRows[i], 8));
  }
  return HR_DONE;
}
int32_t emitSum(const HrArgs *args, HrWorker *worker) { return emitFields(args, worker, 0, 8); }

int32_t addToGroup(HrGroupTable *table, HrWorker *worker, int64_t key, int64_t value) {
  uint64_t hash = testHash(static_cast<uint64_t>(key));
  for (uint64_t slot = hash & table->mask; table->directory[slot] != 0;
       slot = (slot + 1) & table->mask) {
    uint64_t entry = table->directory[slot];
    auto *row = reinterpret_cast<uint8_t *>(entry & ((uint64_t(1) << 48) - 1));
    if (entry >> 48 == hash >> 48 && field(row, 8) == key) {
      addField(row, 16, value);
      return HR_DONE;
    }
  }
  uint8_t *row = worker->imports->hr_group_insert_(worker, table, hash);
  if (!row) {
    return HR_ERROR;
  }
  setField(row, 8, key);
  addField(row, 16, value);
  return HR_DONE;
}
int32_t group(const HrArgs *args, HrWorker *worker) {
  auto *table = static_cast<HrGroupTable *>(args->states[0]);
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    if (addToGroup(table, worker, column(args, 0)[i], column(args, 1)[i]) != HR_DONE) {
      return HR_ERROR;
    }
  }
  return HR_DONE;
}
int32_t mergeGroup(const HrArgs *args, HrWorker *worker) {
  auto *table = static_cast<HrGroupTable *>(args->states[0]);
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    const uint8_t *row = args->morsel->stateRows[i];
    if (addToGroup(table, worker, field(row, 8), field(row, 16)) != HR_DONE) {
      return HR_ERROR;
    }
  }
  return HR_DONE;
}
int32_t emitGroup(const HrArgs *args, HrWorker *worker) { return emitFields(args, worker, 8, 16); }

int32_t build(const HrArgs *args, HrWorker *worker) {
  auto *buffer = static_cast<HrRowBuffer *>(args->states[0]);
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    if (buffer->next == buffer->end && worker->imports->hr_rows_grow_(worker, buffer) != HR_OK) {
      return HR_ERROR;
    }
    uint8_t *row = buffer->next;
    int64_t key = column(args, 0)[i];
    setField(row, 8, static_cast<int64_t>(testHash(static_cast<uint64_t>(key))));
    setField(row, 16, key);
    setField(row, 24, column(args, 1)[i]);
    buffer->next += buffer->rowBytes;
    ++buffer->rows;
  }
  return HR_DONE;
}

/// The head of a key's chain, or null.
const uint8_t *chainOf(const HrJoinTable *table, int64_t key) {
  constexpr uint64_t kPointer = (uint64_t(1) << 48) - 1;
  uint64_t slot = static_cast<uint64_t>(key - table->base);
  if (table->ranks) {
    uint64_t word = slot < table->extent ? table->ranks[slot / 32] : 0;
    uint64_t before = word & ((uint64_t(1) << slot % 32) - 1);
    uint64_t entry = (word >> 32) + static_cast<uint64_t>(std::popcount(before));
    return word >> slot % 32 & 1 ? reinterpret_cast<const uint8_t *>(table->directory[entry])
                                 : nullptr;
  }
  if (table->extent > 0) {
    return slot < table->extent ? reinterpret_cast<const uint8_t *>(table->directory[slot])
                                : nullptr;
  }
  uint64_t hash = testHash(static_cast<uint64_t>(key));
  uint64_t entry = table->directory[hash >> table->shift];
  bool tagged = entry >> (48 + (hash >> 12 & 15)) & 1;
  return tagged ? reinterpret_cast<const uint8_t *>(entry & kPointer) : nullptr;
}
int32_t probe(const HrArgs *args, HrWorker *worker) {
  const auto *table = static_cast<const HrJoinTable *>(args->states[0]);
  Position &at = position(worker);
  if (at.row == 0) { // the first call: only these eight bytes come zeroed
    at.inChain = 0;
    at.row = 1;
  }
  for (; at.row <= args->morsel->rows; ++at.row, at.inChain = 0) {
    int64_t key = column(args, 0)[at.row - 1];
    if (at.inChain == 0) {
      at.chain = chainOf(table, key);
      at.inChain = 1;
    }
    for (; at.chain; at.chain = reinterpret_cast<const uint8_t *>(field(at.chain, 0))) {
      if (field(at.chain, 16) == key && !emitPair(worker, 0, key, field(at.chain, 24))) {
        return HR_OUTPUT_FULL;
      }
    }
  }
  return HR_DONE;
}

int32_t partition(const HrArgs *args, HrWorker *worker) {
  for (uint64_t &i = position(worker).row; i < args->morsel->rows; ++i) {
    int64_t key = column(args, 0)[i];
    const uint64_t hash = testHash(static_cast<uint64_t>(key));
    const uint32_t target =
        worker->keyBounds ? primitives::rankOfHash(hash, worker->keyBounds, worker->outputCount)
                          : primitives::rankOfHash(hash, worker->outputCount);
    if (!emitPair(worker, target, key, column(args, 1)[i])) {
      return HR_OUTPUT_FULL;
    }
  }
  return HR_DONE;
}
int32_t copy(const HrArgs *args, HrWorker *worker) {
  for (uint64_t &i = position(worker).row; i < args->morsel->rows; ++i) {
    if (!emitPair(worker, 0, column(args, 0)[i], column(args, 1)[i])) {
      return HR_OUTPUT_FULL;
    }
  }
  return HR_DONE;
}
int32_t fail(const HrArgs *args, HrWorker *worker) {
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    if (column(args, 0)[i] == 13) {
      worker->error = HrError{HR_ERROR_DIVISION_BY_ZERO, 1, args->morsel->firstRow + i};
      return HR_ERROR;
    }
  }
  return copy(args, worker);
}

/// Long work on a worker, while the rank's thread waits.
int32_t slow(const HrArgs *args, HrWorker *worker) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  return copy(args, worker);
}

int32_t sortRows(const HrArgs *args, HrWorker *worker) {
  auto *buffer = static_cast<HrRowBuffer *>(args->states[0]);
  for (uint32_t i = 0; i < args->morsel->rows; ++i) {
    if (buffer->next == buffer->end && worker->imports->hr_rows_grow_(worker, buffer) != HR_OK) {
      return HR_ERROR;
    }
    setField(buffer->next, 0, column(args, 0)[i]);
    buffer->next += buffer->rowBytes;
    ++buffer->rows;
  }
  return HR_DONE;
}
int32_t emitSort(const HrArgs *args, HrWorker *worker) { return emitFields(args, worker, 0, 0); }

int32_t describe(const HrArgs *args, HrWorker *worker) {
  HrOutput &out = worker->outputs[0];
  for (uint64_t &i = position(worker).row; i < args->morsel->rows; ++i) {
    int64_t key = column(args, 0)[i];
    bool valid = key % 3 != 0;
    std::string text = valid ? "row " + std::to_string(key) : "";
    if (out.rows == out.capacity) {
      worker->fullOutput = 0;
      return HR_OUTPUT_FULL;
    }
    HrOutputColumn &strings = out.columns[1];
    if (strings.heapUsed + text.size() > strings.heapCapacity &&
        worker->imports->hr_output_grow_(worker, 0, 1, text.size()) != HR_OK) {
      return HR_ERROR;
    }
    if (!text.empty()) {
      std::memcpy(strings.heap + strings.heapUsed, text.data(), text.size());
    }
    strings.heapUsed += static_cast<uint32_t>(text.size());
    static_cast<uint32_t *>(strings.data)[out.rows + 1] = strings.heapUsed;
    strings.validity[out.rows] = valid;
    static_cast<int64_t *>(out.columns[0].data)[out.rows] = key;
    static_cast<uint8_t *>(out.columns[2].data)[out.rows] = key & 1;
    ++out.rows;
  }
  return HR_DONE;
}
int32_t undescribe(const HrArgs *args, HrWorker *worker) {
  const HrSegment &strings = args->morsel->columns[1].segments[0];
  const HrSegment &bools = args->morsel->columns[2].segments[0];
  const auto *offsets = static_cast<const uint32_t *>(strings.data);
  for (uint64_t &i = position(worker).row; i < args->morsel->rows; ++i) {
    bool valid = !strings.validity || (strings.validity[i / 8] >> (i % 8) & 1);
    int64_t number = -1;
    if (valid) {
      std::string text(strings.heap + offsets[i], strings.heap + offsets[i + 1]);
      number = std::atoll(text.c_str() + 4);
    }
    int64_t odd = static_cast<const uint8_t *>(bools.data)[i / 8] >> (i % 8) & 1;
    if (!emitPair(worker, 0, column(args, 0)[i], number * 2 + odd)) {
      return HR_OUTPUT_FULL;
    }
  }
  return HR_DONE;
}
int32_t twice(const HrArgs *args, HrWorker *) {
  const auto *from = static_cast<const double *>(args->morsel->columns[0].segments[0].data);
  auto *to = static_cast<double *>(const_cast<void *>(args->morsel->columns[1].segments[0].data));
  int64_t columns = static_cast<const int64_t *>(args->literals)[1];
  auto first = static_cast<int64_t>(args->morsel->firstRow) * columns;
  for (int64_t i = first; i < first + args->morsel->rows * columns; ++i) {
    to[i] = 2 * from[i];
  }
  return HR_DONE;
}

int32_t misbehave(const HrArgs *args, HrWorker *worker) {
  switch (column(args, 0)[0]) {
  case 1:
    return 77;
  case 2:
    worker->fullOutput = 9;
    return HR_OUTPUT_FULL;
  default:
    return HR_ERROR;
  }
}

template <typename F> void *address(F *function) { return reinterpret_cast<void *>(function); }

} // namespace

std::shared_ptr<const KernelLibrary> testKernels() {
  return KernelLibrary::fromFunctions({{"sum", address(sum)},
                                       {"merge_sum", address(mergeSum)},
                                       {"emit_sum", address(emitSum)},
                                       {"group", address(group)},
                                       {"merge_group", address(mergeGroup)},
                                       {"emit_group", address(emitGroup)},
                                       {"build", address(build)},
                                       {"probe", address(probe)},
                                       {"partition", address(partition)},
                                       {"copy", address(copy)},
                                       {"fail", address(fail)},
                                       {"slow", address(slow)},
                                       {"misbehave", address(misbehave)},
                                       {"sort", address(sortRows)},
                                       {"emit_sort", address(emitSort)},
                                       {"describe", address(describe)},
                                       {"undescribe", address(undescribe)},
                                       {"twice", address(twice)}});
}

} // namespace headrace::exec
