// Insertion, growth and forgetting.
#include "runtime/exec/group/group_copy.h"

#include "runtime/exec/rows/field_values.h"

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

/// Without a call for most rows: the two ends, which may overlap.
template <size_t Half> void copyEnds(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  std::memcpy(to, from, Half);
  std::memcpy(to + bytes - Half, from + bytes - Half, Half);
}
void copyBytes(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  if (bytes > 64 || bytes < 16) {
    std::memcpy(to, from, bytes);
  } else if (bytes > 32) {
    copyEnds<32>(to, from, bytes);
  } else {
    copyEnds<16>(to, from, bytes);
  }
}

} // namespace

Expected<std::unique_ptr<GroupCopy>> GroupCopy::create(const plan::State &state,
                                                       std::shared_ptr<MemoryAccount> account,
                                                       uint64_t expected, Copies copies) {
  std::unique_ptr<GroupCopy> copy(new GroupCopy(state, std::move(account), copies));
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

GroupCopy::GroupCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account,
                     Copies copies)
    : StateCopy(state, account), copies_(copies), rows_(account, state.rowBytes),
      identity_(state.rowBytes) {
  fillIdentity(identity_.data());
}

uint8_t *GroupCopy::insert(uint64_t hash, Status &why) {
  if (abi_.rows >= abi_.limit || rows_.next() == rows_.end()) {
    why = makeRoom();
    if (!why.ok()) {
      return nullptr;
    }
  }
  uint8_t *row = rows_.next();
  rows_.setNext(row + state_.rowBytes);
  copyBytes(row, identity_.data(), state_.rowBytes);
  std::memcpy(row, &hash, sizeof hash);
  enter(row, hash);
  ++abi_.rows;
  return row;
}

Status GroupCopy::makeRoom() {
  if (abi_.rows >= abi_.limit) {
    if (forgetsGroups()) {
      forget();
    } else {
      HR_RETURN_IF_ERROR(resize((abi_.mask + 1) * 2));
    }
  }
  return rows_.next() == rows_.end() ? rows_.grow() : Status();
}

void GroupCopy::offered(uint64_t rows) {
  constexpr uint64_t kTellingRows = 1 << 12;
  offered_ += rows;
  if (rows >= kTellingRows) {
    allNew_ = copies_ == Copies::kSeveral && (rowCount() - rowsBefore_) * 20 >= rows * 19;
  }
  rowsBefore_ = rowCount();
}

/// Of the rows since the directory began, at most two in five were of a group that it did not have;
/// or so many of the last morsel that a larger directory would find next to nothing, and the copies
/// are merged anyway.
/// Not beyond the groups that are expected in all: what is so in a file's begin only would take
/// memory without end.
bool GroupCopy::forgetsGroups() const {
  const bool inRuns = abi_.mask + 1 == kEntriesMax && abi_.rows * 5 <= offered_ * 2;
  return state_.mergeKernel != plan::kNone && abi_.mask + 1 >= kEntriesMax && (inRuns || allNew_) &&
         rowCount() + abi_.limit <= state_.rows.expected;
}

void GroupCopy::enter(uint8_t *row, uint64_t hash) {
  uint64_t slot = hash & abi_.mask;
  while (abi_.directory[slot] != 0) {
    slot = (slot + 1) & abi_.mask;
  }
  abi_.directory[slot] = reinterpret_cast<uint64_t>(row) | (hash >> kPointerBits << kPointerBits);
}

void GroupCopy::forget() {
  forgotten_ += std::exchange(abi_.rows, 0);
  offered_ = 0;
  setEntries(kEntriesMax); // of a directory that is larger, the first ones
  std::memset(abi_.directory, 0, kEntriesMax * 8);
}

void GroupCopy::setEntries(uint64_t entries) {
  abi_.mask = entries - 1;
  abi_.limit = entries / 2;
}

Status GroupCopy::resize(uint64_t entries) {
  HR_ASSIGN_OR_RETURN(Block block, account_->allocate(static_cast<int64_t>(entries * 8)));
  std::memset(block.data(), 0, entries * 8);
  directory_ = std::move(block);
  abi_.directory = reinterpret_cast<uint64_t *>(directory_.data());
  setEntries(entries);
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
  rowsBefore_ = 0;
}

uint8_t *insertGroup(HrGroupTable *table, uint64_t hash, Status &why) {
  return static_cast<GroupCopy *>(static_cast<StateCopy *>(table->owner))->insert(hash, why);
}

} // namespace headrace::exec
