// What a rank does about scans that it shares with others, beside its tasks.
#include "runtime/exec/rank.h"
#include "runtime/exec/task/run_source.h"

namespace headrace::exec {

/// Every rank shares the same scans.
Status Rank::openSharing() {
  const plan::Plan &plan = *context_.plan;
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const auto *load = plan.tasks[t].as<plan::LoadTask>();
    if (!load || !load->shared || context_.size == 1) {
      continue;
    }
    if (!context_.sharing) {
      HR_ASSIGN_OR_RETURN(context_.sharing,
                          MorselSharing::open(*context_.transport, *board_, context_.doorbell,
                                              *context_.clock, context_.shareMorsels));
    }
    context_.sharing->add(TaskId(static_cast<uint32_t>(t)), context_.place.group(load->split),
                          [this, load] { return openLoad(context_, *load, storage::Reach::kAll); });
  }
  return {};
}

void Rank::pollSharing() {
  if (context_.sharing) {
    if (Status status = context_.sharing->poll(); !status.ok() && !board_->poisoned()) {
      board_->raise(status);
    }
  }
}

/// Whether no other rank will ask this one for morsels any more.
bool Rank::endSharing() {
  Expected<bool> ended = context_.sharing ? context_.sharing->finish() : true;
  if (!ended.ok() && !board_->poisoned()) {
    board_->raise(ended.status());
  }
  return !ended.ok() || *ended;
}

void Rank::addSharing(TaskProfile &entry, int32_t load) const {
  if (context_.sharing && load != plan::kNone) {
    const MorselSharing::Numbers numbers =
        context_.sharing->numbers(TaskId(static_cast<uint32_t>(load)));
    entry.morselsTaken = numbers.taken;
    entry.morselsGiven = numbers.given;
    entry.sharingMessages = numbers.messages;
  }
}

} // namespace headrace::exec
