// Units of work of a plan's tasks by term.
#include "runtime/model/cost/task_time.h"

#include "runtime/abi/type_bytes.h"
#include "runtime/model/plan/names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace headrace::cost {

using plan::StateKind;
using plan::WorkKind;

namespace {

/// Working sets between which the time of touching a cache line at random, fetched ahead, is
/// interpolated.
struct LineKnot {
  double bytes;
  const char *term;
};
constexpr std::array<LineKnot, 5> kLines = {{{32e3, "line_32k"},
                                             {512e3, "line_512k"},
                                             {4e6, "line_4m"},
                                             {32e6, "line_32m"},
                                             {256e6, "line_256m"}}};

/// Hat functions over the logarithm of the working set.
void addLines(Terms &terms, double workingSet, double lines) {
  if (lines <= 0) {
    return;
  }
  if (workingSet <= kLines.front().bytes) {
    terms[kLines.front().term] += lines;
    return;
  }
  for (size_t i = 1; i < kLines.size(); ++i) {
    if (workingSet <= kLines[i].bytes) {
      double part = std::log(workingSet / kLines[i - 1].bytes) /
                    std::log(kLines[i].bytes / kLines[i - 1].bytes);
      terms[kLines[i - 1].term] += lines * (1 - part);
      terms[kLines[i].term] += lines * part;
      return;
    }
  }
  terms[kLines.back().term] += lines;
}

/// Of bytes that are gone through in order, those that do not stay in a cache until they are used
/// again.
double farBytes(double bytes) {
  constexpr double kStays = 8e6;
  constexpr double kGone = 64e6;
  return bytes *
         std::clamp(std::log(std::max(bytes, 1.0) / kStays) / std::log(kGone / kStays), 0.0, 1.0);
}

double hashedEntries(double rows) { return std::exp2(std::ceil(std::log2(std::max(rows, 2.0)))); }

double directoryBytes(const plan::State &state, double rows) {
  if (state.kind == StateKind::kJoinTable) {
    return 8 * (state.direct ? static_cast<double>(state.extent) : hashedEntries(rows));
  }
  return state.kind == StateKind::kGroupTable ? 16 * rows : 0;
}

double workingSet(const plan::State &state, double rows) {
  return directoryBytes(state, rows) + rows * state.rowBytes;
}

double rowsOfLevel(const TaskRows &rows, uint32_t level) {
  if (level == 0 || rows.stages.empty()) {
    return rows.source;
  }
  return rows.stages[std::min<size_t>(level, rows.stages.size()) - 1];
}

/// Whether the strings of a source come as themselves and not as codes: more bytes were loaded than
/// codes and the other columns take.
bool hasPlainText(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  if (task.phase != "scan" || task.inputStream == plan::kNone || rows.source <= 0) {
    return false;
  }
  double expected = 0;
  bool text = false;
  for (const plan::Column &column : plan.streams[task.inputStream].schema.columns) {
    constexpr double kCodeBytes = 6;
    text = text || column.type == HR_STRING;
    expected += column.type == HR_STRING ? kCodeBytes : abi::bytesOf(column.type);
  }
  return text && rows.bytes > rows.source * expected;
}

/// Of the columns of a scan that are no strings, the part whose values are gathered from a
/// dictionary: a tiny one is in registers, and of values that hardly repeat there is none. What
/// statistics say of their ranges bounds both.
double gatheredColumns(const plan::Plan &plan, const plan::Task &task) {
  constexpr double kInRegisters = 64;
  constexpr double kHardlyRepeat = 60e3;
  double columns = 0;
  double gathered = 0;
  for (const plan::Task &load : plan.tasks) {
    bool feeds = load.kind == plan::TaskKind::kLoad && load.outputStream == task.inputStream &&
                 load.outputStream != plan::kNone;
    if (!feeds) {
      continue;
    }
    for (const plan::SlotColumn &column : plan.slots[load.slot].columns) {
      if (column.type == HR_STRING) {
        continue;
      }
      double range = static_cast<double>(column.max) - static_cast<double>(column.min);
      columns += 1;
      gathered += column.ranged && range > kInRegisters && range <= kHardlyRepeat ? 1 : 0;
    }
  }
  return columns > 0 ? gathered / columns : 0;
}

double rowsOfState(const TaskRows &rows, size_t position) {
  return position < rows.states.size() ? rows.states[position] : 0;
}

/// Whether rows come in the order of a direct state's keys: the ranges of both are alike.
bool isInOrder(const plan::State &state, const TaskRows &rows) {
  double extent = static_cast<double>(state.extent);
  return rows.order == RowOrder::kClustered && state.direct && extent > 0.8 * rows.orderExtent &&
         extent < 1.25 * rows.orderExtent;
}

/// The position of the largest state that a task looks into; -1 without one.
int32_t largestState(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  int32_t largest = -1;
  double bytesMax = 0;
  for (size_t i = 0; i < task.states.size(); ++i) {
    double bytes = workingSet(plan.states[task.states[i].state], rowsOfState(rows, i));
    if (bytes > bytesMax) {
      bytesMax = bytes;
      largest = static_cast<int32_t>(i);
    }
  }
  return largest;
}

/// Rows of one kind of work, and the state that they look into.
struct Access {
  WorkKind kind;
  const plan::State &state;
  double units;
  double stateRows;
  bool near; ///< one after another in the order of the state
};

/// What looking into a state touches.
void addAccess(Terms &terms, const Access &access, const TaskRows &rows) {
  const plan::State &state = access.state;
  double units = access.units;
  double directory = directoryBytes(state, access.stateRows);
  double whole = directory + access.stateRows * state.rowBytes;
  // In order, a row falls on the line of the one before, or on the next; but a directory by hash
  // has no order.
  auto inOrder = [&](double bytes, double lines) {
    terms["order_byte"] += std::min(bytes, units * 64);
    addLines(terms, 0, lines);
  };
  switch (access.kind) {
  case WorkKind::kProbe:
    if (access.near && state.direct) {
      inOrder(directory, units);
    } else if (access.near) {
      double keys = std::min(units, rows.orderExtent);
      addLines(terms, directory, keys);
      addLines(terms, 0, units - keys);
    } else {
      addLines(terms, directory, units);
    }
    break;
  case WorkKind::kMatch: {
    // Chains are followed to their end; other keys are on those of a directory by hash.
    double others = state.direct ? 0 : units * access.stateRows / hashedEntries(access.stateRows);
    terms["chain"] += others;
    double lines = units * (state.rowBytes > 48 ? 1.5 : 1) + others;
    if (access.near) {
      inOrder(access.stateRows * state.rowBytes, lines);
    } else {
      addLines(terms, whole, lines);
    }
    break;
  }
  case WorkKind::kGroup: {
    // Rows in the order of the groups: no two copies have the same, but for the ends of morsels.
    double made = std::min(units, access.stateRows * (access.near ? rows.ranks : rows.lanes));
    terms["group_new"] += made;
    if (access.near) {
      inOrder(farBytes(made * state.rowBytes), units - made);
      addLines(terms, directory, made);
    } else {
      addLines(terms, whole, units * (state.rowBytes > 48 ? 2.5 : 2));
    }
    break;
  }
  case WorkKind::kInsert:
    terms["insert_far_byte"] += farBytes(units * state.rowBytes);
    break;
  default:
    break;
  }
}

} // namespace

Terms runTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  Terms terms;
  if (task.kernel == plan::kNone || plan.kernels[task.kernel].work.empty()) {
    return terms;
  }
  bool plainText = hasPlainText(plan, task, rows);
  double gathered = gatheredColumns(plan, task);
  int32_t inOrder =
      rows.order == RowOrder::kClustered ? largestState(plan, task, rows) : plan::kNone;
  for (const plan::Work &work : plan.kernels[task.kernel].work) {
    double units = work.amount * rowsOfLevel(rows, work.level);
    if (work.kind == WorkKind::kMappedOp) {
      terms["decode_string"] += plainText ? rows.source : 0;
      terms["match_string"] += plainText ? units : 0;
      continue;
    }
    if (work.kind == WorkKind::kDecode || work.kind == WorkKind::kDecodeSelected) {
      terms[plan::nameOf(work.kind) + std::string("_gathered")] += units * gathered;
    }
    bool direct = work.state >= 0 && static_cast<size_t>(work.state) < task.states.size() &&
                  plan.states[task.states[work.state].state].direct;
    std::string name = plan::nameOf(work.kind);
    bool looksUp = work.kind == WorkKind::kProbe || work.kind == WorkKind::kMatch;
    terms[looksUp && direct ? name + "_direct" : name] += units;
    if (work.state < 0 || static_cast<size_t>(work.state) >= task.states.size()) {
      continue;
    }
    const plan::State &state = plan.states[task.states[work.state].state];
    double stateRows = rowsOfState(rows, work.state);
    // Several rows a key: a chain goes from one to the next wherever they were added.
    bool scattered = work.kind == WorkKind::kMatch && work.level > 0 &&
                     units > 1.05 * rowsOfLevel(rows, work.level - 1);
    bool near = work.state == inOrder && !scattered &&
                (state.direct ? isInOrder(state, rows) : task.phase == "scan");
    addAccess(terms, {work.kind, state, units, stateRows, near}, rows);
  }
  terms["morsel"] += rows.pieces;
  terms[task.phase == "scan" ? "load_far_byte" : "take_far_byte"] += farBytes(rows.bytes);
  return terms;
}

Terms loadTerms(const plan::Task &task, const TaskRows &rows) {
  Terms terms;
  if (task.phase == "scan") {
    terms["load"] = rows.pieces;
    terms["load_byte"] = rows.bytes;
  }
  return terms;
}

Terms finishTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  Terms terms;
  double through = rows.stages.empty() ? rows.source : rows.stages.back();
  for (size_t i = 0; i < task.states.size(); ++i) {
    const plan::State &state = plan.states[task.states[i].state];
    double stateRows = rowsOfState(rows, i);
    if (task.states[i].use != plan::StateUse::kPerWorker) {
      continue;
    }
    switch (state.kind) {
    case StateKind::kJoinTable: {
      double directory = directoryBytes(state, stateRows);
      terms["finish"] += 2;
      terms["clear_byte"] += directory / rows.lanes;
      terms["clear_far_byte"] += farBytes(directory) / rows.lanes;
      terms["build_row"] += stateRows / rows.lanes;
      terms["build_far_byte"] += farBytes(stateRows * state.rowBytes) / rows.lanes;
      addLines(terms, isInOrder(state, rows) ? 0 : directory, stateRows / rows.lanes);
      break;
    }
    case StateKind::kGroupTable:
    case StateKind::kDense: {
      // Copies are merged in pairs: round by round half as many, of up to twice the rows.
      double merged = 0;
      double copy = std::min(through, stateRows * rows.lanes) / rows.lanes;
      for (double left = rows.lanes; left > 1; left = std::ceil(left / 2)) {
        merged += copy;
        copy = std::min(2 * copy, stateRows);
      }
      terms["finish"] += 1;
      terms["merge_row"] += merged;
      addLines(terms, workingSet(state, stateRows), 2 * merged);
      terms["list_row"] += stateRows;
      break;
    }
    case StateKind::kSortBuffer: {
      terms["finish"] += 2;
      double kept =
          state.limit != 0 ? std::min<double>(static_cast<double>(state.limit), through) : through;
      terms["sort_row"] += through;
      bool text = !state.fields.empty() && state.fields.front().type == HR_STRING;
      terms[text ? "sort_compare_text" : "sort_compare"] +=
          kept * std::log2(std::max(2.0, kept)) + through;
      break;
    }
    case StateKind::kScalar:
    case StateKind::kDictionary:
    case StateKind::kRowBuffer:
      break;
    }
  }
  return terms;
}

Terms exchangeTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows,
                    int64_t ranks) {
  Terms terms;
  double columns = static_cast<double>(plan.streams[task.inputStream].schema.columns.size());
  terms["exchange"] = 1;
  terms["exchange_chunk"] = rows.pieces;
  if (ranks > 1) {
    terms["exchange_value"] = rows.source * columns;
    terms["exchange_byte"] = rows.bytes;
    // What outgrows the caches goes through memory.
    constexpr double kCachedBytes = 8e6;
    terms["exchange_far_byte"] = std::max(0.0, rows.bytes - kCachedBytes);
  }
  return terms;
}

double localBytes(const plan::Buffer &buffer, int64_t ranks) {
  double bytes = static_cast<double>(buffer.bytes);
  return buffer.splitDimension == plan::kNone ? bytes : bytes / static_cast<double>(ranks);
}

namespace {

double elementBytes(const plan::Buffer &buffer) { return buffer.element == "f32" ? 4 : 8; }

/// The extent of a dimension on one rank, on average.
double localExtent(const plan::Buffer &buffer, int32_t dimension, int64_t ranks) {
  double extent = static_cast<double>(std::max<int64_t>(buffer.shape[dimension], 0));
  return buffer.splitDimension == dimension ? extent / static_cast<double>(ranks) : extent;
}

} // namespace

Terms computeTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  Terms terms;
  double bytes = 0;
  double largest = 0;
  for (const std::vector<int32_t> *buffers : {&task.inputs, &task.outputs}) {
    for (int32_t index : *buffers) {
      const plan::Buffer &buffer = plan.buffers[index];
      double local = localBytes(buffer, ranks);
      bytes += local;
      largest = std::max(largest, local / elementBytes(buffer));
    }
  }
  terms["compute"] = 1;
  bool product = task.operation == "matmul" || task.operation == "batch_matmul";
  if (product && !task.inputs.empty() && !task.outputs.empty()) {
    const plan::Buffer &left = plan.buffers[task.inputs[0]];
    const plan::Buffer &right = plan.buffers[task.inputs[1]];
    const plan::Buffer &out = plan.buffers[task.outputs[0]];
    bool transposed = !task.parameters.empty() && task.parameters[0] != 0;
    int32_t rank = static_cast<int32_t>(left.shape.size());
    double inner = localExtent(left, transposed ? rank - 2 : rank - 1, ranks);
    double elements = localBytes(out, ranks) / elementBytes(out);
    terms[out.element == "f32" ? "product_f32" : "product_f64"] = elements * inner;
    terms["product_byte"] = bytes;
    // Each tile of rows packs the right side anew.
    double outRows = localExtent(out, static_cast<int32_t>(out.shape.size()) - 2, ranks);
    double tiles = std::ceil(outRows / std::clamp(outRows / 4, 64.0, 1024.0));
    terms["product_pack"] = tiles * localBytes(right, ranks);
  } else if (task.kernel != plan::kNone) {
    for (const plan::Work &work : plan.kernels[task.kernel].work) {
      terms[plan::nameOf(work.kind)] += work.amount * largest;
    }
    terms["tensor_byte"] = bytes;
  } else {
    terms["tensor_byte"] = bytes;
  }
  return terms;
}

Terms openTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  Terms terms;
  for (int32_t index : task.outputs) {
    terms["zero_byte"] += localBytes(plan.buffers[index], ranks);
  }
  return terms;
}

Terms tensorLoadTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  Terms terms;
  for (int32_t index : task.outputs) {
    terms["tensor_load_byte"] += localBytes(plan.buffers[index], ranks);
  }
  return terms;
}

Terms collectiveTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  Terms terms;
  double in = 0;
  double out = 0;
  for (int32_t index : task.inputs) {
    in += localBytes(plan.buffers[index], ranks);
  }
  for (int32_t index : task.outputs) {
    out += localBytes(plan.buffers[index], ranks);
  }
  terms["collective"] = 1;
  if (ranks > 1) {
    double moved = std::max(in, out) * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    bool reduces = task.operation == "all_reduce" || task.operation == "reduce_scatter";
    terms["collective_step"] =
        static_cast<double>(ranks - 1) * (task.operation == "all_reduce" ? 2 : 1);
    terms["collective_byte"] = moved * (task.operation == "all_reduce" ? 2 : 1);
    terms["reduce_byte"] = reduces ? moved : 0;
  }
  terms["collective_copy"] = in + out;
  return terms;
}

const std::map<std::string, double> &assumedSeconds() {
  static const std::map<std::string, double> table = {
      // Kernels of rows.
      {"row", 0.089e-9},
      {"decode", 0.17e-9},
      {"decode_byte", 0.027e-9},
      {"decode_string", 0.98e-9},
      {"skip", 0.2e-9},
      {"decode_selected", 0.33e-9},
      {"mapped", 0.55e-9},
      {"take", 0.067e-9},
      {"take_string", 3.6e-9},
      {"select", 0.1e-9},
      {"vector_byte", 0.0067e-9},
      {"scalar", 0.1e-9},
      {"wide", 0.7e-9},
      {"divide", 4e-9},
      {"compare_string", 1.4e-9},
      {"match_string", 15e-9},
      {"hash", 1.1e-9},
      {"hash_string", 6.3e-9},
      {"probe", 1.5e-9},
      {"match", 3e-9},
      {"fold", 0.17e-9},
      {"group", 1.9e-9},
      {"group_new", 19e-9},
      {"insert", 0.67e-9},
      {"insert_byte", 0.033e-9},
      {"emit", 0.5e-9},
      {"emit_byte", 0.16e-9},
      {"emit_string", 6e-9},
      {"partition", 3.4e-9},
      {"read_row", 0.8e-9},
      {"morsel", 1.7e-6},
      {"load_byte", 0.017e-9},
      {"load_far_byte", 0.066e-9},
      {"load", 1.7e-6},
      {"order_byte", 0.046e-9},
      {"exchange_far_byte", 0.067e-9},
      {"decode_gathered", 0.36e-9},
      {"decode_selected_gathered", 0.5e-9},
      {"probe_direct", 0.55e-9},
      {"match_direct", 1.7e-9},
      {"date_part", 8e-9},
      {"element_across", 1.9e-9},
      {"chain", 0.81e-9},
      {"insert_far_byte", 0.067e-9},
      {"take_far_byte", 0.033e-9},
      {"clear_far_byte", 0.033e-9},
      {"build_far_byte", 0.033e-9},
      // Touching a line at random that was fetched ahead, by working set.
      {"line_32k", 0.061e-9},
      {"line_512k", 1.1e-9},
      {"line_4m", 2e-9},
      {"line_32m", 5.3e-9},
      {"line_256m", 17e-9},
      // Ends of states.
      {"finish", 12e-6},
      {"clear_byte", 0.055e-9},
      {"build_row", 3.5e-9},
      {"merge_row", 7.2e-9},
      {"list_row", 0.33e-9},
      {"sort_row", 1e-9},
      {"sort_compare", 2.3e-9},
      {"sort_compare_text", 15e-9},
      // Exchanges and results.
      {"exchange", 3.3e-6},
      {"exchange_chunk", 2.8e-6},
      {"exchange_value", 0.17e-9},
      {"exchange_byte", 0.17e-9},
      // Tensors.
      {"compute", 5e-6},
      {"product_f32", 0.02e-9},
      {"product_f64", 0.04e-9},
      {"product_byte", 0.033e-9},
      {"product_pack", 0.038e-9},
      {"element", 0.033e-9},
      {"element_op", 0.031e-9},
      {"element_math", 0.67e-9},
      {"tensor_byte", 0.033e-9},
      {"tensor_load_byte", 0.067e-9},
      {"zero_byte", 0.033e-9},
      {"collective", 7.3e-6},
      {"collective_step", 6.2e-6},
      {"collective_byte", 0.14e-9},
      {"reduce_byte", 0.2e-9},
      {"collective_copy", 0.058e-9},
      // A run: its beginning and end, and each task's.
      {"run", 200e-6},
      {"task", 37e-6},
      {"hop", 83e-6},
  };
  return table;
}

double secondsOf(const topology::DeviceType &device, const Terms &terms) {
  double seconds = 0;
  for (const auto &[name, units] : terms) {
    auto known = device.workSeconds.find(name);
    if (known != device.workSeconds.end()) {
      seconds += units * known->second;
    } else if (auto assumed = assumedSeconds().find(name); assumed != assumedSeconds().end()) {
      seconds += units * assumed->second;
    }
  }
  return seconds;
}

std::map<std::string, double> fitTerms(const std::vector<TaskSample> &samples,
                                       const std::map<std::string, double> &prior,
                                       double priorStrength) {
  constexpr int kRounds = 30;
  constexpr int kSweeps = 200;
  constexpr double kFloor = 0.1; // errors below it weigh alike
  std::vector<std::string> names;
  for (const auto &[name, seconds] : prior) {
    names.push_back(name);
  }
  size_t size = names.size();
  // Columns as shares of the measured time at the prior's seconds; unknowns are factors of the
  // prior.
  std::vector<std::vector<double>> rows;
  for (const TaskSample &sample : samples) {
    std::vector<double> row(size, 0);
    for (size_t j = 0; j < size; ++j) {
      if (auto found = sample.terms.find(names[j]); found != sample.terms.end()) {
        row[j] = found->second * prior.at(names[j]) / sample.seconds;
      }
    }
    rows.push_back(std::move(row));
  }
  // What takes long decides what a plan takes; below a microsecond and above a tenth of a second
  // all weigh alike.
  std::vector<double> importance;
  for (const TaskSample &sample : samples) {
    importance.push_back(std::sqrt(std::clamp(sample.seconds, 1e-6, 0.1)));
  }
  double mean = std::accumulate(importance.begin(), importance.end(), 0.0) /
                std::max<double>(1, importance.size());
  for (double &weight : importance) {
    weight /= mean;
  }
  std::vector<double> factors(size, 1);
  std::vector<double> weights = importance;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> gram(size * size, 0);
    std::vector<double> right(size, 0);
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < size; ++j) {
        if (rows[i][j] == 0) {
          continue;
        }
        right[j] += weights[i] * rows[i][j];
        for (size_t k = 0; k < size; ++k) {
          gram[j * size + k] += weights[i] * rows[i][j] * rows[i][k];
        }
      }
    }
    for (size_t j = 0; j < size; ++j) {
      gram[j * size + j] += priorStrength;
      right[j] += priorStrength;
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      double moved = 0;
      for (size_t j = 0; j < size; ++j) {
        double residual = right[j];
        for (size_t k = 0; k < size; ++k) {
          residual -= gram[j * size + k] * factors[k];
        }
        double next = std::max(0.0, factors[j] + residual / gram[j * size + j]);
        moved = std::max(moved, std::abs(next - factors[j]));
        factors[j] = next;
      }
      if (moved < 1e-7) {
        break;
      }
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      double predicted = 0;
      for (size_t j = 0; j < size; ++j) {
        predicted += rows[i][j] * factors[j];
      }
      weights[i] = importance[i] * kFloor / std::max(std::abs(predicted - 1), kFloor);
    }
  }
  std::map<std::string, double> fitted;
  for (size_t j = 0; j < size; ++j) {
    fitted[names[j]] = factors[j] * prior.at(names[j]);
  }
  return fitted;
}

} // namespace headrace::cost
