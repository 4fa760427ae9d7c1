// Creation, copies, merging by the state's kernel, and reading of finished rows.
#include "runtime/exec/state/rank_state.h"

#include "model/plan/dependencies.h"
#include "runtime/base/check.h"
#include "runtime/exec/gpu/device_state.h"
#include "runtime/exec/state/make_state_copy.h"

#include <algorithm>
#include <set>

namespace headrace::exec {

/// How many tasks read its rows, each once; 0 if rounds have one read them again and again.
static size_t readersOf(const plan::Plan &plan, int32_t state) {
  std::set<int32_t> comesAgain;
  for (const plan::Task &task : plan.tasks) {
    if (task.as<plan::RepeatTask>()) {
      const std::vector<int32_t> body = task.body();
      comesAgain.insert(body.begin(), body.end());
    }
  }
  size_t readers = 0;
  for (int32_t t = 0; t < static_cast<int32_t>(plan.tasks.size()); ++t) {
    if (plan.tasks[t].sourceState() == state) {
      ++readers;
      if (comesAgain.contains(t) && !plan::statesOfRounds(plan)[state]) {
        return 0;
      }
    }
  }
  return readers;
}

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
  return std::unique_ptr<RankState>(new RankState(described, readersOf(plan, state), account));
}

RankState::RankState(const plan::State &state, size_t readers,
                     std::shared_ptr<MemoryAccount> account)
    : state_(state), account_(std::move(account)) {
  if (state.kind == plan::StateKind::kRowBuffer) {
    kept_ = std::make_unique<KeptRows>(state_, readers, account_);
  }
}

RankState::~RankState() = default;

void RankState::keepOnGpu(std::unique_ptr<DeviceState> state) {
  onGpu_ = std::move(state);
  rowCount_ = onGpu_->rows();
  finished_ = true;
}

RankState::CopySlots RankState::addCopies(size_t count) {
  slots_ += count;
  // Moving the other tasks' vectors leaves their slots where they are.
  return copies_.emplace_back(count);
}

Expected<StateCopy *> RankState::copy(std::unique_ptr<StateCopy> &slot) const {
  if (!slot && kept_) {
    slot = kept_->makeCopy();
  } else if (!slot) {
    HR_ASSIGN_OR_RETURN(
        slot, makeStateCopy(state_, account_, slots_ > 1 ? Copies::kSeveral : Copies::kOne));
  }
  return slot.get();
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
    addScalarPhase(*job, context);
    break;
  case plan::StateKind::kGroupTable:
    groups_ = std::make_unique<GroupMerge>(
        state_, account_, [this, context](StateCopy &table, std::span<const RowAddresses> rows) {
          return combine(table, rows, context);
        });
    groups_->addPhases(*job, [this] { return filledCopies(); });
    break;
  case plan::StateKind::kJoinTable:
    join_ = std::make_unique<JoinDirectory>(state_, account_);
    join_->addPhases(*job, [this] { return filledCopies(); });
    break;
  case plan::StateKind::kSortBuffer:
    sorted_ = std::make_unique<SortedRows>(state_, account_);
    sorted_->addPhases(*job, [this] { return filledCopies(); });
    break;
  case plan::StateKind::kWindow:
    window_ = std::make_unique<WindowRows>(state_, account_, context.pool->workers());
    window_->addPhases(*job, [this] { return filledCopies(); });
    sorted_ = std::make_unique<SortedRows>(state_, account_);
    sorted_->addPhases(*job, [this] {
      const bool spill = window_->lacksMemory();
      lists_ = window_->takeLists();
      window_.reset();
      return spill ? filledCopies() : std::vector<StateCopy *>();
    });
    break;
  case plan::StateKind::kRowBuffer:
    job->add([this]() -> Expected<JobPhase> {
      std::vector<StateCopy *> copies = filledCopies();
      const auto count = static_cast<int64_t>(copies.size());
      return JobPhase{count, [this, copies = std::move(copies)](int, int64_t copy) {
                        return kept_->takeRest(*copies[copy]);
                      }};
    });
    break;
  }
  job->add([this]() -> Expected<JobPhase> {
    publish();
    return JobPhase{};
  });
  return job;
}

void RankState::publish() {
  if (state_.kind == plan::StateKind::kSortBuffer || rowsOnDisk()) {
    rowCount_ = sorted_->rowCount();
  } else if (kept_) {
    rowCount_ = kept_->rowCount();
  } else {
    bool copies =
        state_.kind == plan::StateKind::kJoinTable || state_.kind == plan::StateKind::kWindow;
    const std::vector<StateCopy *> from =
        copies ? filledCopies() : (groups_ ? groups_->tables() : merged_);
    for (const StateCopy *copy : from) {
      for (const RowSpan &span : copy->spans()) {
        firstRows_.push_back(rowCount_);
        spans_.push_back(span);
        rowCount_ += span.count;
      }
    }
  }
  account_->reservation().shrink(); // what it took beside its rows, and what was expected
  finished_ = true;
}

void *RankState::shared() {
  switch (state_.kind) {
  case plan::StateKind::kJoinTable:
    return join_->abi();
  case plan::StateKind::kSortBuffer:
  case plan::StateKind::kRowBuffer:
  case plan::StateKind::kWindow:
  case plan::StateKind::kGroupTable:
    return nullptr;
  case plan::StateKind::kScalar:
    return merged_.front()->abi();
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

// ---- merging by the state's kernel ----

Status RankState::combine(StateCopy &target, std::span<const RowAddresses> rows,
                          const FinishContext &context) const {
  if (!context.merge) {
    return makeError(ErrorKind::kInternal,
                     "state has several copies and no merge kernel: ", state_.name);
  }
  HR_ASSIGN_OR_RETURN(auto frame,
                      KernelFrame::create(*context.merge, account_, context.rank, context.size));
  void *states[] = {target.abi()};
  uint64_t firstRow = 0;
  for (const RowAddresses &run : rows) {
    HrMorsel morsel{};
    morsel.rows = static_cast<uint32_t>(run.size());
    morsel.firstRow = firstRow;
    morsel.stateRows = run.data();
    frame->beginMorsel();
    const HrResult result = frame->run(morsel, states);
    frame->endMorsel();
    if (result != HR_DONE) {
      return frame->error();
    }
    firstRow += run.size();
  }
  return {};
}

/// All rows into the first copy's: a lane has one.
void RankState::addScalarPhase(PhasedJob &job, const FinishContext &context) {
  job.add([this, context]() -> Expected<JobPhase> {
    std::vector<StateCopy *> copies = filledCopies();
    if (copies.empty()) {
      // No lane ever had a row: the state is its identity.
      HR_ASSIGN_OR_RETURN(StateCopy * only, copy(addCopies(1).front()));
      copies.push_back(only);
    }
    merged_ = {copies.front()};
    std::vector<const uint8_t *> rows;
    for (StateCopy *other : std::span(copies).subspan(1)) {
      rows.push_back(other->spans().front().rows);
    }
    return JobPhase{rows.empty() ? 0 : 1, [this, context, rows = std::move(rows)](int, int64_t) {
                      const RowAddresses all = rows;
                      return combine(*merged_.front(), {&all, 1}, context);
                    }};
  });
}

} // namespace headrace::exec
