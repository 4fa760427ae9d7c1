// Chains of a join table's rows, by hash or by an integer key.
#include "runtime/exec/join/join_directory.h"

#include "runtime/abi/row_pointer.h"
#include "runtime/base/check.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::exec {
namespace {

/// How many rows ahead of the one that is chained its entry is fetched: the exchange of a head
/// waits for all that went before, so nothing else overlaps, and another worker may have written to
/// the same line.
constexpr uint64_t kAhead = 16;
/// Directory entries that one morsel clears.
constexpr uint64_t kClearEntries = 1 << 18;

template <typename T> int64_t readInteger(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Calls `body` with what reads a row's slot, made for the type of the keys.
template <typename Body> Status withSlots(const plan::State &state, Body body) {
  auto call = [&]<typename T>(T) {
    return body([offset = state.directKeyOffset,
                 base = static_cast<uint64_t>(state.base)](const uint8_t *row) {
      return static_cast<uint64_t>(static_cast<int64_t>(readInteger<T>(row + offset))) - base;
    });
  };
  switch (state.directKeyType) {
  case HR_I8:
    return call(int8_t());
  case HR_I16:
    return call(int16_t());
  case HR_I32:
    return call(int32_t());
  default:
    return call(int64_t());
  }
}

/// Whether some of the rows, from the first to the last, are in the order of their slots: then what
/// they need comes one after the other, and fetching all of it ahead costs more than it saves.
template <typename SlotOf>
bool isInOrder(const RowSpan &span, uint64_t rowBytes, const SlotOf &slotOf) {
  constexpr uint64_t kSample = 16;
  uint64_t last = 0;
  for (uint64_t i = 0; i < kSample; ++i) {
    const uint64_t slot = slotOf(span.rows + i * span.count / kSample * rowBytes);
    if (slot < last) {
      return false;
    }
    last = slot;
  }
  return true;
}

/// Puts a row at the head of its chain; several workers do so at once.
void chain(uint64_t &entry, uint8_t *row, uint64_t tag) {
  std::atomic_ref<uint64_t> head(entry);
  uint64_t seen = head.load(std::memory_order_relaxed);
  uint64_t wanted;
  do {
    uint64_t next = seen & abi::kRowPointerMask;
    std::memcpy(row, &next, sizeof next);
    wanted = reinterpret_cast<uint64_t>(row) | (seen & ~abi::kRowPointerMask) | tag;
  } while (!head.compare_exchange_weak(seen, wanted, std::memory_order_release,
                                       std::memory_order_relaxed));
}

} // namespace

JoinDirectory::JoinDirectory(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : state_(state), entries_(account), ranks_(std::move(account)) {
  for (const plan::StateField &field : state_.fields) {
    if (field.nullable && field.combine == plan::Combine::kKey) {
      validOffsets_.push_back(field.validOffset);
    }
  }
}

void JoinDirectory::addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies) {
  job.add([this, copies = std::move(copies)]() -> Expected<JobPhase> {
    for (StateCopy *copy : copies()) {
      std::vector<RowSpan> more = copy->spans();
      spans_.insert(spans_.end(), more.begin(), more.end());
      table_.rows += copy->rowCount();
    }
    return JobPhase{};
  });
  switch (state_.directory) {
  case plan::Directory::kHash:
    addHashPhases(job);
    break;
  case plan::Directory::kArray:
    addArrayPhases(job);
    break;
  case plan::Directory::kRanks:
    addRankPhases(job);
    break;
  }
}

/// NULL matches nothing: rows with such a key are there for joins that keep the build side.
bool JoinDirectory::hasNull(const uint8_t *row) const {
  return std::ranges::any_of(validOffsets_, [&](uint32_t offset) { return row[offset] == 0; });
}

JobPhase JoinDirectory::eachSpan(std::function<Status(const RowSpan &)> body) const {
  return {static_cast<int64_t>(spans_.size()),
          [this, body = std::move(body)](int, int64_t morsel) { return body(spans_[morsel]); }};
}

/// Clears all entries.
JobPhase JoinDirectory::clearEntries() const {
  const uint64_t morsels = (entries_.size() + kClearEntries - 1) / kClearEntries;
  return {static_cast<int64_t>(morsels), [this](int, int64_t morsel) {
            const uint64_t first = static_cast<uint64_t>(morsel) * kClearEntries;
            const uint64_t count = std::min(kClearEntries, entries_.size() - first);
            std::ranges::fill(entries_.span().subspan(first, count), 0);
            return Status();
          }};
}

Status JoinDirectory::resizeEntries(uint64_t entries) {
  HR_RETURN_IF_ERROR(entries_.resize(entries));
  table_.directory = entries_.data();
  return {};
}

void JoinDirectory::addHashPhases(PhasedJob &job) {
  job.add([this]() -> Expected<JobPhase> {
    const uint64_t entries = std::bit_ceil(std::max<uint64_t>(table_.rows, 2));
    table_.shift = 64 - static_cast<uint64_t>(std::bit_width(entries) - 1);
    HR_RETURN_IF_ERROR(resizeEntries(entries));
    return clearEntries();
  });
  job.add([this]() -> Expected<JobPhase> {
    return eachSpan([this](const RowSpan &span) { return chainByHash(span); });
  });
}

Status JoinDirectory::chainByHash(const RowSpan &span) {
  auto hashOf = [](const uint8_t *row) {
    uint64_t hash;
    std::memcpy(&hash, row + 8, sizeof hash);
    return hash;
  };
  for (uint64_t i = 0; i < span.count; ++i) {
    uint8_t *row = span.rows + i * state_.rowBytes;
    if (i + kAhead < span.count) {
      __builtin_prefetch(&entries_[hashOf(row + kAhead * state_.rowBytes) >> table_.shift], 1);
    }
    if (!hasNull(row)) {
      const uint64_t hash = hashOf(row);
      chain(entries_[hash >> table_.shift], row, uint64_t(1) << (48 + (hash >> 12 & 15)));
    }
  }
  return {};
}

void JoinDirectory::addArrayPhases(PhasedJob &job) {
  job.add([this]() -> Expected<JobPhase> {
    setRange();
    HR_RETURN_IF_ERROR(resizeEntries(state_.extent));
    return clearEntries();
  });
  job.add([this]() -> Expected<JobPhase> {
    return eachSpan([this](const RowSpan &span) { return chainByArray(span); });
  });
}

void JoinDirectory::setRange() {
  table_.base = state_.base;
  table_.extent = state_.extent;
}

Status JoinDirectory::chainByArray(const RowSpan &span) {
  return withSlots(state_, [&](auto slotOf) -> Status {
    for (uint64_t i = 0; i < span.count; ++i) {
      uint8_t *row = span.rows + i * state_.rowBytes;
      if (i + kAhead < span.count) {
        const uint64_t ahead = slotOf(row + kAhead * state_.rowBytes);
        __builtin_prefetch(&entries_[ahead < state_.extent ? ahead : 0], 1);
      }
      const uint64_t slot = slotOf(row);
      if (slot >= state_.extent) {
        return outside(slot);
      }
      chain(entries_[slot], row, 0);
    }
    return {};
  });
}

void JoinDirectory::addRankPhases(PhasedJob &job) {
  auto eachChunk = [this](auto body) {
    return JobPhase{static_cast<int64_t>(ranks_.chunks()), [body](int, int64_t chunk) {
                      body(static_cast<uint64_t>(chunk));
                      return Status();
                    }};
  };
  job.add([this, eachChunk]() -> Expected<JobPhase> {
    HR_RETURN_IF_ERROR(ranks_.resize(state_.extent));
    table_.ranks = ranks_.words();
    setRange();
    return eachChunk([this](uint64_t chunk) { ranks_.clear(chunk); });
  });
  job.add([this]() -> Expected<JobPhase> {
    return eachSpan([this](const RowSpan &span) { return addKeys(span); });
  });
  job.add([this, eachChunk]() -> Expected<JobPhase> {
    return eachChunk([this](uint64_t chunk) { ranks_.count(chunk); });
  });
  job.add([this, eachChunk]() -> Expected<JobPhase> {
    const uint64_t keys = ranks_.sumChunks();
    unique_ = keys == table_.rows;
    HR_RETURN_IF_ERROR(resizeEntries(keys));
    return eachChunk([this](uint64_t chunk) {
      ranks_.rank(chunk);
      if (!unique_) {
        const uint64_t first = ranks_.firstRank(chunk);
        std::ranges::fill(entries_.span().subspan(first, ranks_.firstRank(chunk + 1) - first), 0);
      }
    });
  });
  job.add([this]() -> Expected<JobPhase> {
    return eachSpan([this](const RowSpan &span) { return chainByRank(span); });
  });
}

Status JoinDirectory::outside(uint64_t slot) const {
  return makeError(ErrorKind::kMismatch,
                   "join key outside the range that the statistics promised; "
                   "recompile with fresh statistics, got ",
                   static_cast<int64_t>(slot + static_cast<uint64_t>(state_.base)));
}

Status JoinDirectory::addKeys(const RowSpan &span) {
  return withSlots(state_, [&](auto slotOf) -> Status {
    KeyRanks::Adder adder(ranks_);
    const bool inOrder = isInOrder(span, state_.rowBytes, slotOf);
    for (uint64_t i = 0; i < span.count; ++i) {
      const uint8_t *row = span.rows + i * state_.rowBytes;
      if (!inOrder && i + kAhead < span.count) {
        const uint64_t ahead = slotOf(row + kAhead * state_.rowBytes);
        __builtin_prefetch(ranks_.wordOf(ahead < state_.extent ? ahead : 0), 1);
      }
      const uint64_t slot = slotOf(row);
      if (slot >= state_.extent) {
        return outside(slot);
      }
      adder.add(slot);
    }
    return {};
  });
}

Status JoinDirectory::chainByRank(const RowSpan &span) {
  return withSlots(state_, [&](auto slotOf) -> Status {
    const bool inOrder = isInOrder(span, state_.rowBytes, slotOf);
    // An entry is found by its word, which has to be there by then.
    const uint64_t wordAhead = inOrder ? kAhead : 2 * kAhead;
    for (uint64_t i = 0; i < span.count; ++i) {
      uint8_t *row = span.rows + i * state_.rowBytes;
      if (i + wordAhead < span.count) {
        __builtin_prefetch(ranks_.wordOf(slotOf(row + wordAhead * state_.rowBytes)));
      }
      if (!inOrder && i + kAhead < span.count) {
        const uint64_t ahead = ranks_.rankOf(slotOf(row + kAhead * state_.rowBytes));
        __builtin_prefetch(&entries_[ahead], 1);
      }
      uint64_t &entry = entries_[ranks_.rankOf(slotOf(row))];
      if (unique_) {
        std::memset(row, 0, sizeof entry); // ends its chain
        entry = reinterpret_cast<uint64_t>(row);
      } else {
        chain(entry, row, 0);
      }
    }
    return {};
  });
}

} // namespace headrace::exec
