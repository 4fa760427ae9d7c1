// Creation, copies, merging by the state's kernel, and reading of finished rows.
#include "runtime/exec/rank_state.h"

#include "runtime/base/check.h"
#include "runtime/exec/gpu/device_state.h"

#include <algorithm>

namespace headrace::exec {

Expected<std::unique_ptr<RankState>> RankState::create(const plan::Plan &plan, int32_t state,
                                                       std::shared_ptr<RankMemory> memory) {
  const plan::State &described = plan.states[state];
  ReservationRequest request;
  request.operatorName = described.name;
  if (described.place != plan::kNone && static_cast<size_t>(described.place) < plan.places.size()) {
    const plan::Place &place = plan.places[described.place];
    request.operatorName = place.operation.empty() ? described.name : place.operation;
    request.place = place.text;
  }
  HR_ASSIGN_OR_RETURN(auto account, MemoryAccount::open(std::move(memory), request));
  return std::unique_ptr<RankState>(new RankState(described, account));
}

RankState::RankState(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : state_(state), account_(std::move(account)) {}

RankState::~RankState() = default;

void RankState::keepOnGpu(std::unique_ptr<DeviceState> state) {
  onGpu_ = std::move(state);
  rowCount_ = onGpu_->rows();
  finished_ = true;
}

RankState::CopySlots RankState::addCopies(size_t count) {
  // Moving the other tasks' vectors leaves their slots where they are.
  return copies_.emplace_back(count);
}

Expected<StateCopy *> RankState::copy(std::unique_ptr<StateCopy> &slot) const {
  if (!slot) {
    HR_ASSIGN_OR_RETURN(slot, makeStateCopy(state_, account_));
  }
  return slot.get();
}

size_t RankState::copyCount() const {
  size_t count = 0;
  for (const auto &slots : copies_) {
    count += slots.size();
  }
  return count;
}

std::vector<StateCopy *> RankState::filledCopies() const {
  std::vector<StateCopy *> filled;
  for (const auto &slots : copies_) {
    for (const std::unique_ptr<StateCopy> &copy : slots) {
      if (copy) {
        filled.push_back(copy.get());
      }
    }
  }
  return filled;
}

std::unique_ptr<PhasedJob> RankState::finish(const FinishContext &context) {
  JobOptions options = context.job;
  options.name = "finish " + state_.name;
  auto job = std::make_unique<PhasedJob>(*context.pool, std::move(options));
  switch (state_.kind) {
  case plan::StateKind::kScalar:
  case plan::StateKind::kGroupTable:
    addMergePhases(*job, context);
    break;
  case plan::StateKind::kJoinTable:
    addJoinPhases(*job);
    break;
  case plan::StateKind::kSortBuffer:
    sorted_ = std::make_unique<SortedRows>(state_, account_);
    sorted_->addPhases(*job, [this] { return filledCopies(); });
    break;
  case plan::StateKind::kWindow:
    window_ = std::make_unique<WindowRows>(state_, account_, context.pool->workers());
    window_->addPhases(*job, [this] { return filledCopies(); });
    break;
  case plan::StateKind::kRowBuffer:
    break;
  }
  job->add([this]() -> Expected<JobPhase> {
    publish();
    return JobPhase{};
  });
  return job;
}

void RankState::publish() {
  if (state_.kind == plan::StateKind::kSortBuffer) {
    rowCount_ = sorted_->rowCount();
  } else {
    window_.reset();
    bool copies = state_.kind == plan::StateKind::kJoinTable ||
                  state_.kind == plan::StateKind::kRowBuffer ||
                  state_.kind == plan::StateKind::kWindow;
    const std::vector<StateCopy *> from = copies ? filledCopies() : remaining_;
    for (const StateCopy *copy : from) {
      for (const RowSpan &span : copy->spans()) {
        firstRows_.push_back(rowCount_);
        spans_.push_back(span);
        rowCount_ += span.count;
      }
    }
  }
  finished_ = true;
}

void *RankState::shared() {
  switch (state_.kind) {
  case plan::StateKind::kJoinTable:
    return &join_;
  case plan::StateKind::kSortBuffer:
  case plan::StateKind::kRowBuffer:
  case plan::StateKind::kWindow:
    return nullptr;
  case plan::StateKind::kScalar:
  case plan::StateKind::kGroupTable:
    HR_CHECK(remaining_.size() == 1);
    return remaining_.front()->abi();
  }
  return nullptr;
}

void RankState::rows(uint64_t first, uint64_t count, std::vector<const uint8_t *> &out) const {
  out.clear();
  if (count == 0) {
    return; // a state without rows has no span to begin in
  }
  if (state_.kind == plan::StateKind::kSortBuffer) {
    for (const SortEntry &entry : sorted_->rows().subspan(first, count)) {
      out.push_back(entry.row);
    }
    return;
  }
  size_t span = static_cast<size_t>(std::upper_bound(firstRows_.begin(), firstRows_.end(), first) -
                                    firstRows_.begin() - 1);
  uint64_t skip = first - firstRows_[span];
  for (; out.size() < count; ++span, skip = 0) {
    const RowSpan &from = spans_[span];
    uint64_t take = std::min(from.count - skip, count - out.size());
    const uint8_t *row = from.rows + skip * state_.rowBytes;
    for (uint64_t i = 0; i < take; ++i, row += state_.rowBytes) {
      out.push_back(row);
    }
  }
}

// ---- merging: rounds of pairs, the larger copy takes the smaller one in ----

Status RankState::mergeInto(StateCopy &target, const StateCopy &source,
                            const FinishContext &context) const {
  HR_ASSIGN_OR_RETURN(auto frame,
                      KernelFrame::create(*context.merge, account_, context.rank, context.size));
  void *states[] = {target.abi()};
  std::vector<const uint8_t *> pointers;
  uint64_t firstRow = 0;
  for (const RowSpan &span : source.spans()) {
    constexpr uint64_t kMorselRows = 65536;
    for (uint64_t at = 0; at < span.count; at += kMorselRows) {
      uint64_t count = std::min(kMorselRows, span.count - at);
      pointers.resize(count);
      for (uint64_t i = 0; i < count; ++i) {
        pointers[i] = span.rows + (at + i) * state_.rowBytes;
      }
      HrMorsel morsel{};
      morsel.rows = static_cast<uint32_t>(count);
      morsel.firstRow = firstRow;
      morsel.stateRows = pointers.data();
      frame->beginMorsel();
      HrResult result = frame->run(morsel, states);
      frame->endMorsel();
      if (result != HR_DONE) {
        return frame->error();
      }
      firstRow += count;
    }
  }
  return {};
}

void RankState::addMergePhases(PhasedJob &job, const FinishContext &context) {
  job.add([this]() -> Expected<JobPhase> {
    remaining_ = filledCopies();
    if (remaining_.empty()) {
      // No lane ever had a row: the state is its identity.
      HR_ASSIGN_OR_RETURN(StateCopy * only, copy(addCopies(1).front()));
      remaining_.push_back(only);
    }
    // Every copy of a scalar state counts; of the others the empty ones drop out.
    auto empty = [](StateCopy *copy) { return copy->rowCount() == 0; };
    auto end = std::remove_if(remaining_.begin() + 1, remaining_.end(), empty);
    remaining_.erase(end, remaining_.end());
    if (remaining_.size() > 1 && empty(remaining_.front())) {
      remaining_.erase(remaining_.begin());
    }
    return JobPhase{};
  });
  for (size_t copies = copyCount(); copies > 1; copies = (copies + 1) / 2) {
    job.add([this, context]() -> Expected<JobPhase> {
      auto pairs = static_cast<int64_t>(remaining_.size() / 2);
      if (pairs > 0 && !context.merge) {
        return makeError(ErrorKind::kInternal,
                         "state has several copies and no merge kernel: ", state_.name);
      }
      std::vector<std::pair<StateCopy *, StateCopy *>> work;
      std::vector<StateCopy *> kept;
      for (size_t i = 0; i < remaining_.size(); i += 2) {
        StateCopy *a = remaining_[i];
        StateCopy *b = i + 1 < remaining_.size() ? remaining_[i + 1] : nullptr;
        if (b && b->rowCount() > a->rowCount()) {
          std::swap(a, b);
        }
        kept.push_back(a);
        if (b) {
          work.emplace_back(a, b);
        }
      }
      remaining_ = std::move(kept);
      return JobPhase{pairs, [this, context, work = std::move(work)](int, int64_t pair) {
                        return mergeInto(*work[pair].first, *work[pair].second, context);
                      }};
    });
  }
}

} // namespace headrace::exec
