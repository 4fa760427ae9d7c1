// Goes through the ops of a program in order and says when each has its first and its last rows.
#include "passes/shard/layout_schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

using namespace mlir;

namespace headrace::shard {
namespace {

constexpr double kChunksMax = 32; // as simulate::Workload::chunksMax
// Chunks that a stream holds for its reader: plan::Stream::capacityChunks.
constexpr double kCredit = 4;

/// The op that begins the pipeline whose rows `table` is.
Operation *pipelineStart(Value table) {
  auto op = table.getDefiningOp<frame::RelationalOpInterface>();
  bool goesThrough = op && (op.getRowFlow() == frame::RowFlow::kRowByRow ||
                            op.getRowFlow() == frame::RowFlow::kProbe);
  return goesThrough ? pipelineStart(op->getOperand(0)) : table.getDefiningOp();
}

/// Whether an op hands nothing on before it has all rows.
bool fillsState(Operation *op) {
  auto relation = dyn_cast_or_null<frame::RelationalOpInterface>(op);
  return relation ? relation.getRowFlow() == frame::RowFlow::kState
                  : !isa_and_nonnull<dist::ConstrainOp>(op);
}

} // namespace

LayoutSchedule::LayoutSchedule(ShardProgram &program)
    : program_(program), runTimeChoices_(program), edgesInto_(program.nodes().size()),
      waitsFor_(program.nodes().size()) {
  for (auto [index, edge] : llvm::enumerate(program.edges())) {
    edgesInto_[edge.target].push_back(static_cast<int32_t>(index));
  }
  llvm::DenseMap<Operation *, int32_t> nodes;
  for (auto [index, node] : llvm::enumerate(program.nodes())) {
    if (!node.op) {
      continue;
    }
    nodes[node.op] = static_cast<int32_t>(index);
    for (Value operand : node.op->getOperands()) {
      auto scalar = nodes.find(operand.getDefiningOp());
      if (!hasLayout(operand.getType()) && scalar != nodes.end()) {
        waitsFor_[index].push_back(scalar->second);
      }
    }
  }
}

const ReshardCost &LayoutSchedule::reshard(size_t edge, const solve::Choice &choice) {
  const ShardEdge &known = program_.edges()[edge];
  auto [entry, added] = reshards_.try_emplace({edge, choice[known.source], choice[known.target]});
  if (added) {
    entry->second = program_.edgeCost(known, choice);
  }
  return entry->second;
}

namespace {

/// What stages share while they are at work.
enum class Resource : uint8_t { kStorage, kDevice, kMessages, kLinks };
constexpr size_t kResources = 4;
/// Who is at work when depends on who is at work when: each pass knows it from the one before.
constexpr int kPassesMax = 8;
/// Until a pass has said when something begins, it is in nobody's way.
constexpr double kUnknown = 1e9;

struct Work {
  double begin = 0;
  double seconds = 0; ///< alone
  /// Of a scan: what it does when the reader for which it has waited begins.
  double late = 0;
  double lateBegin = kUnknown;

  double early() const { return seconds - late; }
};

/// When the first is done if all that are at work at a time get equal shares.
double doneAmong(SmallVectorImpl<std::pair<double, double>> &beginAndSeconds) {
  double now = beginAndSeconds.front().first;
  for (const auto &[begin, seconds] : beginAndSeconds) {
    now = std::min(now, begin);
  }
  while (true) {
    double next = kUnknown; // who begins
    double least = kUnknown;
    double busy = 0;
    for (const auto &[begin, seconds] : beginAndSeconds) {
      if (begin > now) {
        next = std::min(next, begin);
      } else if (seconds > 0) {
        least = std::min(least, seconds);
        busy += 1;
      }
    }
    const bool ends = busy > 0 && now + busy * least <= next; // one of those at work
    if (!ends && next >= kUnknown) {
      return now;
    }
    const double each = ends ? least : busy > 0 ? (next - now) / busy : 0;
    for (auto &[begin, seconds] : beginAndSeconds) {
      if (begin <= now) {
        seconds = std::max(0.0, seconds - each);
      }
    }
    now = ends ? now + busy * least : next;
    if (beginAndSeconds.front().second <= 0) {
      return std::max(now, beginAndSeconds.front().first);
    }
  }
}

} // namespace

/// One evaluation.
class LayoutSchedule::Run {
public:
  Run(LayoutSchedule &schedule, const solve::Choice &choice, Ways ways)
      : schedule_(schedule), program_(schedule.program_), choice_(choice) {
    std::optional<RunTimeChoice> open =
        ways == Ways::kOpen ? schedule.runTimeChoices_.find(choice) : std::nullopt;
    if (open) {
      choice_ = open->layouts;
      takeExpectedWay(*open);
    }
  }

  double seconds() {
    double end = 0, before = kUnknown;
    for (int pass = 0; pass < kPassesMax && end != before; ++pass) {
      before = end;
      before_ = std::exchange(now_, {});
      results_.assign(program_.nodes().size(), {});
      moved_.clear();
      end = 0;
      for (size_t node = 0; node < results_.size(); ++node) {
        results_[node] = run(node);
        end = std::max(end, results_[node].last);
      }
    }
    return std::min(end, solve::costOf(program_.problem(), choice_));
  }

private:
  const Strategy &strategy(size_t node) const {
    return program_.nodes()[node].strategies[choice_[node]];
  }

  /// What is decided at run time goes the way that the expected rows decide. All right rows are
  /// there before, and the scan that begins the left side's pipeline is part of the way.
  void takeExpectedWay(const RunTimeChoice &open) {
    decides_ = open.node;
    bool few = open.expected <= static_cast<double>(open.atMost);
    const PlacedNode &join = program_.nodes()[open.node];
    for (auto [index, way] : llvm::enumerate(join.strategies)) {
      bool broadcast = way.needs[0] == open.left && way.needs[1].isReplicated();
      bool shuffle = way.needs[0].keys == open.leftKeys && way.needs[1].keys == open.rightKeys &&
                     way.needs[0].rowKind == dist::RowKind::Hash &&
                     way.needs[0].cycle == open.cycle;
      if (few ? broadcast : shuffle) {
        choice_[open.node] = static_cast<int32_t>(index);
      }
    }
    Operation *first = pipelineStart(join.operands[0]);
    lateScan_ = isa_and_nonnull<frame::ScanOp>(first) ? first : nullptr;
  }

  /// When work is done, but for what waits, beside what else is at work: `own` is its place among
  /// that.
  double done(Resource resource, const Work &work, size_t own) const {
    SmallVector<std::pair<double, double>, 16> works = {{work.begin, work.early()}};
    for (auto [index, other] : llvm::enumerate(before_[static_cast<size_t>(resource)])) {
      if (index != own) {
        works.push_back({other.begin, other.early()});
        if (other.late > 0) {
          works.push_back({other.lateBegin, other.late});
        }
      }
    }
    return doneAmong(works);
  }
  double done(Resource resource, double begin, double seconds) {
    std::vector<Work> &works = now_[static_cast<size_t>(resource)];
    works.push_back({begin, seconds});
    return done(resource, works.back(), works.size() - 1);
  }
  std::vector<Work> &pipelines() { return now_[static_cast<size_t>(Resource::kDevice)]; }

  /// Of one rank.
  double rowsOf(size_t node) {
    Value value = program_.nodes()[node].results.front();
    const Layout &layout = strategy(node).gives.front();
    if (layout.form != Form::kTable) {
      return 1;
    }
    StrategyContext &context = program_.context();
    double parts = layout.isRoot() ? 1 : context.parts(layout.rowAxes);
    return context.rows.rowsOf(value) / parts;
  }

  /// When the last of the rows have passed a stage that began at `begin` and is free at `end`.
  static double lastOf(const Arrival &rows, double begin, double end, double seconds) {
    double there = begin > rows.first ? std::max(rows.lastAhead, begin + rows.behind()) : rows.last;
    return std::max(end, there + seconds / rows.chunks);
  }

  /// Rows that storage or links hand on, from `begin` on.
  Arrival supplied(const Arrival &rows, double begin, Resource resource, double seconds) {
    double start = std::max(begin, rows.first);
    double end = seconds > 0 ? done(resource, start, seconds) : start;
    Arrival made = rows;
    made.first = start + (end - start) / rows.chunks;
    made.last = made.lastAhead = lastOf(rows, begin, end, seconds);
    made.supply = std::max(rows.supply, seconds);
    made.ahead = seconds > rows.supply ? kCredit : rows.ahead + kCredit;
    made.scanAhead += kCredit;
    return made;
  }

  /// Rows that pass a stage of the device, which needs what is there at `begin`: the device does
  /// nothing in a pipeline before all is there that the pipeline looks into.
  Arrival worked(const Arrival &rows, double begin, double seconds) {
    if (seconds == 0 && begin == 0) {
      return rows;
    }
    Arrival made = rows;
    if (made.pipeline < 0) {
      made.pipeline = static_cast<int32_t>(pipelines().size());
      pipelines().push_back({rows.first, 0});
    }
    Work &pipeline = pipelines()[made.pipeline];
    pipeline.begin = std::max(pipeline.begin, begin);
    scanWaits(rows, pipeline.begin);
    pipeline.seconds += seconds;
    double end = done(Resource::kDevice, pipeline, static_cast<size_t>(made.pipeline));
    made.first = std::max(rows.first + seconds / rows.chunks,
                          pipeline.begin + (end - pipeline.begin) / rows.chunks);
    made.last = made.lastAhead = lastOf(rows, begin, end, seconds);
    return made;
  }

  Arrival scan(size_t node) {
    const Strategy &chosen = strategy(node);
    Arrival rows;
    rows.first = rows.last = program_.nodes()[node].op == lateScan_ ? decided_ : 0;
    rows.chunks = std::min(cost::morselsOf(chosen.readRows), kChunksMax);
    if (chosen.storageSeconds == 0) {
      return worked(rows, 0, chosen.seconds);
    }
    std::vector<Work> &scans = now_[static_cast<size_t>(Resource::kStorage)];
    const std::vector<Work> &known = before_[static_cast<size_t>(Resource::kStorage)];
    const size_t place = scans.size();
    Work work{rows.first, chosen.seconds};
    scans.push_back(work);
    rows.last = done(Resource::kStorage, work, place);
    work.late = place < known.size() ? known[place].late : 0;
    rows.lastAhead = done(Resource::kStorage, work, place);
    rows.first = done(Resource::kStorage, {work.begin, work.seconds / rows.chunks}, place);
    rows.supply = chosen.seconds;
    rows.ahead = rows.scanAhead = kCredit;
    rows.scan = static_cast<int32_t>(place);
    return worked(rows, 0, chosen.deviceSeconds);
  }

  /// Its reader begins then: the scan is some chunks ahead, and has waited with the rest.
  void scanWaits(const Arrival &rows, double begin) {
    if (rows.scan >= 0 && begin > rows.first) {
      Work &scan = now_[static_cast<size_t>(Resource::kStorage)][rows.scan];
      scan.late = scan.seconds * std::max(0.0, rows.chunks - rows.scanAhead) / rows.chunks;
      scan.lateBegin = begin;
    }
  }

  /// Rows are sent: messages first, then chunk by chunk.
  Arrival move(Arrival rows, const ReshardCost &cost) {
    double moving = cost.latencySeconds + cost.postSeconds + cost.wireSeconds;
    double work = std::max(0.0, cost.seconds - moving);
    if (moving == 0) { // each rank keeps its part
      return worked(rows, 0, work);
    }
    // What takes them in is a pipeline of its own; chunks wait for it as for a reader.
    rows.ahead += kCredit;
    rows.scanAhead += kCredit;
    if (rows.pipeline >= 0) {
      rows.supply = std::max(rows.supply, pipelines()[rows.pipeline].seconds);
      rows.pipeline = -1;
    }
    double begin = rows.first + cost.latencySeconds;
    if (cost.postSeconds > 0) {
      begin = cost.latencySeconds + done(Resource::kMessages, rows.first, cost.postSeconds);
    }
    rows = supplied(rows, begin, Resource::kLinks, cost.wireSeconds);
    rows = worked(rows, 0, work);
    if (cost.waitsForAll) {
      rows.first = rows.last;
    }
    return rows;
  }

  Arrival input(size_t edge) {
    const ShardEdge &known = program_.edges()[edge];
    Arrival rows = results_[known.source];
    if (!known.value.hasOneUse()) {
      rows.pipeline = -1; // each user reads what is kept for all
    }
    if (decides_ == known.target && known.targetOperand == 1) {
      decided_ = rows.last; // all are counted before one way or the other is taken
      rows = Arrival::atOnce(decided_, rows.chunks);
    }
    const ReshardCost &cost = schedule_.reshard(edge, choice_);
    if (cost.seconds == 0) {
      return rows;
    }
    // Users of one layout of a value share the reshard.
    const Layout &need = strategy(static_cast<size_t>(known.target)).needs[known.targetOperand];
    for (const Moved &moved : moved_) {
      if (moved.value == known.value && *moved.layout == need) {
        return moved.arrival;
      }
    }
    Arrival arrival = move(rows, cost);
    moved_.push_back({known.value, &need, arrival});
    return arrival;
  }

  Arrival run(size_t node) {
    const PlacedNode &placed = program_.nodes()[node];
    const Strategy &chosen = strategy(node);
    if (isa_and_nonnull<frame::ScanOp>(placed.op)) {
      return scan(node);
    }
    SmallVector<Arrival, 2> inputs;
    for (int32_t edge : schedule_.edgesInto_[node]) {
      inputs.push_back(input(static_cast<size_t>(edge)));
    }
    double begin = 0;
    for (int32_t scalar : schedule_.waitsFor_[node]) {
      begin = std::max(begin, results_[scalar].last);
    }
    auto relation = dyn_cast_or_null<frame::RelationalOpInterface>(placed.op);
    if (relation && relation.getRowFlow() == frame::RowFlow::kProbe) {
      Arrival built = worked(inputs[chosen.turned ? 0 : 1], 0, chosen.buildSeconds);
      Arrival made = worked(inputs[chosen.turned ? 1 : 0], std::max(begin, built.last),
                            chosen.seconds - chosen.buildSeconds);
      return chosen.turned ? readAgain(made, node) : made;
    }
    Arrival all;
    for (const Arrival &each : inputs) {
      double first = std::max(all.first, each.first);
      double last = std::max(all.last, each.last);
      double lastAhead = std::max(all.lastAhead, each.lastAhead);
      all = each.supply >= all.supply ? each : all;
      all.first = first;
      all.last = last;
      all.lastAhead = lastAhead;
    }
    Arrival made = worked(all, begin, chosen.seconds);
    return fillsState(placed.op) ? readAgain(made, node) : made;
  }

  /// Rows of a state that is complete when the last of `filling` are there.
  Arrival readAgain(const Arrival &filling, size_t node) {
    bool some = !program_.nodes()[node].results.empty();
    return Arrival::atOnce(filling.last,
                           some ? std::min(cost::launchesOverState(rowsOf(node)), kChunksMax) : 1);
  }

  LayoutSchedule &schedule_;
  ShardProgram &program_;
  solve::Choice choice_;
  int32_t decides_ = -1; ///< the join whose way is decided at run time
  Operation *lateScan_ = nullptr;
  double decided_ = kUnknown;
  std::vector<Arrival> results_; ///< by node
  struct Moved {
    Value value;
    const Layout *layout;
    Arrival arrival;
  };
  std::vector<Moved> moved_;
  /// By resource, of stages in the order in which they are looked at.
  std::array<std::vector<Work>, kResources> before_;
  std::array<std::vector<Work>, kResources> now_;
};

double LayoutSchedule::secondsOf(const solve::Choice &choice, Ways ways) {
  return overlaps() ? Run(*this, choice, ways).seconds()
                    : solve::costOf(program_.problem(), choice);
}

} // namespace headrace::shard
