// Finishing of join tables (directory of chains, or direct array) and of sort buffers.
#include "runtime/exec/rank_state.h"

#include "model/plan/names.h"
#include "runtime/base/check.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace headrace::exec {
namespace {

constexpr uint64_t kPointerMask = (uint64_t(1) << 48) - 1;
/// How many rows ahead of the one that is chained its entry is fetched: the exchange of a head
/// waits for all that went before, so nothing else overlaps.
constexpr uint64_t kAhead = 16;
/// Directory entries that one morsel clears.
constexpr uint64_t kClearEntries = 1 << 18;

int64_t readKey(const uint8_t *at, HrType type) {
  switch (type) {
  case HR_I8:
    return *reinterpret_cast<const int8_t *>(at);
  case HR_I16: {
    int16_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  case HR_I32: {
    int32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  default: {
    int64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  }
}

/// Puts a row at the head of its chain; several workers do so at once.
void chain(uint64_t &entry, uint8_t *row, uint64_t tag) {
  std::atomic_ref<uint64_t> head(entry);
  uint64_t seen = head.load(std::memory_order_relaxed);
  uint64_t wanted;
  do {
    uint64_t next = seen & kPointerMask;
    std::memcpy(row, &next, sizeof next);
    wanted = reinterpret_cast<uint64_t>(row) | (seen & ~kPointerMask) | tag;
  } while (!head.compare_exchange_weak(seen, wanted, std::memory_order_release,
                                       std::memory_order_relaxed));
}

} // namespace

Status RankState::enterSpan(const RowSpan &span) {
  // NULL matches nothing: rows with such a key are there for joins that keep the build side.
  std::vector<uint32_t> validOffsets;
  for (const plan::StateField &field : state_.fields) {
    if (field.nullable && field.combine == plan::Combine::kKey) {
      validOffsets.push_back(field.validOffset);
    }
  }
  auto hasNull = [&](const uint8_t *row) {
    return std::any_of(validOffsets.begin(), validOffsets.end(),
                       [&](uint32_t offset) { return row[offset] == 0; });
  };
  auto hashOf = [](const uint8_t *row) {
    uint64_t hash;
    std::memcpy(&hash, row + 8, sizeof hash);
    return hash;
  };
  for (uint64_t i = 0; i < span.count; ++i) {
    uint8_t *row = span.rows + i * state_.rowBytes;
    if (i + kAhead < span.count) {
      __builtin_prefetch(&join_.directory[hashOf(row + kAhead * state_.rowBytes) >> join_.shift],
                         1);
    }
    if (!validOffsets.empty() && hasNull(row)) {
      continue;
    }
    uint64_t hash = hashOf(row);
    chain(join_.directory[hash >> join_.shift], row, uint64_t(1) << (48 + (hash >> 12 & 15)));
  }
  return {};
}

Status RankState::enterSpanDirect(const RowSpan &span) {
  const plan::StateField *key = nullptr;
  for (const plan::StateField &field : state_.fields) {
    if (field.offset == state_.directKeyOffset) {
      key = &field;
    }
  }
  auto valueOf = [this](const uint8_t *row) {
    return readKey(row + state_.directKeyOffset, state_.directKeyType);
  };
  auto slotOf = [this](int64_t value) {
    return static_cast<uint64_t>(value) - static_cast<uint64_t>(state_.base);
  };
  for (uint64_t i = 0; i < span.count; ++i) {
    uint8_t *row = span.rows + i * state_.rowBytes;
    if (i + kAhead < span.count) {
      uint64_t ahead = slotOf(valueOf(row + kAhead * state_.rowBytes));
      __builtin_prefetch(&join_.directory[ahead < state_.extent ? ahead : 0], 1);
    }
    if (key && key->nullable && row[key->validOffset] == 0) {
      continue; // NULL matches nothing; the row stays for joins that keep the build side
    }
    int64_t value = valueOf(row);
    uint64_t slot = slotOf(value);
    if (slot >= state_.extent) {
      return makeError(ErrorKind::kMismatch,
                       "join key outside the range that the statistics promised; "
                       "recompile with fresh statistics, got ",
                       value);
    }
    chain(join_.directory[slot], row, 0);
  }
  return {};
}

void RankState::addJoinPhases(PhasedJob &job) {
  job.add([this]() -> Expected<JobPhase> {
    uint64_t rows = 0;
    for (StateCopy *copy : filledCopies()) {
      rows += copy->rowCount();
    }
    uint64_t entries = state_.direct ? state_.extent : std::bit_ceil(std::max<uint64_t>(rows, 2));
    HR_ASSIGN_OR_RETURN(directory_, account_->allocate(static_cast<int64_t>(entries * 8)));
    join_.directory = reinterpret_cast<uint64_t *>(directory_.data());
    join_.shift = state_.direct ? 0 : 64 - static_cast<uint64_t>(std::bit_width(entries) - 1);
    join_.rows = rows;
    join_.direct = state_.direct;
    join_.base = state_.base;
    join_.extent = state_.direct ? state_.extent : 0;
    join_.owner = nullptr;
    auto morsels = static_cast<int64_t>((entries + kClearEntries - 1) / kClearEntries);
    return JobPhase{morsels, [this, entries](int, int64_t morsel) {
                      uint64_t first = static_cast<uint64_t>(morsel) * kClearEntries;
                      std::memset(join_.directory + first, 0,
                                  std::min(kClearEntries, entries - first) * 8);
                      return Status();
                    }};
  });
  job.add([this]() -> Expected<JobPhase> {
    std::vector<RowSpan> spans;
    for (StateCopy *copy : filledCopies()) {
      std::vector<RowSpan> more = copy->spans();
      spans.insert(spans.end(), more.begin(), more.end());
    }
    auto morsels = static_cast<int64_t>(spans.size());
    return JobPhase{morsels, [this, spans = std::move(spans)](int, int64_t morsel) {
                      return state_.direct ? enterSpanDirect(spans[morsel])
                                           : enterSpan(spans[morsel]);
                    }};
  });
}

} // namespace headrace::exec
