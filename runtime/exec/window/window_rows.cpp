// Divide by samples, sort and compute range by range, then what was larger than a range.
#include "runtime/exec/window/window_rows.h"

#include "runtime/exec/sort/sort_copy.h"

#include <algorithm>
#include <utility>

namespace headrace::exec {
namespace {

/// Entries of a range: sorted within a worker's cache.
constexpr uint64_t kRangeRows = 16384;
constexpr uint64_t kRangesMax = 8192;
constexpr uint64_t kSamplesOfRange = 16;
/// What each worker divides is cut into so many morsels.
constexpr size_t kMorselsOfWorker = 8;
/// A part of a large partition has at least so many rows, ...
constexpr uint64_t kPartRows = 65536;
/// ... and of all rows each worker gets about so many parts.
constexpr uint64_t kPartsOfWorker = 1;
/// How far ahead rows are fetched: they lie anywhere.
constexpr size_t kAhead = 16;

} // namespace

WindowRows::WindowRows(const plan::State &state, std::shared_ptr<MemoryAccount> account,
                       int workers)
    : state_(state), account_(account), order_(state),
      needsPeers_(WindowFunctions::needPeers(state)), entries_(account), rangeIds_(account),
      places_(std::move(account)), workers_(static_cast<size_t>(workers)) {}

void WindowRows::addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies) {
  addPhase(job, [this, copies = std::move(copies)] { return divide(copies()); });
  addPhase(job, [this] { return scatter(); });
  addPhase(job, [this] { return sortRanges(); });
  addPhase(job, [this] { return listLarge(); });
  addPhase(job, [this] { return numberLarge(); });
  addPhase(job, [this] { return totalLarge(); });
  addPhase(job, [this] { return computeLarge(); });
}

Status WindowRows::unlessMemory(const Status &status) {
  if (status.kind() != ErrorKind::kMemory || state_.limit > 0) {
    return status;
  }
  lacksMemory_.store(true, std::memory_order_relaxed);
  return {};
}

void WindowRows::addPhase(PhasedJob &job, std::function<Expected<JobPhase>()> phase) {
  job.add([this, phase = std::move(phase)]() -> Expected<JobPhase> {
    if (lacksMemory()) {
      return JobPhase{};
    }
    Expected<JobPhase> made = phase();
    if (!made.ok()) {
      HR_RETURN_IF_ERROR(unlessMemory(made.status()));
      return JobPhase{};
    }
    return JobPhase{made->morsels, [this, run = std::move(made->body)](int worker, int64_t morsel) {
                      return lacksMemory() ? Status() : unlessMemory(run(worker, morsel));
                    }};
  });
}

WindowRows::Worker &WindowRows::workerOf(int worker) {
  std::unique_ptr<Worker> &own = workers_[static_cast<size_t>(worker)];
  if (!own) {
    own = std::make_unique<Worker>(state_, order_, account_);
  }
  return *own;
}

std::vector<BumpArena> WindowRows::takeLists() {
  std::vector<BumpArena> lists;
  for (const std::unique_ptr<Worker> &worker : workers_) {
    if (worker) {
      lists.push_back(worker->functions.takeLists());
    }
  }
  return lists;
}

// ---- dividing ----

std::vector<unsigned __int128> WindowRows::sampleKeys(uint64_t count) const {
  std::vector<unsigned __int128> samples;
  uint64_t step = std::max<uint64_t>(count_ / count, 1);
  for (uint64_t at = 0, span = 0; at < count_; at += step) {
    while (at >= firstRows_[span] + spans_[span].count) {
      ++span;
    }
    samples.push_back(
        order_.entryOf(spans_[span].rows + (at - firstRows_[span]) * state_.rowBytes).key());
  }
  return samples;
}

template <typename Visit> void WindowRows::visitRows(int64_t morsel, const Visit &visit) const {
  for (size_t span = morselSpans_[morsel]; span < morselSpans_[morsel + 1]; ++span) {
    uint8_t *row = spans_[span].rows;
    for (uint64_t i = 0; i < spans_[span].count; ++i, row += state_.rowBytes) {
      visit(row, firstRows_[span] + i);
    }
  }
}

Expected<JobPhase> WindowRows::divide(const std::vector<StateCopy *> &copies) {
  for (StateCopy *copy : copies) {
    if (state_.limit == 0) {
      auto *own = static_cast<SortCopy *>(copy);
      if (!own->runs().empty()) {
        lacksMemory_.store(true, std::memory_order_relaxed);
        return JobPhase{};
      }
      own->releaseEntries();
    }
    for (const RowSpan &span : copy->spans()) {
      spans_.push_back(span);
      firstRows_.push_back(count_);
      count_ += span.count;
    }
  }
  if (count_ > UINT32_MAX) {
    // no test: it takes 64 GiB
    return makeError(ErrorKind::kUnsupported,
                     "a window of more than 4294967295 rows on one rank, got ", count_);
  }
  HR_RETURN_IF_ERROR(entries_.resize(count_));
  size_t morsels = std::min(spans_.size(), kMorselsOfWorker * workers_.size());
  for (size_t morsel = 0; morsel <= morsels; ++morsel) {
    morselSpans_.push_back(morsels == 0 ? 0 : spans_.size() * morsel / morsels);
  }
  uint64_t wanted = std::min(count_ / kRangeRows, kRangesMax);
  if (wanted < 2) {
    return JobPhase{};
  }
  divider_ = RangeDivider(sampleKeys(wanted * kSamplesOfRange), kSamplesOfRange, order_.isHashed());
  if (divider_.ranges() == 1) {
    return JobPhase{};
  }
  HR_RETURN_IF_ERROR(rangeIds_.resize(count_));
  HR_RETURN_IF_ERROR(places_.resize(morsels * divider_.ranges()));
  return JobPhase{static_cast<int64_t>(morsels), [this](int, int64_t morsel) {
                    uint64_t *counts = &places_[morsel * divider_.ranges()];
                    std::fill_n(counts, divider_.ranges(), 0);
                    visitRows(morsel, [&](uint8_t *row, uint64_t number) {
                      uint32_t range = divider_.rangeOf(order_.entryOf(row));
                      rangeIds_[number] = range;
                      ++counts[range];
                    });
                    return Status();
                  }};
}

Expected<JobPhase> WindowRows::scatter() {
  auto morsels = static_cast<int64_t>(morselSpans_.size()) - 1;
  if (places_.size() == 0) {
    ranges_.push_back({0, count_});
    return JobPhase{morsels, [this](int, int64_t morsel) {
                      visitRows(morsel, [&](uint8_t *row, uint64_t number) {
                        entries_[number] = order_.entryOf(row);
                      });
                      return Status();
                    }};
  }
  uint64_t place = 0;
  for (size_t range = 0; range < divider_.ranges(); ++range) {
    uint64_t begin = place;
    for (int64_t morsel = 0; morsel < morsels; ++morsel) {
      place += std::exchange(places_[morsel * divider_.ranges() + range], place);
    }
    ranges_.push_back({begin, place});
  }
  return JobPhase{morsels, [this](int, int64_t morsel) {
                    uint64_t *places = &places_[morsel * divider_.ranges()];
                    visitRows(morsel, [&](uint8_t *row, uint64_t number) {
                      entries_[places[rangeIds_[number]]++] = order_.entryOf(row);
                    });
                    return Status();
                  }};
}

// ---- ranges ----

Expected<JobPhase> WindowRows::sortRanges() {
  rangeIds_.reset();
  places_.reset();
  return JobPhase{static_cast<int64_t>(ranges_.size()), [this](int worker, int64_t range) {
                    return computeRange(workerOf(worker), static_cast<size_t>(range));
                  }};
}

Status WindowRows::computeRange(Worker &worker, size_t number) {
  Range range = ranges_[number];
  std::span<Entry> entries = entries_.span().subspan(range.begin, range.end - range.begin);
  HR_RETURN_IF_ERROR(worker.sort.sort(entries));
  // What goes over the ends of the range follows when all ranges are sorted.
  if (divider_.isCut(number)) {
    uint64_t hash = divider_.cutHash(number);
    auto own = std::partition_point(entries.begin(), entries.end(),
                                    [&](const Entry &entry) { return entry.hash <= hash; });
    entries = {own, entries.end()};
  }
  if (divider_.isCut(number + 1)) {
    uint64_t hash = divider_.cutHash(number + 1);
    auto end = std::partition_point(entries.begin(), entries.end(),
                                    [&](const Entry &entry) { return entry.hash < hash; });
    entries = {entries.begin(), end};
  }
  return computePartitions(worker, entries);
}

Status WindowRows::computePartitions(Worker &worker, std::span<Entry> entries) {
  HR_RETURN_IF_ERROR(worker.rows.resize(entries.size()));
  if (needsPeers_) {
    HR_RETURN_IF_ERROR(worker.group.resize(entries.size()));
    HR_RETURN_IF_ERROR(worker.groupBegin.resize(entries.size() + 1));
  }
  auto differs = [&](const Entry &a, const Entry &b) { return !order_.samePartition(a, b); };
  auto partitionEnd = [&](size_t begin, size_t end) {
    auto first = entries.begin() + static_cast<ptrdiff_t>(begin);
    auto last = entries.begin() + static_cast<ptrdiff_t>(end);
    auto other = std::adjacent_find(first, last, differs);
    return other == last ? end : static_cast<size_t>(other - entries.begin()) + 1;
  };
  size_t hashEnd = 0, fetched = 0;
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    bool isNewHash = begin == hashEnd;
    while (hashEnd < entries.size() && entries[hashEnd].hash == entries[begin].hash) {
      ++hashEnd;
    }
    for (; fetched < std::min(hashEnd + kAhead, entries.size()); ++fetched) {
      __builtin_prefetch(entries[fetched].row, 1);
    }
    end = partitionEnd(begin, hashEnd);
    if (end < hashEnd && isNewHash) { // rows of partitions that share a hash lie mixed
      std::sort(entries.begin() + static_cast<ptrdiff_t>(begin),
                entries.begin() + static_cast<ptrdiff_t>(hashEnd),
                [&](const Entry &a, const Entry &b) { return order_.isBeforeByKeys(a, b); });
      end = partitionEnd(begin, hashEnd);
    }
    auto rows = static_cast<uint32_t>(end - begin);
    uint32_t groups = 0;
    for (uint32_t row = 0; row < rows; ++row) {
      worker.rows[row] = entries[begin + row].row;
      if (needsPeers_) {
        if (row == 0 || !order_.arePeers(entries[begin + row - 1], entries[begin + row])) {
          worker.groupBegin[groups++] = row;
        }
        worker.group[row] = groups - 1;
      }
    }
    Partition partition{worker.rows.span().first(rows), {}, {}};
    if (needsPeers_) {
      worker.groupBegin[groups] = rows;
      partition.group = worker.group.span().first(rows);
      partition.groupBegin = worker.groupBegin.span().first(groups + 1);
    }
    HR_RETURN_IF_ERROR(worker.functions.compute(partition, {0, rows}));
  }
  return {};
}

// ---- large partitions ----

template <typename Run> JobPhase WindowRows::overParts(const Run &run) {
  std::vector<std::pair<LargePartition *, uint32_t>> parts;
  for (const std::unique_ptr<LargePartition> &large : large_) {
    for (uint32_t part = 0; part < large->parts(); ++part) {
      parts.emplace_back(large.get(), part);
    }
  }
  auto morsels = static_cast<int64_t>(parts.size());
  return JobPhase{morsels, [this, run, parts = std::move(parts)](int worker, int64_t index) {
                    return run(workerOf(worker), *parts[index].first, parts[index].second);
                  }};
}

Expected<JobPhase> WindowRows::listLarge() {
  uint64_t partRows = std::max(count_ / (kPartsOfWorker * workers_.size()) + 1, kPartRows);
  for (size_t range = 1; range < ranges_.size(); ++range) {
    if (!divider_.isCut(range) ||
        (divider_.isCut(range - 1) && divider_.cutHash(range - 1) == divider_.cutHash(range))) {
      continue; // nothing goes over its beginning, or it is known
    }
    uint64_t hash = divider_.cutHash(range);
    size_t last = range;
    while (divider_.isCut(last + 1) && divider_.cutHash(last + 1) == hash) {
      ++last;
    }
    auto entries = entries_.span().subspan(ranges_[range - 1].begin,
                                           ranges_[last].end - ranges_[range - 1].begin);
    auto begin = std::partition_point(entries.begin(), entries.end(),
                                      [&](const Entry &entry) { return entry.hash < hash; });
    auto end = std::partition_point(begin, entries.end(),
                                    [&](const Entry &entry) { return entry.hash == hash; });
    if (begin == end) {
      continue;
    }
    std::span<Entry> own(begin, end);
    large_.push_back(std::make_unique<LargePartition>(
        state_, order_, own, static_cast<uint32_t>((own.size() + partRows - 1) / partRows),
        account_));
    HR_RETURN_IF_ERROR(large_.back()->prepare());
  }
  return overParts([](Worker &, LargePartition &large, uint32_t part) {
    large.list(part);
    return Status();
  });
}

Expected<JobPhase> WindowRows::numberLarge() {
  // Partitions that share a hash are rare: one worker computes them.
  auto mixed = std::make_shared<std::vector<std::unique_ptr<LargePartition>>>();
  for (std::unique_ptr<LargePartition> &large : large_) {
    if (large->isMixed()) {
      mixed->push_back(std::move(large));
    }
  }
  std::erase(large_, nullptr);
  JobPhase numbering = overParts([](Worker &, LargePartition &large, uint32_t part) {
    large.number(part);
    return Status();
  });
  auto morsels = static_cast<int64_t>(mixed->size()) + numbering.morsels;
  return JobPhase{
      morsels, [this, mixed, number = std::move(numbering.body)](int worker, int64_t index) {
        auto first = static_cast<int64_t>(mixed->size());
        return index < first ? computePartitions(workerOf(worker), (*mixed)[index]->entries())
                             : number(worker, index - first);
      }};
}

Expected<JobPhase> WindowRows::totalLarge() {
  if (!WindowFunctions::foldFromFirst(state_)) {
    return JobPhase{};
  }
  return overParts([](Worker &worker, LargePartition &large, uint32_t part) {
    return large.total(part, worker.functions);
  });
}

Expected<JobPhase> WindowRows::computeLarge() {
  return overParts([](Worker &worker, LargePartition &large, uint32_t part) {
    return large.compute(part, worker.functions);
  });
}

} // namespace headrace::exec
