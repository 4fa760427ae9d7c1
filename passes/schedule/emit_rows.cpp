// Tasks over streams: loads, runs, exchanges, reservations, results.
#include "passes/schedule/plan_emitter.h"

#include "dialects/frame/LogicalTypes.h"
#include "dialects/topo/TopoDialect.h"
#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"
#include "passes/analysis/state_bytes.h"
#include "passes/schedule/plan_enums.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace headrace::schedule {

/// What a run's pipeline does, op by op: the rows of one that selects none are those before it.
static std::vector<plan::Step> stepsOf(pipe::PipelineOp pipeline, const plan::Kernel &kernel) {
  std::vector<plan::Step> steps;
  Block &body = pipeline.getBody().front();
  int32_t stage = plan::kStepSource;
  int32_t first = plan::kNone; // filters in a row are emitted, and counted, as the first of them
  for (Operation &op : body) {
    int32_t number = analysis::operatorOf(op.getLoc());
    bool filter = isa<pipe::FilterOp>(op);
    first = filter ? (isa<pipe::FilterOp>(op.getPrevNode()) ? first : number) : plan::kNone;
    int32_t counted = filter                                    ? first
                      : isa<pipe::LookupOp, pipe::ExpandOp>(op) ? number
                                                                : plan::kNone;
    for (auto [index, stageOperator] : llvm::enumerate(kernel.stageOperators)) {
      stage =
          counted != plan::kNone && stageOperator == counted ? static_cast<int32_t>(index) : stage;
    }
    if (number == plan::kNone) {
      continue;
    }
    bool goesOn = filter && isa<pipe::FilterOp>(op.getNextNode()) &&
                  analysis::operatorOf(op.getNextNode()->getLoc()) != number;
    steps.push_back({number, &op == &body.back() ? plan::kStepSink
                             : goesOn            ? plan::kStepUncounted
                                                 : stage});
  }
  return steps;
}

static plan::Bound boundOf(pipe::BoundAttr description) {
  plan::Bound bound;
  bound.column = description.getColumn().str();
  bound.op = planKind(description.getKind());
  Attribute value = description.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    bound.integer = integer.getInt();
  } else if (auto real = dyn_cast<FloatAttr>(value)) {
    bound.real = real.getValueAsDouble();
  } else {
    bound.text = cast<StringAttr>(value).str();
  }
  return bound;
}

/// The filter by which a rank keeps its stretches of a column of the files, with what asks for
/// them.
struct KeptStretches {
  pipe::FilterOp filter;
  pipe::OwnsOp owns;
  StringAttr column; ///< in the files
};

/// Of rows as the scan has them: other conditions may stand before.
static std::optional<KeptStretches> keptStretches(pipe::ScanOp scan) {
  for (Operation *op = scan->getNextNode(); op; op = op->getNextNode()) {
    auto filter = dyn_cast<pipe::FilterOp>(op);
    if (!filter) {
      break;
    }
    auto owned = filter.getBody().getOps<pipe::OwnsOp>();
    if (owned.empty() || !(*owned.begin()).getCycle()) {
      continue;
    }
    for (auto column : scan.getColumns().getAsRange<pipe::ScanColumnAttr>()) {
      if (column.getColumn() == filter.getColumns()[0] && column.getFile()) {
        return KeptStretches{filter, *owned.begin(), column.getFile()};
      }
    }
  }
  return std::nullopt;
}

/// The rows that the fullest rank reads of a table that was counted, or thought of.
static plan::Cardinality rowsRead(pipe::ScanOp scan, std::optional<KeptStretches> &kept) {
  auto share = 1 / static_cast<double>(topo::ranksAlong(scan, scan.getSplitAttr()));
  if (kept) {
    // Of those that it reads it keeps its own.
    const auto ranks = static_cast<double>(topo::ranksAlong(scan, kept->owns.getAxes()));
    FloatAttr selectivity = kept->filter.getSelectivityAttr();
    share /= ranks * std::clamp(selectivity ? selectivity.getValueAsDouble() : 1, 1 / ranks, 1.0);
  }
  plan::Cardinality rows;
  const double all = static_cast<double>(scan.getHolds().value_or(0));
  rows.expected = rows.p95 = static_cast<uint64_t>(std::ceil(all * share));
  return rows;
}

void PlanEmitter::addLoad(sched::LoadOp op) {
  auto pipeline = SymbolTable::lookupNearestSymbolFrom<pipe::PipelineOp>(op, op.getScanAttr());
  auto scan = cast<pipe::ScanOp>(pipeline.getBody().front().front());
  plan::Slot slot;
  double textBytes = 0;
  slot.name = scan.getTable().str();
  slot.kind = plan::SlotKind::kTable;
  pipe::RowsType rows = scan.getRows().getType();
  for (auto [index, description] :
       llvm::enumerate(scan.getColumns().getAsRange<pipe::ScanColumnAttr>())) {
    plan::SlotColumn column;
    column.ordinal = !description.getFile();
    column.file = column.ordinal ? "" : description.getFile().str();
    column.logical =
        description.getLogical() ? logicalType(description.getLogical()) : LogicalType();
    column.type = physicalType(rows.getTypes()[index]);
    column.nullable = rows.getNullable()[index];
    if (description.getMin()) {
      column.ranged = true;
      column.min = description.getMin().getInt();
      column.max = description.getMax().getInt();
    }
    column.ordered = description.getOrdered();
    column.fileBytes = description.fileBytes();
    textBytes += description.textBytes();
    slot.columns.push_back(std::move(column));
  }
  if (scan.getBounds()) {
    for (auto description : scan.getBounds()->getAsRange<pipe::BoundAttr>()) {
      slot.bounds.push_back(boundOf(description));
    }
  }
  std::optional<KeptStretches> kept = keptStretches(scan);
  if (kept) {
    slot.stretches = {kept->column.str(), static_cast<int64_t>(*kept->owns.getCycle()),
                      axesNamed(kept->owns.getAxes())};
  }
  plan::Task task;
  plan::LoadTask load;
  task.name = "load_" + slot.name;
  if (scan.getSplit()) {
    load.split = axesNamed(*scan.getSplit());
  }
  slot.pieceRows = static_cast<uint32_t>(op.getPieceRows().value_or(slot.pieceRows));
  load.slot = static_cast<int32_t>(plan_.slots.size());
  task.place = place(op.getLoc(), "scan " + slot.name);
  plan_.slots.push_back(std::move(slot));
  load.outputStream = addStream(op.getRows(), task.name);
  plan_.streams[load.outputStream].rows = rowsRead(scan, kept);
  plan_.streams[load.outputStream].textBytes = textBytes;
  task.work = load;
  addTask(std::move(task), op);
}

void PlanEmitter::addValues(sched::ValuesOp op) {
  plan::Slot slot;
  slot.name = "(values)"; // nothing is bound to it
  slot.kind = plan::SlotKind::kValues;
  auto rows = cast<pipe::RowsType>(cast<sched::StreamType>(op.getRows().getType()).getRows());
  for (size_t index = 0; index < rows.size(); ++index) {
    plan::SlotColumn column;
    column.file = rows.getNames()[index].str();
    column.logical = logicalType(cast<TypeAttr>(op.getLogical()[index]).getValue());
    column.type = physicalType(rows.getTypes()[index]);
    column.nullable = rows.getNullable()[index];
    slot.columns.push_back(std::move(column));
  }
  for (auto row : op.getCells().getAsRange<ArrayAttr>()) {
    for (Attribute literal : row) {
      plan::Cell cell;
      if (auto integer = dyn_cast<IntegerAttr>(literal)) {
        APInt wide = integer.getType().isInteger(1) ? integer.getValue().zext(128)
                                                    : integer.getValue().sextOrTrunc(128);
        cell.integer = static_cast<int64_t>(wide.extractBitsAsZExtValue(64, 0));
        cell.high = static_cast<int64_t>(wide.extractBitsAsZExtValue(64, 64));
      } else if (auto real = dyn_cast<FloatAttr>(literal)) {
        cell.real = real.getValueAsDouble();
      } else if (auto text = dyn_cast<StringAttr>(literal)) {
        cell.text = text.str();
      } else {
        cell.null = true;
      }
      slot.cells.push_back(std::move(cell));
    }
  }
  plan::Task task;
  plan::LoadTask load;
  task.name = "load_values";
  load.slot = static_cast<int32_t>(plan_.slots.size());
  task.place = place(op.getLoc(), "values");
  plan_.slots.push_back(std::move(slot));
  load.outputStream = addStream(op.getRows(), task.name);
  task.work = load;
  addTask(std::move(task), op);
}

/// Of the chunks of a stream in parts: a worker fills one for each part at a time.
static constexpr uint64_t kPartChunkBytes = 32 << 10;

void PlanEmitter::describeStream(plan::Stream &written, pipe::EmitOp emit) {
  auto stream = SymbolTable::lookupNearestSymbolFrom<pipe::StreamOp>(emit, emit.getStreamAttr());
  if (!stream) {
    return;
  }
  written.name = stream.getSymName().str();
  written.rows = cardinalityOf(stream.getCarriesAttr());
  written.textBytes = emit.getTextBytes() ? emit.getTextBytes()->convertToDouble() : 0;
  if (stream.getFullest()) {
    written.fullest = stream.getFullest()->convertToDouble();
  }
  if (stream.getParts()) {
    written.parts = static_cast<uint32_t>(*stream.getParts());
    written.chunkRows = static_cast<uint32_t>(std::clamp<uint64_t>(
        kPartChunkBytes / analysis::bytesOf(written.schema), 64, written.chunkRows));
  }
}

/// The place of these rows among those that are united; 0 if they are not.
static uint32_t partWritten(Value rows) {
  OpOperand *use = &*rows.use_begin();
  if (auto repeat = dyn_cast<sched::RepeatOp>(use->getOwner()->getParentOp());
      repeat && isa<sched::YieldOp>(use->getOwner())) {
    use = &*repeat.getOutputs()[use->getOperandNumber()].use_begin();
  }
  return isa<sched::UniteOp>(use->getOwner()) ? use->getOperandNumber() : 0;
}

LogicalResult PlanEmitter::addRun(sched::RunOp op) {
  plan::Task task;
  plan::RunTask made;
  task.name = op.getKernel().str();
  made.kernel = kernelNamed(op.getKernel());
  auto pipeline = SymbolTable::lookupNearestSymbolFrom<pipe::PipelineOp>(op, op.getKernelAttr());
  if (made.kernel == plan::kNone || !pipeline) {
    return op.emitError("no kernel was compiled for: ") << op.getKernel();
  }
  if (op.getInput()) {
    made.inputStream = streams_.lookup(op.getInput());
  } else {
    made.sourceState = states_.lookup(*op.getSource());
  }
  for (StringRef name : statesOf(pipeline)) {
    bool filled = llvm::is_contained(op.getFills(), FlatSymbolRefAttr::get(op.getContext(), name));
    made.states.push_back(
        {states_.lookup(name), filled ? plan::StateUse::kPerWorker : plan::StateUse::kShared});
  }
  task.steps = stepsOf(pipeline, plan_.kernels[made.kernel]);
  made.partitioned = op.getPartitioned();
  if (op.getGpu()) {
    task.device = plan::Device::kGpu;
    made.deviceKernel = deviceKernels_.lookup(op.getKernel());
  }
  Operation &sink = pipeline.getBody().front().back();
  task.place = place(op.getLoc(), sink.getName().stripDialect().str());
  if (op.getOutput()) {
    auto emit = cast<pipe::EmitOp>(sink);
    // A choice has made the stream that both its ways write.
    bool chosen = op->getParentOfType<sched::ChooseOp>() && streams_.contains(op.getOutput());
    made.outputStream = streamOf(op.getOutput(), emit.getStream().str());
    made.part = partWritten(op.getOutput());
    if (!chosen) {
      describeStream(plan_.streams[made.outputStream], emit);
    }
  }
  task.work = std::move(made);
  addTask(std::move(task), op);
  return success();
}

static int32_t columnNamed(StringRef name, const plan::Schema &schema) {
  auto found = llvm::find_if(schema.columns,
                             [&](const plan::Column &column) { return column.name == name; });
  return static_cast<int32_t>(found - schema.columns.begin());
}

/// By what the rows of a run go: an order by whose ranges they do, or keys.
static void describeKeys(plan::ExchangeTask &exchange, sched::ExchangeOp op,
                         const plan::Schema &schema) {
  sched::RunOp run = sched::writerOf(op.getInput());
  auto pipeline = SymbolTable::lookupNearestSymbolFrom<pipe::PipelineOp>(op, run.getKernelAttr());
  auto emit = cast<pipe::EmitOp>(pipeline.getBody().front().back());
  auto stream = SymbolTable::lookupNearestSymbolFrom<pipe::StreamOp>(op, emit.getStreamAttr());
  auto none = ArrayAttr::get(op.getContext(), {});
  for (auto key : stream.getSortKeys().value_or(none).getAsRange<pipe::SortKeyAttr>()) {
    exchange.order.push_back(
        {columnNamed(key.getField(), schema), key.getDescending(), key.getNullsFirst()});
  }
  if (exchange.exchange == plan::ExchangeKind::kHash) {
    for (auto key : emit.getKeys().getAsRange<StringAttr>()) {
      exchange.keys.push_back(columnNamed(key.getValue(), schema));
    }
  }
  if (dist::SkewAttr skew = stream.getSkewAttr()) {
    exchange.pair = static_cast<int32_t>(skew.getPair());
    exchange.heavy = planHeavyRows(skew.getHeavy());
  }
}

void PlanEmitter::addExchange(sched::ExchangeOp op) {
  plan::Task task;
  plan::ExchangeTask exchange;
  exchange.inputStream = streams_.lookup(op.getInput());
  task.name = plan_.streams[exchange.inputStream].name;
  exchange.outputStream = addStream(op.getOutput(), task.name + ".received");
  plan_.streams[exchange.outputStream].textBytes = plan_.streams[exchange.inputStream].textBytes;
  exchange.exchange = planKind(op.getKind());
  exchange.channel = static_cast<int32_t>(op.getChannel());
  exchange.axes = axesNamed(op.getAxes());
  describeKeys(exchange, op, plan_.streams[exchange.inputStream].schema);
  task.work = exchange;
  task.place = place(op.getLoc(), "exchange " + sched::stringifyExchangeKind(op.getKind()).str());
  addTask(std::move(task), op);
}

/// Whether it is, or has, a type that those who read a result's rows get as another one, decimals
/// or texts, whose hashes are others.
static bool becomesAnother(const LogicalType &type) {
  return type.kind == LogicalKind::kU128 || type.kind == LogicalKind::kEnum ||
         llvm::any_of(type.children, becomesAnother);
}

void PlanEmitter::addResult(sched::ResultOp op) {
  plan_.result = plan_.streams[streams_.lookup(op.getRows())].schema;
  if (op.getNames()) {
    for (auto [column, name] :
         llvm::zip(plan_.result.columns, op.getNames()->getAsRange<StringAttr>())) {
      column.name = name.str();
    }
  }
  plan_.ordered = op.getOrdered();
  if (std::optional<ArrayAttr> keys = op.getResident()) {
    plan_.resident = true;
    auto isOther = [&](Attribute key) {
      return llvm::any_of(plan_.result.columns, [&](const plan::Column &column) {
        return column.name == cast<StringAttr>(key).getValue() && becomesAnother(column.logical);
      });
    };
    keys = llvm::any_of(*keys, isOther) ? ArrayAttr::get(op.getContext(), {}) : *keys;
    for (auto key : keys->getAsRange<StringAttr>()) {
      plan_.residentKeys.push_back(key.str());
    }
  }
  plan::Task task;
  task.name = "result";
  task.work = plan::ResultTask{streams_.lookup(op.getRows())};
  task.place = place(op.getLoc(), "result");
  addTask(std::move(task), op);
}

void PlanEmitter::addReserve(sched::ReserveOp op) {
  auto state = SymbolTable::lookupNearestSymbolFrom<pipe::StateOp>(op, op.getStateAttr());
  plan::Task task;
  task.name = "reserve_" + op.getState().str();
  plan::State &described = plan_.states[states_.lookup(op.getState())];
  described.tier = planTier(op.getTier());
  task.work = plan::ReserveTask{states_.lookup(op.getState()), analysis::bytesOf(state)};
  task.place = described.place;
  addTask(std::move(task), op);
}

void PlanEmitter::addRelease(sched::ReleaseOp op) {
  plan::Task task;
  auto reserve = op.getGranted().getDefiningOp<sched::ReserveOp>();
  int32_t reservation = tasks_.lookup(reserve);
  task.work = plan::ReleaseTask{reservation};
  task.name = "release_" + reserve.getState().str();
  task.place = plan_.tasks[reservation].place;
  addTask(std::move(task), op);
}

} // namespace headrace::schedule
