// Insertion, growth and forgetting.
#include "runtime/exec/group/group_copy.h"

#include "runtime/exec/window/field_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace headrace::exec {
namespace {

constexpr uint64_t kPointerBits = 48;
/// Of the first directory: 64 KiB to 1 MiB, which caches of cores hold.
constexpr uint64_t kEntriesMin = 1 << 13;
constexpr uint64_t kEntriesMax = 1 << 17;
/// So many rows before it is entered the entry of a row is asked for.
constexpr uint64_t kAhead = 16;

} // namespace

Expected<std::unique_ptr<GroupCopy>> GroupCopy::create(const plan::State &state,
                                                       std::shared_ptr<MemoryAccount> account,
                                                       uint64_t expected) {
  std::unique_ptr<GroupCopy> copy(new GroupCopy(state, std::move(account)));
  copy->abi_.owner = static_cast<StateCopy *>(copy.get());
  // For the groups that are expected, as far as they are cheap to be wrong about; with less memory
  // it grows later.
  const uint64_t wanted =
      std::clamp(std::bit_ceil(std::min(expected, kEntriesMax) * 2), kEntriesMin, kEntriesMax);
  if (wanted == kEntriesMin || !copy->resize(wanted).ok()) {
    HR_RETURN_IF_ERROR(copy->resize(kEntriesMin));
  }
  return copy;
}

Expected<uint8_t *> GroupCopy::insert(uint64_t hash) {
  if (abi_.rows >= abi_.limit) {
    if (groupsComeInRuns()) {
      forget();
    } else {
      HR_RETURN_IF_ERROR(resize((abi_.mask + 1) * 2));
    }
  }
  HR_ASSIGN_OR_RETURN(uint8_t *row, rows_.append());
  fillIdentity(row);
  std::memcpy(row, &hash, sizeof hash);
  enter(row, hash);
  ++abi_.rows;
  return row;
}

/// Of the rows since the directory began, at most two in five were of a group that it did not have.
/// Not beyond the groups that are expected in all: what comes in runs in a file's begin only would
/// take memory without end.
bool GroupCopy::groupsComeInRuns() const {
  return state_.mergeKernel != plan::kNone && abi_.mask + 1 == kEntriesMax &&
         abi_.rows * 5 <= offered_ * 2 && rowCount() + abi_.limit <= state_.rows.expected;
}

void GroupCopy::enter(uint8_t *row, uint64_t hash) {
  uint64_t slot = hash & abi_.mask;
  while (abi_.directory[slot] != 0) {
    slot = (slot + 1) & abi_.mask;
  }
  abi_.directory[slot] = reinterpret_cast<uint64_t>(row) | (hash >> kPointerBits << kPointerBits);
}

void GroupCopy::forget() {
  std::memset(abi_.directory, 0, (abi_.mask + 1) * 8);
  forgotten_ += std::exchange(abi_.rows, 0);
  offered_ = 0;
}

Status GroupCopy::resize(uint64_t entries) {
  HR_ASSIGN_OR_RETURN(Block block, account_->allocate(static_cast<int64_t>(entries * 8)));
  std::memset(block.data(), 0, entries * 8);
  directory_ = std::move(block);
  abi_.directory = reinterpret_cast<uint64_t *>(directory_.data());
  abi_.mask = entries - 1;
  abi_.limit = entries / 2;
  uint64_t skip = forgotten_;
  for (const RowSpan &span : rows_.spans()) {
    const uint64_t skipped = std::min(skip, span.count);
    skip -= skipped;
    auto hashOf = [&](uint64_t i) { return loadAs<uint64_t>(span.rows + i * rows_.rowBytes()); };
    for (uint64_t i = skipped; i < span.count; ++i) {
      if (i + kAhead < span.count) {
        __builtin_prefetch(&abi_.directory[hashOf(i + kAhead) & abi_.mask], 1);
      }
      enter(span.rows + i * rows_.rowBytes(), hashOf(i));
    }
  }
  return {};
}

void GroupCopy::dropDirectory() {
  directory_.reset();
  abi_.directory = nullptr;
}

void GroupCopy::dropRows() {
  dropDirectory();
  rows_ = RowStore(account_, state_.rowBytes);
  abi_.rows = 0;
  forgotten_ = 0;
}

Expected<uint8_t *> insertGroup(HrGroupTable *table, uint64_t hash) {
  return static_cast<GroupCopy *>(static_cast<StateCopy *>(table->owner))->insert(hash);
}

} // namespace headrace::exec
