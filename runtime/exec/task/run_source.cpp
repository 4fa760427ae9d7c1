// Rows of a state, of parts that were kept, of a stream, or of a table.
#include "runtime/exec/task/run_source.h"

#include "runtime/exec/source/values_source.h"
#include "runtime/storage/ordinals.h"

#include <utility>

namespace headrace::exec {

Expected<RunSource> openRunSource(const RankContext &context, int32_t task,
                                  const std::shared_ptr<MemoryAccount> &account) {
  const auto &run = *context.plan->tasks[task].as<plan::RunTask>();
  if (run.sourceState != plan::kNone) {
    ChunkOrder rank;
    if (run.outputStream != plan::kNone &&
        context.streamOrders[run.outputStream] == StreamOrder::kAllRanks) {
      rank.push_back(context.place.rank);
    }
    return RunSource{makeStateQueue(context.states[run.sourceState],
                                    context.plan->states[run.sourceState], context.lanes,
                                    std::move(rank))};
  }
  if (context.partedStreams[run.inputStream]) {
    return RunSource{makePartQueue(context.partedStreams[run.inputStream])};
  }
  int32_t load = context.loadOfStream[run.inputStream];
  if (load == plan::kNone) {
    return RunSource{
        makeStreamQueue(context.streams[run.inputStream], context.streamOrders[run.inputStream])};
  }
  const auto &loading = *context.plan->tasks[load].as<plan::LoadTask>();
  const plan::Slot &slot = context.plan->slots[loading.slot];
  const bool shared = context.sharing && loading.shared;
  std::shared_ptr<storage::MorselSource> source;
  std::shared_ptr<MorselRights> rights;
  std::shared_ptr<MemoryAccount> pages = account;
  if (shared) {
    HR_ASSIGN_OR_RETURN(MorselSharing::Shared taken,
                        context.sharing->take(TaskId(static_cast<uint32_t>(load))));
    source = std::move(taken.source);
    rights = std::move(taken.rights);
  } else {
    HR_ASSIGN_OR_RETURN(source, openLoad(context, loading, storage::Reach::kShare));
    rights = std::make_shared<MorselRights>(source->share());
  }
  ChunkOrder first;
  if (context.streamOrders[run.inputStream] == StreamOrder::kAllRanks) {
    // Morsels of a shared table have numbers over all ranks, unless each rank has other rows.
    const bool numbered = shared && source->reach() == storage::Reach::kAll;
    first.push_back(numbered ? 0 : context.place.along(loading.split).index);
  }
  const bool scans = slot.kind != plan::SlotKind::kValues;
  if (scans) {
    HR_ASSIGN_OR_RETURN(
        pages, MemoryAccount::open(context.memory, {.operatorName = "scan of " + slot.name,
                                                    .task = TaskId(static_cast<uint32_t>(task)),
                                                    .place = context.placeOf(task)}));
  }
  return RunSource{makeLoadQueue(std::move(source), std::move(rights), std::move(pages),
                                 context.doorbell, first),
                   scans};
}

Expected<std::unique_ptr<storage::MorselSource>>
openLoad(const RankContext &context, const plan::LoadTask &load, storage::Reach reach) {
  const plan::Slot &slot = context.plan->slots[load.slot];
  const plan::GroupPlace place = context.place.along(load.split);
  const storage::Share share{place.index, place.count, reach,
                             context.placesAlong(slot.stretches.axes)};
  if (slot.kind == plan::SlotKind::kValues) {
    return openValues(slot, share);
  }
  auto source = context.sources->find(slot.name);
  if (source == context.sources->end()) {
    return makeError(ErrorKind::kUser, "no input is bound to table: ", slot.name);
  }
  return storage::openWithOrdinals(slot, share, source->second);
}

} // namespace headrace::exec
