// The three sources of morsels.
#include "runtime/exec/source/morsel_queue.h"

#include "runtime/base/check.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

namespace headrace::exec {
namespace {

/// Morsels that a scan takes without a refusal before it tries to have one more in flight.
constexpr size_t kTakenBeforeWidening = 16;

class LoadQueue final : public MorselQueue {
public:
  LoadQueue(std::shared_ptr<storage::MorselSource> source, std::shared_ptr<MorselRights> rights,
            std::shared_ptr<MemoryAccount> account, Doorbell *doorbell, ChunkOrder rank)
      : rank_(std::move(rank)), account_(std::move(account)), scans_(account_->memory().scans),
        doorbell_(doorbell), source_(std::move(source)), rights_(std::move(rights)) {}
  ~LoadQueue() override { setRefused(false); }

  Expected<std::optional<TakenMorsel>> take() override {
    size_t index;
    {
      std::lock_guard lock(mutex_);
      std::optional<size_t> next;
      if (inFlight_ < inFlightMax_) {
        next = rights_->take();
      }
      if (!next) {
        return std::optional<TakenMorsel>();
      }
      index = *next;
      ++inFlight_;
    }
    const uint64_t ended = scans_.morselsEnded;
    Expected<storage::MorselHandle> loaded = loadWithRoom(index);
    if (!loaded.ok()) {
      std::lock_guard lock(mutex_);
      --inFlight_;
      rights_->putBack(index);
      if (loaded.status().kind() != ErrorKind::kMemory || !canAskAgain(ended)) {
        return loaded.status();
      }
      return std::optional<TakenMorsel>();
    }
    rights_->settle();
    note(index);
    widen();
    TakenMorsel taken;
    taken.morsel = (*loaded)->morsel;
    taken.bytes = (*loaded)->bytes;
    taken.origins = (*loaded)->origins;
    if (ordered()) {
      taken.order = rank_;
      taken.order.push_back(static_cast<uint32_t>(index));
    }
    taken.pin =
        std::shared_ptr<const void>(loaded->get(), [this, morsel = *loaded](const void *) mutable {
          morsel.reset();
          end();
        });
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override {
    std::lock_guard lock(mutex_);
    if (refused_ && scans_.morselsEnded == refusedAt_ && scans_.lanes > 0) {
      return 0;
    }
    return std::min(rights_->left(), inFlightMax_ > inFlight_ ? inFlightMax_ - inFlight_ : 0);
  }
  bool ended() const override { return rights_->ended(); }
  bool ordered() const override { return !rank_.empty(); }
  void stop() override { rights_->stop(); }
  void again() override {
    std::lock_guard lock(mutex_);
    for (const storage::MorselRange &range : std::exchange(taken_, {})) {
      source_->expect(range);
      rights_->returnTaken(range);
    }
  }

private:
  void note(size_t index) {
    std::lock_guard lock(mutex_);
    if (taken_.empty() || taken_.back().end != index) {
      taken_.push_back({index, index});
    }
    ++taken_.back().end;
  }

  /// Rows that can wait on disk go there first.
  Expected<storage::MorselHandle> loadWithRoom(size_t index) {
    while (true) {
      Expected<storage::MorselHandle> loaded = source_->load(index, account_->reservation());
      if (loaded.ok() || loaded.status().kind() != ErrorKind::kMemory) {
        return loaded;
      }
      HR_ASSIGN_OR_RETURN(int64_t given, account_->memory().makeRoom(0));
      if (given == 0) {
        return source_->load(index, account_->reservation()); // room may have been made for others
      }
    }
  }

  /// Of a morsel, whose memory has come back.
  void end() {
    {
      std::lock_guard lock(mutex_);
      --inFlight_;
    }
    ++scans_.morselsEnded;
    if (scans_.waiting > 0) {
      doorbell_->ring();
    }
  }

  /// After a success. Memory may have become more: one morsel more is tried now and then.
  void widen() {
    std::lock_guard lock(mutex_);
    setRefused(false);
    if (++takenSinceRefusal_ % kTakenBeforeWidening == 0 &&
        inFlightMax_ < std::numeric_limits<size_t>::max()) {
      ++inFlightMax_;
    }
  }

  /// After a refusal: whether memory will come back, or has done since `ended` morsels had ended.
  bool canAskAgain(uint64_t ended) {
    takenSinceRefusal_ = 0;
    if (inFlight_ > 0 || inFlightMax_ > 1) {
      // Those under way go on alone. None is: several tried at once, so that none had room.
      inFlightMax_ = std::max<size_t>(1, inFlight_);
      return true;
    }
    setRefused(true);
    refusedAt_ = ended;
    return scans_.morselsEnded != ended || scans_.lanes > 1; // this lane is one
  }
  void setRefused(bool refused) {
    if (refused != refused_) {
      scans_.waiting += refused ? 1 : -1;
      refused_ = refused;
    }
  }

  const ChunkOrder rank_;
  std::shared_ptr<MemoryAccount> account_; ///< outlives what the source holds
  ScanTraffic &scans_;
  Doorbell *doorbell_;
  std::shared_ptr<storage::MorselSource> source_;
  std::shared_ptr<MorselRights> rights_;
  mutable std::mutex mutex_;
  std::vector<storage::MorselRange> taken_; ///< in the order in which they were loaded
  size_t inFlight_ = 0;                     ///< being loaded or worked on
  size_t inFlightMax_ = std::numeric_limits<size_t>::max();
  size_t takenSinceRefusal_ = 0;
  bool refused_ = false; ///< memory, when `refusedAt_` morsels of the rank had ended
  uint64_t refusedAt_ = 0;
};

class StreamQueue final : public MorselQueue {
public:
  StreamQueue(std::shared_ptr<ChunkStream> stream, StreamOrder order)
      : stream_(std::move(stream)), order_(order) {}

  Expected<std::optional<TakenMorsel>> take() override {
    ChunkHandle chunk = stream_->tryPop();
    if (!chunk) {
      return std::optional<TakenMorsel>();
    }
    const uint64_t firstRow = rows_.fetch_add(chunk->rows, std::memory_order_relaxed);
    return std::optional<TakenMorsel>(morselOf(std::move(chunk), firstRow));
  }
  size_t available() const override { return stream_->size(); }
  bool ended() const override { return stream_->ended(); }
  bool ordered() const override { return order_ != StreamOrder::kNone; }

private:
  std::shared_ptr<ChunkStream> stream_;
  const StreamOrder order_;
  std::atomic<uint64_t> rows_{0};
};

/// So many of a state's rows that `lanes` have work.
uint64_t morselRows(uint64_t rows, size_t lanes) {
  return std::clamp<uint64_t>(rows / (4 * lanes), 1024, 65536);
}

class StateQueue final : public MorselQueue {
public:
  StateQueue(std::shared_ptr<const RankState> state, const plan::State &described, size_t lanes,
             ChunkOrder rank)
      : state_(std::move(state)), ordered_(described.kind == plan::StateKind::kSortBuffer),
        rank_(std::move(rank)), rows_(state_->rowCount()), morselRows_(morselRows(rows_, lanes)),
        count_((rows_ + morselRows_ - 1) / morselRows_) {}

  Expected<std::optional<TakenMorsel>> take() override {
    uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= count_) {
      return std::optional<TakenMorsel>();
    }
    auto pointers = std::make_shared<std::vector<const uint8_t *>>();
    uint64_t first = index * morselRows_;
    state_->rows(first, std::min(morselRows_, rows_ - first), *pointers);
    TakenMorsel taken;
    taken.morsel.rows = static_cast<uint32_t>(pointers->size());
    taken.morsel.firstRow = first;
    taken.morsel.stateRows = pointers->data();
    if (ordered_) {
      taken.order = rank_;
      taken.order.push_back(static_cast<uint32_t>(index));
    }
    taken.pin = std::move(pointers);
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override {
    uint64_t next = next_.load(std::memory_order_relaxed);
    return next < count_ ? static_cast<size_t>(count_ - next) : 0;
  }
  bool ended() const override { return available() == 0; }
  bool ordered() const override { return ordered_; }

private:
  std::shared_ptr<const RankState> state_;
  const bool ordered_;
  const ChunkOrder rank_;
  const uint64_t rows_;
  const uint64_t morselRows_;
  const uint64_t count_;
  std::atomic<uint64_t> next_{0};
};

/// Each lane reads what it takes.
class KeptQueue final : public MorselQueue {
public:
  KeptQueue(std::shared_ptr<const RankState> state, size_t lanes)
      : state_(std::move(state)), rows_(state_->rowCount()), morselRows_(morselRows(rows_, lanes)) {
  }
  ~KeptQueue() override { state_->keptRows()->leave(next_); }

  Expected<std::optional<TakenMorsel>> take() override {
    KeptRows::Place place;
    uint64_t first;
    {
      std::lock_guard lock(mutex_);
      first = next_.load(std::memory_order_relaxed);
      if (first == rows_) {
        return std::optional<TakenMorsel>();
      }
      place = state_->keptRows()->find(first, morselRows_);
      next_.store(first + place.rows, std::memory_order_relaxed);
    }
    auto rows = std::make_shared<KeptRows::Rows>();
    HR_ASSIGN_OR_RETURN(*rows, state_->keptRows()->read(place));
    TakenMorsel taken;
    taken.morsel.rows = static_cast<uint32_t>(rows->rows.size());
    taken.morsel.firstRow = first;
    taken.morsel.stateRows = rows->rows.data();
    taken.pin = std::move(rows);
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override {
    return (rows_ - next_.load(std::memory_order_relaxed) + morselRows_ - 1) / morselRows_;
  }
  bool ended() const override { return available() == 0; }

private:
  const std::shared_ptr<const RankState> state_;
  const uint64_t rows_;
  const uint64_t morselRows_;
  std::mutex mutex_;
  std::atomic<uint64_t> next_{0};
};

/// Rows are merged by one lane at a time, and worked on by all.
class MergeQueue final : public MorselQueue {
public:
  MergeQueue(std::shared_ptr<const RankState> state, const SortedRows &sorted, ChunkOrder rank)
      : state_(std::move(state)), sorted_(sorted), rows_(sorted.rowCount()),
        ordered_(sorted.isOrdered()), rank_(std::move(rank)) {}

  Expected<std::optional<TakenMorsel>> take() override {
    std::lock_guard lock(mutex_);
    const uint64_t first = taken_.load(std::memory_order_relaxed);
    if (first == rows_) {
      return std::optional<TakenMorsel>();
    }
    if (!reader_) {
      HR_ASSIGN_OR_RETURN(reader_, sorted_.read());
    }
    auto merged = std::make_shared<MergedRows>();
    HR_RETURN_IF_ERROR(reader_->take(std::min(kMergedRows, rows_ - first), *merged));
    TakenMorsel taken;
    taken.morsel.rows = static_cast<uint32_t>(merged->rows.size());
    taken.morsel.firstRow = first;
    taken.morsel.stateRows = merged->rows.data();
    taken.order = rank_;
    taken.order.push_back(morsels_++);
    taken.pin = std::move(merged);
    taken_.store(first + taken.morsel.rows, std::memory_order_relaxed);
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override {
    return (rows_ - taken_.load(std::memory_order_relaxed) + kMergedRows - 1) / kMergedRows;
  }
  bool ended() const override { return available() == 0; }
  bool ordered() const override { return ordered_; }

private:
  static constexpr uint64_t kMergedRows = 8192;

  const std::shared_ptr<const RankState> state_; ///< has the runs
  const SortedRows &sorted_;
  const uint64_t rows_;
  const bool ordered_;
  const ChunkOrder rank_;
  std::mutex mutex_;
  std::unique_ptr<RowReader> reader_;
  uint32_t morsels_ = 0;
  std::atomic<uint64_t> taken_{0};
};

} // namespace

void MorselQueue::again() { HR_CHECK(false); }

std::unique_ptr<MorselQueue> makeLoadQueue(std::shared_ptr<storage::MorselSource> source,
                                           std::shared_ptr<MorselRights> rights,
                                           std::shared_ptr<MemoryAccount> account,
                                           Doorbell *doorbell, ChunkOrder rank) {
  return std::make_unique<LoadQueue>(std::move(source), std::move(rights), std::move(account),
                                     doorbell, std::move(rank));
}

std::unique_ptr<MorselQueue> makeStreamQueue(std::shared_ptr<ChunkStream> stream,
                                             StreamOrder order) {
  return std::make_unique<StreamQueue>(std::move(stream), order);
}

std::unique_ptr<MorselQueue> makeStateQueue(std::shared_ptr<const RankState> state,
                                            const plan::State &described, size_t lanes,
                                            ChunkOrder rank) {
  if (const SortedRows *onDisk = state->rowsOnDisk()) {
    return std::make_unique<MergeQueue>(std::move(state), *onDisk, std::move(rank));
  }
  if (state->keptRows()) {
    return std::make_unique<KeptQueue>(std::move(state), lanes);
  }
  return std::make_unique<StateQueue>(std::move(state), described, lanes, std::move(rank));
}

TakenMorsel morselOf(ChunkHandle chunk, uint64_t firstRow) {
  struct Pin {
    ChunkHandle chunk;
    ChunkView view;
  };
  auto pin = std::make_shared<Pin>(Pin{chunk, ChunkView(*chunk, firstRow)});
  TakenMorsel taken;
  taken.morsel = pin->view.morsel();
  taken.order = chunk->order;
  taken.bytes = chunk->bytes();
  taken.pin = std::move(pin);
  return taken;
}

} // namespace headrace::exec
