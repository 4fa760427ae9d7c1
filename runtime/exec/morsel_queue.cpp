// The three sources of morsels.
#include "runtime/exec/morsel_queue.h"

#include <algorithm>

namespace headrace::exec {
namespace {

class LoadQueue final : public MorselQueue {
public:
  explicit LoadQueue(std::shared_ptr<const storage::MorselSource> source)
      : source_(std::move(source)), count_(source_->morselCount()) {}

  Expected<std::optional<TakenMorsel>> take() override {
    size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= count_) {
      return std::optional<TakenMorsel>();
    }
    HR_ASSIGN_OR_RETURN(storage::MorselHandle loaded, source_->load(index));
    TakenMorsel taken;
    taken.morsel = loaded->morsel;
    taken.bytes = loaded->bytes;
    taken.intact = loaded->intact;
    taken.pin = std::move(loaded);
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override {
    size_t next = next_.load(std::memory_order_relaxed);
    return next < count_ ? count_ - next : 0;
  }
  bool ended() const override { return available() == 0; }

private:
  std::shared_ptr<const storage::MorselSource> source_;
  const size_t count_;
  std::atomic<size_t> next_{0};
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
    struct Pin {
      ChunkHandle chunk;
      ChunkView view;
    };
    uint64_t firstRow = rows_.fetch_add(chunk->rows, std::memory_order_relaxed);
    auto pin = std::make_shared<Pin>(Pin{chunk, ChunkView(*chunk, firstRow)});
    TakenMorsel taken;
    taken.morsel = pin->view.morsel();
    taken.order = chunk->order;
    taken.bytes = chunk->bytes();
    taken.pin = std::move(pin);
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override { return stream_->size(); }
  bool ended() const override { return stream_->ended(); }
  bool ordered() const override { return order_ == StreamOrder::kKept; }

private:
  std::shared_ptr<ChunkStream> stream_;
  const StreamOrder order_;
  std::atomic<uint64_t> rows_{0};
};

class StateQueue final : public MorselQueue {
public:
  StateQueue(std::shared_ptr<const RankState> state, const plan::State &described, size_t lanes)
      : state_(std::move(state)), ordered_(described.kind == plan::StateKind::kSortBuffer),
        rows_(state_->rowCount()),
        morselRows_(std::clamp<uint64_t>(rows_ / (4 * lanes), 1024, 65536)),
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
      taken.order = {static_cast<uint32_t>(index)};
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
  const uint64_t rows_;
  const uint64_t morselRows_;
  const uint64_t count_;
  std::atomic<uint64_t> next_{0};
};

} // namespace

std::unique_ptr<MorselQueue> makeLoadQueue(std::shared_ptr<const storage::MorselSource> source) {
  return std::make_unique<LoadQueue>(std::move(source));
}

std::unique_ptr<MorselQueue> makeStreamQueue(std::shared_ptr<ChunkStream> stream,
                                             StreamOrder order) {
  return std::make_unique<StreamQueue>(std::move(stream), order);
}

std::unique_ptr<MorselQueue> makeStateQueue(std::shared_ptr<const RankState> state,
                                            const plan::State &described, size_t lanes) {
  return std::make_unique<StateQueue>(std::move(state), described, lanes);
}

} // namespace headrace::exec
