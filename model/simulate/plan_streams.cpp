// Streams between tasks: who waits for whose chunks, one writer or several, and how far ahead of
// its reader a writer may be.
#include "model/cost/row_work.h"
#include "model/simulate/plan_graph_builder.h"
#include "runtime/abi/type_bytes.h"

namespace headrace::simulate {

static cost::RowShape shapeOf(const plan::Stream &stream) {
  cost::RowShape shape;
  shape.textBytes = stream.textBytes;
  for (const plan::Column &column : stream.schema.columns) {
    shape.strings += column.type == HR_STRING ? 1 : 0;
    shape.nullable += column.nullable ? 1 : 0;
    shape.bytes += abi::bytesOf(column.type);
  }
  return shape;
}

double rowBytes(const plan::Stream &stream) { return std::max(shapeOf(stream).memoryBytes(), 1.0); }

double wireBytes(const plan::Stream &stream) { return shapeOf(stream).wireBytes(); }

// In a run the chunks of several writers come as they are made; a graph has to say in which order.
// One writer after the other keeps all at work: who is held back leaves its share of the resources
// to the writer before. As a writer comes behind all that it waits for, no credit closes a cycle.
void PlanGraph::sortWriters(const std::vector<int32_t> &sorted) {
  std::vector<int32_t> pipelinesBefore(plan_.tasks.size(), 0);
  std::vector<size_t> position(plan_.tasks.size(), 0);
  for (size_t at = 0; at < sorted.size(); ++at) {
    int32_t id = sorted[at];
    int32_t &before = pipelinesBefore[id];
    position[id] = at;
    for (int32_t other : waits_[id]) {
      before = std::max(before, pipelinesBefore[other] + 1);
    }
    if (int32_t stream = plan_.tasks[id].inputStream(); stream != kNone) {
      for (const StreamWriter &writer : streams_[stream].writers) {
        before = std::max(before, pipelinesBefore[writer.task]);
      }
    }
  }
  for (StreamState &stream : streams_) {
    std::sort(stream.writers.begin(), stream.writers.end(),
              [&](const StreamWriter &left, const StreamWriter &right) {
                return std::pair(pipelinesBefore[left.task], position[left.task]) <
                       std::pair(pipelinesBefore[right.task], position[right.task]);
              });
  }
}

double PlanGraph::writtenPart(int32_t id) const {
  const std::vector<StreamWriter> &writers = streams_[plan_.tasks[id].outputStream()].writers;
  if (writers.size() < 2) {
    return 1;
  }
  auto planned = [&](int32_t writer) {
    const Task &task = plan_.tasks[writer];
    const plan::Cardinality *rows =
        task.inputStream() != kNone   ? &plan_.streams[task.inputStream()].rows
        : task.sourceState() != kNone ? &plan_.states[task.sourceState()].rows
                                      : nullptr;
    return rows ? static_cast<double>(rows->expected) : 0.0;
  };
  double all = 0;
  bool known = true;
  for (const StreamWriter &writer : writers) {
    all += planned(writer.task);
    known = known && planned(writer.task) > 0;
  }
  return known ? planned(id) / all : 1 / static_cast<double>(writers.size());
}

void PlanGraph::write(int32_t id, const StreamState &made) {
  StreamState &stream = streams_[plan_.tasks[id].outputStream()];
  bool first = std::all_of(stream.writers.begin(), stream.writers.end(),
                           [](const StreamWriter &writer) { return writer.chunks == 0; });
  auto onAllRanks = [&](const StreamState &state) {
    return state.distribution == Distribution::kReplicated
               ? state.rows * static_cast<double>(workload_.ranks)
               : state.rows;
  };
  if (first) {
    stream.rows = made.rows;
    stream.distribution = made.distribution;
    stream.copies = made.copies;
    stream.weight = made.weight;
    stream.fullest = made.fullest;
    stream.chunks = 0;
  } else if (stream.distribution == made.distribution) {
    stream.rows += made.rows;
    stream.fullest = std::max(stream.fullest, made.fullest);
  } else {
    stream.rows = onAllRanks(stream) + onAllRanks(made);
    stream.distribution = Distribution::kEven;
    stream.copies = 1;
  }
  for (StreamWriter &writer : stream.writers) {
    if (writer.task == id) {
      writer.chunks = made.chunks;
    }
  }
  stream.chunks = std::min(stream.chunks + made.chunks, std::max(workload_.chunksMax, made.chunks));
}

PlanGraph::Chunks PlanGraph::arrivals(const StreamState &stream, size_t rankClass) const {
  Chunks all;
  for (const StreamWriter &writer : stream.writers) {
    const PerClass &theirs = chunksOf_[writer.task];
    if (rankClass < theirs.size()) {
      // Behind its chunks a writer may have another activity that ends its states.
      const Chunks &made = theirs[rankClass];
      size_t count = std::min(made.size(), static_cast<size_t>(writer.chunks));
      all.insert(all.end(), made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  return all;
}

/// A tensor is made, and ranges of an order are agreed on, when all rows are there.
static bool keepsAll(const Task &task) {
  const auto *exchange = task.as<plan::ExchangeTask>();
  return task.as<plan::ToTensorTask>() ||
         (exchange && exchange->exchange == plan::ExchangeKind::kRange);
}

void PlanGraph::waitForInput(int32_t id, size_t rankClass, size_t chunk, Activity &activity) const {
  int32_t input = plan_.tasks[id].inputStream();
  if (input == kNone || streams_[input].writers.empty()) {
    return;
  }
  const StreamState &stream = streams_[input];
  if (keepsAll(plan_.tasks[id])) {
    Chunks all = arrivals(stream, rankClass);
    activity.after.insert(activity.after.end(), all.begin(), all.end());
    return;
  }
  if (stream.writers.size() == 1) {
    const PerClass &theirs = chunksOf_[stream.writers.front().task];
    if (rankClass < theirs.size() && !theirs[rankClass].empty()) {
      activity.after.push_back(theirs[rankClass][std::min(chunk, theirs[rankClass].size() - 1)]);
    }
    return;
  }
  // All arrivals are divided among the reader's chunks, in their order.
  Chunks all = arrivals(stream, rankClass);
  size_t chunks = static_cast<size_t>(stream.chunks);
  auto taken = [&](size_t end) {
    size_t count = (std::min(end, chunks) * all.size() + chunks - 1) / chunks;
    return all.begin() + static_cast<std::ptrdiff_t>(count);
  };
  activity.after.insert(activity.after.end(), taken(chunk), taken(chunk + 1));
}

void PlanGraph::addBackPressure(int32_t id) {
  const StreamState &stream = streams_[id];
  const plan::Stream &planned = plan_.streams[id];
  if (planned.parts != 0 || stream.writers.empty() || consumer_[id] == kNone ||
      keepsAll(plan_.tasks[consumer_[id]])) {
    return;
  }
  int64_t written = 0;
  for (const StreamWriter &writer : stream.writers) {
    written += writer.chunks;
  }
  const bool isLoaded = plan_.tasks[stream.writers.front().task].as<plan::LoadTask>() != nullptr;
  double real = isLoaded ? cost::morselsOf(share(stream))
                         : std::ceil(share(stream) / std::max<uint32_t>(planned.chunkRows, 1));
  double scale = static_cast<double>(written) / std::max(real, 1.0);
  size_t credit =
      static_cast<size_t>(std::max(2.0, std::round(planned.capacityChunks * std::min(scale, 1.0))));
  for (size_t c = 0; c < chunksOf_[consumer_[id]].size(); ++c) {
    const Chunks &takes = chunksOf_[consumer_[id]][c];
    Chunks all = arrivals(stream, c);
    for (size_t chunk = credit; chunk < all.size(); ++chunk) {
      // The last chunk of the reader that needs nothing behind the arrival a credit before.
      size_t taken = (chunk - credit + 1) * static_cast<size_t>(stream.chunks) / all.size();
      if (taken > 0 && taken <= takes.size()) {
        graph_.activities[all[chunk]].after.push_back(takes[taken - 1]);
      }
    }
  }
}

} // namespace headrace::simulate
