// Rows of a state, of parts that were kept, of a stream, or of a table.
#include "runtime/exec/run_source.h"

#include "runtime/exec/values_source.h"
#include "runtime/storage/ordinals.h"

namespace headrace::exec {

Expected<RunSource> openRunSource(const RankContext &context, int32_t task,
                                  const std::shared_ptr<MemoryAccount> &account) {
  const auto &run = *context.plan->tasks[task].as<plan::RunTask>();
  if (run.sourceState != plan::kNone) {
    return RunSource{makeStateQueue(context.states[run.sourceState],
                                    context.plan->states[run.sourceState], context.lanes)};
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
  plan::GroupPlace place = context.place.along(loading.split);
  storage::Share share{place.index, place.count};
  ChunkOrder first;
  if (context.streamOrders[run.inputStream] == StreamOrder::kStored) {
    first.push_back(place.index);
  }
  if (slot.kind == plan::SlotKind::kValues) {
    HR_ASSIGN_OR_RETURN(auto values, openValues(slot, share));
    return RunSource{makeLoadQueue(std::move(values), account, context.doorbell, first)};
  }
  auto source = context.sources->find(slot.name);
  if (source == context.sources->end()) {
    return makeError(ErrorKind::kUser, "no input is bound to table: ", slot.name);
  }
  HR_ASSIGN_OR_RETURN(auto opened, storage::openWithOrdinals(slot, share, source->second));
  HR_ASSIGN_OR_RETURN(
      auto pages, MemoryAccount::open(context.memory, {.operatorName = "scan of " + slot.name,
                                                       .task = TaskId(static_cast<uint32_t>(task)),
                                                       .place = context.placeOf(task)}));
  return RunSource{makeLoadQueue(std::move(opened), std::move(pages), context.doorbell, first),
                   true};
}

} // namespace headrace::exec
