// Prints a plan: a header, the tables, then one line a task with its edges.
#include "model/plan/text.h"

#include "model/plan/check_rules.h"
#include "runtime/base/binary_functions.h"
#include "runtime/base/readable.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <sstream>

namespace headrace::plan {
namespace {

constexpr size_t kWidth = 120;

/// Where a line that is too wide is broken: in front of its place, else at the last space that
/// fits.
size_t breakOf(const std::string &line, size_t from) {
  if (size_t place = line.find("  // ", from);
      place != std::string::npos && displayWidth(line.substr(0, place)) <= kWidth) {
    return place;
  }
  size_t best = line.find(' ', from);
  for (size_t next = best; next != std::string::npos; next = line.find(' ', next + 1)) {
    if (displayWidth(line.substr(0, next)) > kWidth) {
      break;
    }
    best = next;
  }
  return best;
}

/// Lines that are too wide go on below, further to the right.
std::string wrapped(const std::string &text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    size_t start = line.empty() ? 0 : line.find_first_not_of(' ');
    const std::string indent(start + 4, ' ');
    while (displayWidth(line) > kWidth) {
      size_t end = breakOf(line, start);
      if (end == std::string::npos) {
        break;
      }
      out += cutToWidth(line.substr(0, end), kWidth) + "\n";
      line = indent + line.substr(line.find_first_not_of(' ', end));
      start = indent.size();
    }
    out += cutToWidth(line, kWidth) + "\n";
  }
  return out;
}

class TextWriter {
public:
  explicit TextWriter(const Plan &plan) : plan_(plan) {}

  std::string write() {
    writeHeader();
    writeSlots();
    writeStates();
    writeStreams();
    writeKernels();
    writeTensors();
    out_ << "tasks\n";
    for (size_t t = 0; t < plan_.tasks.size(); ++t) {
      writeTask(t);
    }
    return std::move(out_).str();
  }

private:
  template <typename T>
  std::string named(const char *what, const std::vector<T> &table, int32_t id) {
    std::string text = std::string(what) + " " + std::to_string(id);
    return inRange(id, table.size()) && !table[id].name.empty() ? text + " '" + table[id].name + "'"
                                                                : text;
  }
  std::string kernelName(int32_t id) {
    return inRange(id, plan_.kernels.size()) ? plan_.kernels[id].symbol : std::to_string(id);
  }
  static std::string cardinality(const Cardinality &x, std::string (*format)(double)) {
    auto text = [&](uint64_t count) { return format(static_cast<double>(count)); };
    return text(x.expected) + " (" + text(x.min) + ".." +
           (x.max == UINT64_MAX ? "?" : text(x.max)) + ", p95 " + text(x.p95) + ")";
  }
  void writeSchema(const Schema &schema) {
    out_ << "(";
    for (size_t c = 0; c < schema.columns.size(); ++c) {
      const Column &column = schema.columns[c];
      out_ << (c ? ", " : "") << column.name << ": " << nameOf(column.type)
           << (column.nullable ? "?" : "");
      if (column.logical.kind != LogicalKind::kNone &&
          column.logical.text() != nameOf(column.type)) {
        out_ << " as " << column.logical.text();
      }
    }
    out_ << ")";
  }
  void writeIds(const char *what, const std::vector<int32_t> &ids) {
    if (ids.empty()) {
      return;
    }
    out_ << " " << what << " [";
    for (size_t i = 0; i < ids.size(); ++i) {
      out_ << (i ? ", " : "") << ids[i];
    }
    out_ << "]";
  }

  std::string axisNames(const std::vector<int32_t> &axes) {
    std::string text;
    for (int32_t axis : axes) {
      text += text.empty() ? "" : "*";
      text += inRange(axis, plan_.mesh.size()) ? plan_.mesh[axis].name : std::to_string(axis);
    }
    return text;
  }

  void writeHeader() {
    out_ << "plan " << plan_.schemaMajor << "." << plan_.schemaMinor << ", abi " << plan_.abiVersion
         << ", imports " << plan_.importsHash << ", isa " << plan_.isa << "\n";
    if (!plan_.topologyHash.empty()) {
      out_ << "topology " << plan_.topologyHash << "\n";
    }
    if (!plan_.mesh.empty()) {
      out_ << "mesh";
      for (const MeshAxis &axis : plan_.mesh) {
        out_ << " " << axis.name << "=" << axis.size;
      }
      out_ << "\n";
    }
    if (plan_.movableKeys) {
      out_ << "movable keys\n";
    }
    out_ << "result " << (plan_.ordered ? "ordered " : "") << (plan_.resident ? "resident " : "");
    for (const std::string &key : plan_.residentKeys) {
      out_ << "by " << key << " ";
    }
    writeSchema(plan_.result);
    out_ << "\n";
  }

  void writeSlots() {
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      const Slot &slot = plan_.slots[i];
      out_ << "slot " << i << " '" << slot.name << "' " << nameOf(slot.kind)
           << (slot.kind == SlotKind::kTensor ? std::string(" ") + nameOf(slot.element) : "")
           << (slot.resident ? " resident" : "") << "\n";
      for (const SlotColumn &column : slot.columns) {
        out_ << "  " << (column.ordinal ? "(ordinal)" : column.file) << ": " << nameOf(column.type)
             << (column.nullable ? "?" : "") << " as " << column.logical.text();
        if (column.ranged) {
          out_ << " in [" << column.min << ", " << column.max << "]";
        }
        out_ << "\n";
      }
      if (slot.kind == SlotKind::kValues && !slot.columns.empty()) {
        out_ << "  " << slot.cells.size() / slot.columns.size() << " rows\n";
      }
      for (const Bound &bound : slot.bounds) {
        const bool isText = utf8::isValid(bound.text); // or bytes
        out_ << "  where " << bound.column << " " << nameOf(bound.op) << " ";
        bound.text.empty() ? out_ << bound.integer
                           : out_ << "'" << (isText ? bound.text : binaryText(bound.text)) << "'";
        out_ << "\n";
      }
      if (const Stretches &own = slot.stretches; !own.column.empty()) {
        out_ << "  this rank's stretches of " << own.column << ", of " << own.cycle << " keys over "
             << axisNames(own.axes) << "\n";
      }
      if (slot.pieceRows != Slot().pieceRows) {
        out_ << "  in pieces of " << slot.pieceRows << " rows\n";
      }
    }
  }

  void writeStates() {
    for (size_t i = 0; i < plan_.states.size(); ++i) {
      const State &state = plan_.states[i];
      out_ << "state " << i << " '" << state.name << "' " << nameOf(state.kind) << ", rows of "
           << state.rowBytes << " bytes, about " << cardinality(state.rows, formatCount) << " in "
           << nameOf(state.tier);
      if (state.mergeKernel != kNone) {
        out_ << ", merge " << kernelName(state.mergeKernel);
      }
      if (state.linkKernel != kNone) {
        out_ << ", link " << kernelName(state.linkKernel);
      }
      if (state.limit != 0) {
        out_ << ", limit " << state.limit;
      }
      if (state.direct()) {
        out_ << ", " << nameOf(state.directory) << " " << state.base << " + [0, " << state.extent
             << ")";
      }
      out_ << "\n";
      for (const StateField &field : state.fields) {
        out_ << "  +" << field.offset << " " << field.name << ": " << nameOf(field.type)
             << (field.nullable ? "?" : "") << " " << nameOf(field.combine) << "\n";
      }
      writeWindows(state);
    }
  }

  static std::string fieldName(const State &state, int32_t id) {
    return inRange(id, state.fields.size()) ? state.fields[id].name : std::to_string(id);
  }
  static std::string countText(const State &state, const RowCount &count) {
    return count.field == kNone ? std::to_string(count.number) : fieldName(state, count.field);
  }
  static std::string boundText(const State &state, const FrameBound &bound) {
    std::string text = nameOf(bound.edge);
    bool hasDistance = bound.edge == FrameEdge::kPreceding || bound.edge == FrameEdge::kFollowing;
    return hasDistance ? text + " " + countText(state, bound.distance) : text;
  }

  template <typename Name>
  static std::string orderText(const std::vector<OrderKey> &order, const Name &nameOf) {
    std::string text;
    for (const OrderKey &key : order) {
      text += (text.empty() ? "" : ", ") + nameOf(key.field) + (key.descending ? " desc" : "") +
              (key.nullsFirst ? " nulls first" : "");
    }
    return text;
  }

  void writeWindows(const State &state) {
    if (!state.order.empty()) {
      out_ << "  in order of "
           << orderText(state.order, [&](int32_t field) { return fieldName(state, field); })
           << "\n";
    }
    for (const WindowColumn &window : state.windows) {
      out_ << "  " << fieldName(state, window.result) << " = " << nameOf(window.function);
      if (window.input != kNone) {
        out_ << (window.distinct ? " of distinct " : " of ") << fieldName(state, window.input);
      }
      using Function = WindowFunction;
      bool counts = window.function == Function::kNtile || window.function == Function::kLag ||
                    window.function == Function::kLead || window.function == Function::kNthValue;
      if (counts) {
        out_ << " by " << countText(state, window.count);
      }
      if (window.function == Function::kCollect &&
          (window.count.field != kNone || window.count.number != 0)) {
        out_ << " first " << countText(state, window.count);
      }
      for (size_t i = 0; i < window.shares.size(); ++i) {
        out_ << (i == 0 ? " at " : ", ") << window.shares[i].number();
      }
      if (window.otherwise != kNone) {
        out_ << " else " << fieldName(state, window.otherwise);
      }
      out_ << (window.ignoreNulls ? " without NULLs" : "");
      if (window.hasFrame()) {
        out_ << " over " << nameOf(window.unit) << " " << boundText(state, window.start) << " to "
             << boundText(state, window.end);
        if (window.exclude != FrameExclusion::kNone) {
          out_ << " exclude " << nameOf(window.exclude);
        }
      }
      if (!window.order.empty()) {
        out_ << " in order of "
             << orderText(window.order, [&](int32_t field) { return fieldName(state, field); });
      }
      out_ << "\n";
    }
  }

  void writeStreams() {
    for (size_t i = 0; i < plan_.streams.size(); ++i) {
      const Stream &stream = plan_.streams[i];
      out_ << "stream " << i << " '" << stream.name << "' " << stream.capacityChunks << " x "
           << stream.chunkRows << " rows ";
      writeSchema(stream.schema);
      out_ << "\n";
    }
  }

  void writeKernels() {
    for (size_t i = 0; i < plan_.kernels.size(); ++i) {
      const Kernel &kernel = plan_.kernels[i];
      out_ << "kernel " << i << " " << kernel.symbol << ", scratch "
           << formatBytes(kernel.scratchBytes) << ", " << kernel.literals.size()
           << (kernel.literals.size() == 1 ? " literal\n" : " literals\n");
    }
  }

  void writeTensors() {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer &buffer = plan_.buffers[i];
      out_ << "buffer " << i << " '" << buffer.name << "' " << nameOf(buffer.element) << "[";
      for (size_t d = 0; d < buffer.shape.size(); ++d) {
        out_ << (d ? ", " : "");
        buffer.shape[d] == kUnknownExtent ? out_ << "?" : out_ << buffer.shape[d];
        if (const Split *split = buffer.splitOf(static_cast<int32_t>(d))) {
          out_ << (split->ragged ? "/rows of " : "/") << axisNames(split->axes);
        }
      }
      out_ << "] in " << nameOf(buffer.tier);
      if (buffer.sizedBy == kNone) {
        out_ << ", at most " << formatBytes(buffer.bytes) << "\n";
      } else {
        out_ << ", sized by buffer " << buffer.sizedBy << "\n";
      }
    }
    for (size_t i = 0; i < plan_.holes.size(); ++i) {
      const Hole &hole = plan_.holes[i];
      out_ << "hole " << i << " '" << hole.name << "' rows of task " << hole.producer
           << (hole.agreed ? ", agreed" : "") << ", about " << cardinality(hole.bounds, formatCount)
           << "\n";
    }
  }

  void writeTask(size_t index) {
    const Task &task = plan_.tasks[index];
    out_ << "  " << index << " " << nameOf(task.kind()) << " '" << task.name << "'";
    if (task.device != Device::kCpu) {
      out_ << " on " << nameOf(task.device);
    }
    std::visit([&](const auto &work) { writeWork(work); }, task.work);
    writeIds("after", task.after);
    if (inRange(task.place, plan_.places.size())) {
      const Place &place = plan_.places[task.place];
      out_ << "  // " << (place.operation.empty() ? "" : place.operation + ": ") << place.text;
    }
    out_ << "\n";
  }

  std::string stream(int32_t id) { return named("stream", plan_.streams, id); }
  std::string state(int32_t id) { return named("state", plan_.states, id); }
  std::string buffer(int32_t id) { return named("buffer", plan_.buffers, id); }

  void writeWork(const LoadTask &load) {
    out_ << " " << named("slot", plan_.slots, load.slot)
         << (load.split.empty() ? "" : ", a share along " + axisNames(load.split) + ",")
         << (load.shared ? " shared with ranks that are ahead," : "") << " to "
         << stream(load.outputStream);
  }
  void writeWork(const InputTask &input) {
    out_ << " " << named("slot", plan_.slots, input.slot) << " to " << buffer(input.output);
  }
  void writeWork(const RunTask &run) {
    out_ << " " << kernelName(run.kernel) << " from "
         << (run.inputStream != kNone ? stream(run.inputStream) : state(run.sourceState));
    for (const StateArgument &argument : run.states) {
      out_ << (argument.use == StateUse::kPerWorker ? " fill " : " read ") << state(argument.state);
    }
    if (run.outputStream != kNone) {
      out_ << (run.partitioned ? " by rank to " : " to ") << stream(run.outputStream);
    }
  }
  std::string columnName(int32_t stream, int32_t id) const {
    bool isThere = inRange(stream, plan_.streams.size()) &&
                   inRange(id, plan_.streams[stream].schema.columns.size());
    return isThere ? plan_.streams[stream].schema.columns[id].name : std::to_string(id);
  }
  std::string rangeText(const ExchangeTask &exchange) {
    auto column = [&](int32_t id) { return columnName(exchange.inputStream, id); };
    return exchange.order.empty() ? "" : " of " + orderText(exchange.order, column);
  }
  std::string keysText(const ExchangeTask &exchange) {
    std::string text;
    for (int32_t key : exchange.keys) {
      text += (text.empty() ? " by " : ", ") + columnName(exchange.inputStream, key);
    }
    return text;
  }
  std::string pairText(const ExchangeTask &exchange) {
    return exchange.pair == kNone
               ? ""
               : " pair " + std::to_string(exchange.pair) + " heavy rows " + nameOf(exchange.heavy);
  }
  void writeWork(const ExchangeTask &exchange) {
    out_ << " " << nameOf(exchange.exchange) << " over " << axisNames(exchange.axes)
         << " on channel " << exchange.channel << rangeText(exchange) << keysText(exchange)
         << pairText(exchange) << " from " << stream(exchange.inputStream) << " to "
         << stream(exchange.outputStream);
  }
  void writeWork(const CollectiveTask &collective) {
    bool reduces = collective.operation == CollectiveKind::kAllReduce ||
                   collective.operation == CollectiveKind::kReduceScatter;
    out_ << " " << nameOf(collective.operation);
    out_ << (reduces ? std::string(" by ") + nameOf(collective.combine) : "");
    out_ << " over " << axisNames(collective.axes) << " from " << buffer(collective.input) << " to "
         << buffer(collective.output);
  }
  void writeWork(const ComputeTask &compute) {
    out_ << " " << nameOf(compute.operation);
    if (compute.kernel != kNone) {
      out_ << " " << kernelName(compute.kernel);
    }
    writeIds("inputs", compute.inputs);
    writeIds("outputs", compute.outputs);
  }
  void writeWork(const ToTensorTask &rows) {
    out_ << " from " << stream(rows.inputStream);
    writeIds("columns", rows.columns);
    writeIds("outputs", rows.outputs);
  }
  void writeWork(const ReserveTask &reserve) {
    out_ << " " << cardinality(reserve.bytes, formatBytes) << " for " << state(reserve.state);
  }
  void writeWork(const ReleaseTask &release) { out_ << " of task " << release.reservation; }
  void writeWork(const ChooseTask &choose) {
    out_ << " " << named("hole", plan_.holes, choose.hole) << " <= " << choose.threshold;
    writeIds("then", choose.thenTasks);
    writeIds("else", choose.elseTasks);
  }
  void writeWork(const RepeatTask &repeat) {
    out_ << " in rounds of " << formatBytes(repeat.roomBytes);
    writeIds("tasks", repeat.tasks);
  }
  void writeWork(const ResultTask &result) { out_ << " from " << stream(result.inputStream); }
  void writeWork(const TensorResultTask &result) { out_ << " " << buffer(result.buffer); }

  const Plan &plan_;
  std::ostringstream out_;
};

} // namespace

std::string toText(const Plan &plan) { return wrapped(TextWriter(plan).write()); }

} // namespace headrace::plan
