// Units of work of a plan's tasks by term.
#include "model/cost/task_time.h"
#include "model/cost/tensor_work.h"

#include "model/plan/dependencies.h"
#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headrace::cost {

using plan::WorkKind;

namespace {

double rowsOfLevel(const TaskRows &rows, uint32_t level) {
  if (level == 0 || rows.stages.empty()) {
    return rows.source;
  }
  return rows.stages[std::min<size_t>(level, rows.stages.size()) - 1];
}

bool isDecode(WorkKind kind) {
  return kind == WorkKind::kDecode || kind == WorkKind::kDecodeCode ||
         kind == WorkKind::kDecodeGathered || kind == WorkKind::kDecodeString ||
         kind == WorkKind::kDecodeText;
}

double rowsOfState(const TaskRows &rows, size_t position) {
  return position < rows.states.size() ? rows.states[position] : 0;
}

/// Whether rows come in the order of a direct state's keys: the ranges of both are alike.
bool isInOrder(const plan::State &state, const TaskRows &rows) {
  double extent = static_cast<double>(state.extent);
  return rows.order == RowOrder::kClustered && state.direct() && extent > 0.8 * rows.orderExtent &&
         extent < 1.25 * rows.orderExtent;
}

/// Whether rows come in the order of a table's groups: there are about as many as the order has
/// values, of which most may be missing, on each rank or on all together.
bool isGroupedInOrder(const plan::State &state, double stateRows, const TaskRows &rows) {
  return state.kind == plan::StateKind::kGroupTable && rows.order == RowOrder::kClustered &&
         stateRows * rows.copies > 0.2 * rows.orderExtent && stateRows < 1.25 * rows.orderExtent;
}

/// What the kernel's hashes of strings say of how long they are.
double hashedTextBytes(const plan::Kernel &kernel, double otherwise) {
  constexpr double kLeast = 8; // of those that are kept
  double strings = 0, bytes = 0;
  for (const plan::Work &work : kernel.work) {
    strings += work.kind == WorkKind::kHashString ? work.amount : 0;
    bytes += work.kind == WorkKind::kHashByte ? work.amount : 0;
  }
  return strings > 0 ? std::max(kLeast, bytes / strings) : otherwise;
}

/// The states of a task, in their order.
std::vector<StateShape> statesOf(const plan::Plan &plan, const plan::Task &task,
                                 const TaskRows &rows) {
  std::vector<StateShape> shapes;
  for (size_t i = 0; i < task.states().size(); ++i) {
    StateShape &shape =
        shapes.emplace_back(shapeOf(plan.states[task.states()[i].state], rowsOfState(rows, i)));
    if (shape.stringKeys > 0 && task.kernel() != plan::kNone) {
      shape.textBytes = hashedTextBytes(plan.kernels[task.kernel()], shape.textBytes);
    }
  }
  return shapes;
}

/// The position of the largest of them; -1 without one.
int32_t largestOf(const std::vector<StateShape> &shapes) {
  int32_t largest = -1;
  double bytesMax = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    double bytes = shapes[i].workingSet();
    if (bytes > bytesMax) {
      bytesMax = bytes;
      largest = static_cast<int32_t>(i);
    }
  }
  return largest;
}

/// The working sets of the states beside one that the kernel looks rows up in too: a join table
/// that it fills is only added to.
std::vector<double> besides(const plan::Task &task, const std::vector<StateShape> &shapes,
                            int32_t position) {
  std::vector<double> others;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool fills = task.states()[i].use == plan::StateUse::kPerWorker;
    const bool isLookedUp = shapes[i].kind == plan::StateKind::kGroupTable ||
                            (shapes[i].kind == plan::StateKind::kJoinTable && !fills);
    if (static_cast<int32_t>(i) != position && isLookedUp) {
      others.push_back(shapes[i].workingSet());
    }
  }
  return others;
}

} // namespace

Terms runTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  Terms terms;
  if (task.kernel() == plan::kNone || plan.kernels[task.kernel()].work.empty()) {
    return terms;
  }
  double pages = 0;
  double picked = 0;
  double texts = 0;
  const std::vector<StateShape> shapes = statesOf(plan, task, rows);
  int32_t inOrder = rows.order == RowOrder::kClustered ? largestOf(shapes) : plan::kNone;
  for (const plan::Work &work : plan.kernels[task.kernel()].work) {
    if (isDecode(work.kind)) {
      addDecode(terms, work.kind, work.amount, rows.source, rowsOfLevel(rows, work.level));
      continue;
    }
    if (work.kind == WorkKind::kPageByte) {
      pages += work.amount * rows.source;
      picked += work.level > 0 ? work.amount * rows.source : 0;
      continue;
    }
    if (work.kind == WorkKind::kPageTextByte) {
      texts += work.amount * rows.source;
      continue;
    }
    double units = work.amount * rowsOfLevel(rows, work.level);
    if (const auto *run = task.as<plan::RunTask>();
        work.kind == WorkKind::kReadRow && run && run->sourceState != plan::kNone) {
      StateShape read = shapeOf(plan.states[run->sourceState], rows.source);
      addAccess(terms, work.kind, read, units, {.ranks = rows.ranks, .copies = rows.copies});
    }
    bool direct = work.state >= 0 && static_cast<size_t>(work.state) < task.states().size() &&
                  plan.states[task.states()[work.state].state].direct();
    std::string name = plan::nameOf(work.kind);
    bool looksUp = work.kind == WorkKind::kProbe || work.kind == WorkKind::kMatch;
    terms[looksUp && direct ? name + "_direct" : name] += units;
    if (work.state < 0 || static_cast<size_t>(work.state) >= task.states().size()) {
      continue;
    }
    const plan::State &state = plan.states[task.states()[work.state].state];
    double stateRows = rowsOfState(rows, work.state);
    // Several rows a key: a chain goes from one to the next wherever they were added.
    bool scattered = work.kind == WorkKind::kMatch && work.level > 0 &&
                     units > 1.05 * rowsOfLevel(rows, work.level - 1);
    bool near =
        isGroupedInOrder(state, stateRows, rows) ||
        (work.state == inOrder && !scattered && (!state.direct() || isInOrder(state, rows)));
    Arrival arrival{near ? RowOrder::kClustered : RowOrder::kNone,
                    rows.orderExtent,
                    rows.lanes,
                    rows.ranks,
                    rows.copies,
                    besides(task, shapes, work.state)};
    addAccess(terms, work.kind, shapes[work.state], units, arrival);
  }
  terms["morsel"] += rows.pieces;
  FarShares far = farShares((pages + texts) * rows.sharing());
  addPages(terms, far, pages, picked, rows.source, rowsOfLevel(rows, 1));
  for (const plan::Work &work : plan.kernels[task.kernel()].work) {
    if (work.kind == WorkKind::kPageTextByte) {
      addPageTexts(terms, far, 1, work.amount, rows.source, rowsOfLevel(rows, work.level));
    }
  }
  terms["take_far_byte"] += plan::scanOf(plan, task) ? 0 : farBytes(rows.bytes, rows.sharing());
  return terms;
}

Terms loadTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  Terms terms;
  if (plan::scanOf(plan, task)) {
    terms["load"] = rows.pieces;
    terms["load_byte"] = rows.bytes;
  }
  return terms;
}

Terms finishTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows) {
  Terms terms;
  double through = rows.stages.empty() ? rows.source : rows.stages.back();
  const std::vector<StateShape> shapes = statesOf(plan, task, rows);
  for (size_t i = 0; i < task.states().size(); ++i) {
    if (task.states()[i].use != plan::StateUse::kPerWorker) {
      continue;
    }
    const plan::State &state = plan.states[task.states()[i].state];
    double stateRows = rowsOfState(rows, i);
    bool inOrder = isInOrder(state, rows) || isGroupedInOrder(state, stateRows, rows);
    add(terms, endTerms(shapes[i], through,
                        {.order = inOrder ? RowOrder::kClustered : RowOrder::kNone,
                         .lanes = rows.lanes,
                         .ranks = rows.ranks,
                         .copies = rows.copies}));
  }
  return terms;
}

std::map<int32_t, double> orderedStreams(const plan::Plan &plan) {
  std::map<int32_t, double> extents;
  for (const plan::Task &task : plan.tasks) {
    if (!task.as<plan::LoadTask>()) {
      continue;
    }
    for (const plan::SlotColumn &column : plan.slots[task.slot()].columns) {
      if (column.ordered && column.ranged && column.max > column.min) {
        extents[task.outputStream()] =
            static_cast<double>(column.max) - static_cast<double>(column.min) + 1;
        break;
      }
    }
  }
  for (bool more = true; more;) {
    more = false;
    for (const plan::Task &task : plan.tasks) {
      bool passes = task.as<plan::RunTask>() || task.as<plan::ExchangeTask>();
      if (passes && task.outputStream() != plan::kNone && extents.contains(task.inputStream())) {
        more |= extents.try_emplace(task.outputStream(), extents[task.inputStream()]).second;
      }
    }
  }
  return extents;
}

topology::CollectiveKind collectiveOf(const plan::Task &task) {
  switch (task.as<plan::CollectiveTask>()->operation) {
  case plan::CollectiveKind::kAllReduce:
    return topology::CollectiveKind::kAllReduce;
  case plan::CollectiveKind::kAllGather:
    return topology::CollectiveKind::kAllGather;
  case plan::CollectiveKind::kReduceScatter:
    return topology::CollectiveKind::kReduceScatter;
  case plan::CollectiveKind::kAllToAll:
    return topology::CollectiveKind::kAllToAll;
  }
  return topology::CollectiveKind::kAllReduce;
}

Terms exchangeTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows,
                    int64_t ranks) {
  const plan::Stream &stream = plan.streams[task.inputStream()];
  auto columns = static_cast<double>(stream.schema.columns.size());
  Terms terms = transferTerms(rows.source, columns, rows.bytes, rows.pieces, ranks);
  if (ranks > 1 && task.as<plan::ExchangeTask>()->exchange == plan::ExchangeKind::kRange) {
    auto strings = static_cast<double>(
        std::ranges::count(stream.schema.columns, HR_STRING, &plan::Column::type));
    add(terms, rangeTerms(rows.source, columns, strings, stream.textBytes));
  }
  return terms;
}

double localBytes(const plan::Plan &plan, const plan::Buffer &buffer, int64_t ranks) {
  double bytes = static_cast<double>(buffer.bytes);
  for (const plan::Split &split : buffer.splits) {
    bytes /= plan::partsAlong(plan, split.axes, ranks);
  }
  return bytes;
}

namespace {

double elementBytes(const plan::Buffer &buffer) {
  return static_cast<double>(plan::bytesOf(buffer.element));
}

/// The extent of a dimension on one rank, on average.
double localExtent(const plan::Plan &plan, const plan::Buffer &buffer, int32_t dimension,
                   int64_t ranks) {
  double extent = static_cast<double>(std::max<int64_t>(buffer.shape[dimension], 0));
  const plan::Split *split = buffer.splitOf(dimension);
  return split ? extent / plan::partsAlong(plan, split->axes, ranks) : extent;
}

} // namespace

namespace {

bool computes(const plan::Task &task, plan::ComputeKind kind) {
  const auto *compute = task.as<plan::ComputeTask>();
  return compute && compute->operation == kind;
}

bool isProduct(const plan::Task &task) { return computes(task, plan::ComputeKind::kMatmul); }

/// What a task without products reads and writes: of what is sliced, and of what is gathered by the
/// places, no more than what is taken.
double passedBytes(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  double written = localBytes(plan, task.outputs(), ranks);
  if (computes(task, plan::ComputeKind::kGather)) {
    return 2 * written + localBytes(plan, task.inputs().subspan(1), ranks);
  }
  bool slices = computes(task, plan::ComputeKind::kSlice);
  return written + (slices ? written : localBytes(plan, task.inputs(), ranks));
}

ProductShape productOf(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  const plan::Buffer &left = plan.buffers[task.inputs()[0]];
  const plan::Buffer &right = plan.buffers[task.inputs()[1]];
  const plan::Buffer &out = plan.buffers[task.outputs()[0]];
  const std::vector<int64_t> &parameters = task.as<plan::ComputeTask>()->parameters;
  bool transposed = parameters[0] != 0;
  int32_t rank = static_cast<int32_t>(left.shape.size());
  ProductShape shape;
  shape.elements = localBytes(plan, out, ranks) / elementBytes(out);
  shape.inner = localExtent(plan, left, transposed ? rank - 2 : rank - 1, ranks);
  shape.outRows = 1;
  for (auto d = static_cast<int32_t>(parameters[2]); d + 1 < rank; ++d) {
    shape.outRows *= localExtent(plan, out, d, ranks);
  }
  shape.rightBytes = localBytes(plan, right, ranks);
  shape.bytes = localBytes(plan, task.inputs(), ranks) + localBytes(plan, task.outputs(), ranks);
  shape.element = out.element == plan::Element::kF32 ? ProductShape::Element::kF32
                                                     : ProductShape::Element::kF64;
  return shape;
}

/// Elements of the largest operand or result.
double pointsOf(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  double largest = 0;
  for (std::span<const int32_t> buffers : {task.inputs(), task.outputs()}) {
    for (int32_t index : buffers) {
      const plan::Buffer &buffer = plan.buffers[index];
      largest = std::max(largest, localBytes(plan, buffer, ranks) / elementBytes(buffer));
    }
  }
  return largest;
}

} // namespace

double localBytes(const plan::Plan &plan, std::span<const int32_t> buffers, int64_t ranks) {
  double bytes = 0;
  for (int32_t index : buffers) {
    bytes += localBytes(plan, plan.buffers[index], ranks);
  }
  return bytes;
}

Terms computeTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  if (isProduct(task)) {
    return productTerms(productOf(plan, task, ranks));
  }
  Terms terms;
  terms["compute"] = 1;
  terms["tensor_byte"] = passedBytes(plan, task, ranks);
  if (task.kernel() != plan::kNone) {
    double points = pointsOf(plan, task, ranks);
    for (const plan::Work &work : plan.kernels[task.kernel()].work) {
      terms[plan::nameOf(work.kind)] += work.amount * points;
    }
  }
  return terms;
}

KernelWork computeWork(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  if (isProduct(task)) {
    return productWork(productOf(plan, task, ranks));
  }
  ElementShape shape;
  shape.points = pointsOf(plan, task, ranks);
  shape.bytes = passedBytes(plan, task, ranks);
  for (std::span<const int32_t> buffers : {task.inputs(), task.outputs()}) {
    for (int32_t index : buffers) {
      if (plan.buffers[index].element != plan::Element::kF32) {
        shape.element = ProductShape::Element::kF64;
      }
    }
  }
  if (task.kernel() != plan::kNone) {
    for (const plan::Work &work : plan.kernels[task.kernel()].work) {
      bool math = work.kind == WorkKind::kElementMath;
      shape.ops += math || work.kind == WorkKind::kElementOp ? work.amount : 0;
    }
  }
  return elementWork(shape);
}

Terms tensorLoadTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  const plan::Buffer &buffer = plan.buffers[task.outputs().front()];
  bool inOnePiece = std::ranges::all_of(
      buffer.splits, [](const plan::Split &split) { return split.dimension == 0; });
  return {{"tensor_load_byte", inOnePiece ? 0 : localBytes(plan, task.outputs(), ranks)}};
}

Terms collectiveTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks) {
  return collectiveTerms(
      collectiveOf(task), localBytes(plan, task.inputs(), ranks),
      localBytes(plan, task.outputs(), ranks),
      static_cast<int64_t>(plan::partsAlong(plan, task.as<plan::CollectiveTask>()->axes, ranks)));
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
    importance.push_back(sample.weight * std::sqrt(std::clamp(sample.seconds, 1e-6, 0.1)));
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
      // Noise is a factor: half of what was measured is as wrong as twice. Of relative errors
      // alone the least sum is below the middle of the samples.
      double ratio = std::max(predicted, 0.25);
      weights[i] = importance[i] * kFloor / (ratio * std::max(std::abs(std::log(ratio)), kFloor));
    }
  }
  std::map<std::string, double> fitted;
  for (size_t j = 0; j < size; ++j) {
    fitted[names[j]] = factors[j] * prior.at(names[j]);
  }
  return fitted;
}

} // namespace headrace::cost
