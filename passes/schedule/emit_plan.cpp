// sched to the structs of a plan: one way, op by op.
#include "passes/schedule/schedule.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "passes/analysis/logical_type.h"
#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"
#include "passes/schedule/reservations.h"
#include "runtime/abi/imports.h"

#include "dialects/interfaces/SourcePlace.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace headrace::schedule {

namespace {

class PlanEmitter {
public:
  PlanEmitter(sched::ProgramOp program, std::vector<plan::Kernel> kernels,
              std::vector<std::string> places)
      : program_(program), module_(program->getParentOfType<ModuleOp>()) {
    plan_.kernels = std::move(kernels);
    for (auto [index, kernel] : llvm::enumerate(plan_.kernels)) {
      kernels_.try_emplace(kernel.symbol, static_cast<int32_t>(index));
    }
    for (std::string &text : places) {
      plan_.places.push_back({std::move(text), "expression"});
    }
  }
  FailureOr<plan::Plan> run();

private:
  void addStates();
  void addLoad(sched::LoadOp op);
  void addValues(sched::ValuesOp op);
  LogicalResult addRun(sched::RunOp op);
  void addExchange(sched::ExchangeOp op);
  void addResult(sched::ResultOp op);
  void addInput(sched::InputOp op);
  void addToTensor(sched::ToTensorOp op);
  LogicalResult addCompute(sched::ComputeOp op);
  void addCollective(sched::CollectiveOp op);
  void addTensorResult(sched::TensorResultOp op);
  int32_t addBuffer(Value buffer, std::string name);
  /// The operands of a tensor task, which are ready when the tasks that write them have ended.
  std::vector<int32_t> readBuffers(plan::Task &task, ValueRange buffers);
  /// Outputs with as many rows as a to_tensor got cannot be made before it has counted them.
  void waitForRows(plan::Task &task, ValueRange outputs);
  void addReserve(sched::ReserveOp op);
  void addRelease(sched::ReleaseOp op);
  LogicalResult addChoose(sched::ChooseOp op);
  LogicalResult addTasks(Block &block);
  int32_t addStream(Value stream, std::string name);
  int32_t kernelNamed(StringRef symbol);
  int32_t place(Location location, const std::string &operation);
  /// What goes over the mesh of `sched` goes over all of it.
  std::vector<int32_t> allAxes() const;
  void addTask(plan::Task task, Operation *op);

  sched::ProgramOp program_;
  ModuleOp module_;
  plan::Plan plan_;
  llvm::StringMap<int32_t> kernels_; ///< by symbol
  llvm::StringMap<int32_t> states_;
  DenseMap<Value, int32_t> streams_;
  DenseMap<Value, int32_t> buffers_;
  DenseMap<int64_t, int32_t> rowCounts_; ///< number of a to_tensor -> the buffer that has its rows
  DenseMap<int64_t, int32_t> rowTasks_;  ///< number of a to_tensor -> its task
  DenseMap<Operation *, int32_t> tasks_;
};

int32_t PlanEmitter::place(Location location, const std::string &operation) {
  plan_.places.push_back({sourcePlace(analysis::withoutOperator(location)), operation});
  return static_cast<int32_t>(plan_.places.size()) - 1;
}

std::vector<int32_t> PlanEmitter::allAxes() const {
  std::vector<int32_t> axes(plan_.mesh.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

int32_t PlanEmitter::kernelNamed(StringRef symbol) {
  auto found = kernels_.find(symbol);
  return found == kernels_.end() ? plan::kNone : found->second;
}

/// What a run's pipeline does, op by op: the rows of one that selects none are those before it.
std::vector<plan::Step> stepsOf(pipe::PipelineOp pipeline, const plan::Kernel &kernel) {
  std::vector<plan::Step> steps;
  Block &body = pipeline.getBody().front();
  int32_t stage = plan::kStepSource;
  int32_t first = plan::kNone; // filters in a row are emitted, and counted, as the first of them
  for (Operation &op : body) {
    int32_t number = analysis::operatorOf(op.getLoc());
    bool filter = isa<pipe::FilterOp>(op);
    first = filter ? (isa<pipe::FilterOp>(op.getPrevNode()) ? first : number) : plan::kNone;
    int32_t counted = filter ? first : isa<pipe::LookupOp>(op) ? number : plan::kNone;
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

void PlanEmitter::addTask(plan::Task task, Operation *op) {
  if (llvm::is_contained({plan::TaskKind::kExchange, plan::TaskKind::kCollective,
                          plan::TaskKind::kCompute, plan::TaskKind::kToTensor},
                         task.kind())) {
    for (int32_t number : analysis::operatorsOf(op->getLoc())) {
      task.steps.push_back({number, plan::kStepSource});
    }
  }
  for (Value operand : op->getOperands()) {
    if (isa<sched::TokenType>(operand.getType())) {
      task.after.push_back(tasks_.lookup(operand.getDefiningOp()));
    }
  }
  tasks_[op] = static_cast<int32_t>(plan_.tasks.size());
  plan_.tasks.push_back(std::move(task));
}

int32_t PlanEmitter::addStream(Value value, std::string name) {
  plan::Stream stream;
  stream.name = std::move(name);
  auto rows = cast<pipe::RowsType>(cast<sched::StreamType>(value.getType()).getRows());
  ArrayAttr logical;
  if (auto result = dyn_cast<sched::ResultOp>(*value.user_begin())) {
    logical = result.getLogicalAttr();
  } else if (auto tensors = dyn_cast<sched::ToTensorOp>(*value.user_begin())) {
    logical = tensors.getLogicalAttr();
  }
  stream.schema = schemaOf(rows, logical);
  streams_[value] = static_cast<int32_t>(plan_.streams.size());
  plan_.streams.push_back(std::move(stream));
  return streams_[value];
}

/// What a user calls the operation that a state belongs to.
std::string operationOf(pipe::StateKind kind) {
  switch (kind) {
  case pipe::StateKind::Scalar:
  case pipe::StateKind::Group:
    return "aggregate";
  case pipe::StateKind::Join:
    return "join build";
  case pipe::StateKind::Sort:
    return "sort";
  case pipe::StateKind::Rows:
    return "rows kept for a join";
  }
  llvm_unreachable("unknown state kind");
}

void PlanEmitter::addStates() {
  llvm::StringMap<StringRef> merges; // state -> the pipeline that merges its copies
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    if (std::optional<StringRef> state = pipeline.getMerges()) {
      merges[*state] = pipeline.getSymName();
    }
  }
  for (auto op : module_.getOps<pipe::StateOp>()) {
    plan::State state = layoutState(op);
    state.mergeKernel = kernelNamed(merges.lookup(op.getSymName()));
    state.compareKernel = kernelNamed(("compare_" + op.getSymName()).str());
    state.place = place(op.getLoc(), operationOf(op.getKind()));
    states_[op.getSymName()] = static_cast<int32_t>(plan_.states.size());
    plan_.states.push_back(std::move(state));
  }
}

plan::BoundKind planKind(pipe::BoundKind kind) {
  switch (kind) {
  case pipe::BoundKind::Eq:
    return plan::BoundKind::kEq;
  case pipe::BoundKind::Lt:
    return plan::BoundKind::kLt;
  case pipe::BoundKind::Le:
    return plan::BoundKind::kLe;
  case pipe::BoundKind::Gt:
    return plan::BoundKind::kGt;
  case pipe::BoundKind::Ge:
    return plan::BoundKind::kGe;
  }
  llvm_unreachable("unknown kind of bound");
}

plan::Bound boundOf(pipe::BoundAttr description) {
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

/// The rows that the fullest rank reads of a table that was counted, or thought of.
plan::Cardinality rowsRead(pipe::ScanOp scan) {
  topo::MeshAttr mesh = topo::meshOf(scan->getParentOfType<ModuleOp>());
  uint64_t parts = scan.getSplit() && mesh ? static_cast<uint64_t>(mesh.getRankCount()) : 1;
  plan::Cardinality rows;
  rows.expected = rows.p95 = llvm::divideCeil(scan.getHolds().value_or(0), parts);
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
    column.file = description.getFile().str();
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
  plan::Task task;
  plan::LoadTask load;
  task.name = "load_" + slot.name;
  task.phase = "scan";
  load.split = scan.getSplit();
  load.slot = static_cast<int32_t>(plan_.slots.size());
  task.place = place(op.getLoc(), "scan " + slot.name);
  plan_.slots.push_back(std::move(slot));
  load.outputStream = addStream(op.getRows(), task.name);
  plan_.streams[load.outputStream].rows = rowsRead(scan);
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
  task.phase = "scan";
  load.slot = static_cast<int32_t>(plan_.slots.size());
  task.place = place(op.getLoc(), "values");
  plan_.slots.push_back(std::move(slot));
  load.outputStream = addStream(op.getRows(), task.name);
  task.work = load;
  addTask(std::move(task), op);
}

LogicalResult PlanEmitter::addRun(sched::RunOp op) {
  plan::Task task;
  plan::RunTask made;
  task.name = op.getKernel().str();
  made.kernel = kernelNamed(op.getKernel());
  auto pipeline = SymbolTable::lookupNearestSymbolFrom<pipe::PipelineOp>(op, op.getKernelAttr());
  if (made.kernel == plan::kNone || !pipeline) {
    // no test: every pipeline of the module was compiled
    return op.emitError("no kernel was compiled for: ") << op.getKernel();
  }
  if (op.getInput()) {
    made.inputStream = streams_.lookup(op.getInput());
    task.phase = op.getInput().getDefiningOp<sched::LoadOp>() ? "scan" : "receive";
  } else {
    made.sourceState = states_.lookup(*op.getSource());
    task.phase = "read";
  }
  for (StringRef name : statesOf(pipeline)) {
    bool filled = llvm::is_contained(op.getFills(), FlatSymbolRefAttr::get(op.getContext(), name));
    made.states.push_back(
        {states_.lookup(name), filled ? plan::StateUse::kPerWorker : plan::StateUse::kShared});
  }
  task.steps = stepsOf(pipeline, plan_.kernels[made.kernel]);
  made.partitioned = op.getPartitioned();
  Operation &sink = pipeline.getBody().front().back();
  task.place = place(op.getLoc(), sink.getName().stripDialect().str());
  if (op.getOutput() && streams_.contains(op.getOutput())) {
    made.outputStream = streams_.lookup(op.getOutput()); // what both ways of a choice write
  } else if (auto unite = op.getOutput() ? dyn_cast<sched::UniteOp>(*op.getOutput().user_begin())
                                         : sched::UniteOp()) {
    if (!streams_.contains(unite.getRows())) {
      addStream(unite.getRows(), cast<pipe::EmitOp>(sink).getStream().str());
      plan_.streams.back().writers = static_cast<uint32_t>(unite.getInputs().size());
    }
    made.outputStream = streams_.lookup(unite.getRows());
  } else if (op.getOutput()) {
    auto emit = cast<pipe::EmitOp>(sink);
    made.outputStream = addStream(op.getOutput(), emit.getStream().str());
    if (auto stream =
            SymbolTable::lookupNearestSymbolFrom<pipe::StreamOp>(op, emit.getStreamAttr())) {
      plan::Stream &written = plan_.streams[made.outputStream];
      written.rows = cardinalityOf(stream.getCarriesAttr());
      written.textBytes = emit.getTextBytes() ? emit.getTextBytes()->convertToDouble() : 0;
      if (stream.getFullest()) {
        written.fullest = stream.getFullest()->convertToDouble();
      }
    }
  }
  task.work = std::move(made);
  addTask(std::move(task), op);
  return success();
}

plan::ExchangeKind planKind(sched::ExchangeKind kind) {
  switch (kind) {
  case sched::ExchangeKind::Hash:
    return plan::ExchangeKind::kHash;
  case sched::ExchangeKind::Broadcast:
    return plan::ExchangeKind::kBroadcast;
  case sched::ExchangeKind::Gather:
    return plan::ExchangeKind::kGather;
  }
  llvm_unreachable("unknown kind of exchange");
}

plan::CollectiveKind planKind(sched::CollectiveKind kind) {
  switch (kind) {
  case sched::CollectiveKind::AllReduce:
    return plan::CollectiveKind::kAllReduce;
  case sched::CollectiveKind::AllGather:
    return plan::CollectiveKind::kAllGather;
  case sched::CollectiveKind::ReduceScatter:
    return plan::CollectiveKind::kReduceScatter;
  case sched::CollectiveKind::AllToAll:
    return plan::CollectiveKind::kAllToAll;
  }
  llvm_unreachable("unknown kind of collective");
}

plan::ComputeKind planKind(sched::Action action) {
  switch (action) {
  case sched::Action::Matmul:
    return plan::ComputeKind::kMatmul;
  case sched::Action::BatchMatmul:
    return plan::ComputeKind::kBatchMatmul;
  case sched::Action::Kernel:
    return plan::ComputeKind::kKernel;
  case sched::Action::Reshape:
    return plan::ComputeKind::kReshape;
  case sched::Action::Slice:
    return plan::ComputeKind::kSlice;
  }
  llvm_unreachable("unknown action");
}

plan::Reduction planReduction(sched::Reduction reduction) {
  switch (reduction) {
  case sched::Reduction::Sum:
    return plan::Reduction::kSum;
  case sched::Reduction::Max:
    return plan::Reduction::kMax;
  case sched::Reduction::Min:
    return plan::Reduction::kMin;
  }
  llvm_unreachable("unknown reduction");
}

Tier planTier(sched::Tier tier) {
  switch (tier) {
  case sched::Tier::Host:
    return Tier::kHost;
  }
  llvm_unreachable("unknown tier");
}

void PlanEmitter::addExchange(sched::ExchangeOp op) {
  plan::Task task;
  plan::ExchangeTask exchange;
  task.phase = "exchange";
  exchange.inputStream = streams_.lookup(op.getInput());
  task.name = plan_.streams[exchange.inputStream].name;
  exchange.outputStream = addStream(op.getOutput(), task.name + ".received");
  plan_.streams[exchange.outputStream].textBytes = plan_.streams[exchange.inputStream].textBytes;
  exchange.exchange = planKind(op.getKind());
  exchange.channel = static_cast<int32_t>(op.getChannel());
  exchange.axes = allAxes();
  task.work = exchange;
  task.place = place(op.getLoc(), "exchange " + sched::stringifyExchangeKind(op.getKind()).str());
  addTask(std::move(task), op);
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
  plan::Task task;
  task.name = "result";
  task.phase = "result";
  task.work = plan::ResultTask{streams_.lookup(op.getRows())};
  task.place = place(op.getLoc(), "result");
  addTask(std::move(task), op);
}

void PlanEmitter::addReserve(sched::ReserveOp op) {
  auto state = SymbolTable::lookupNearestSymbolFrom<pipe::StateOp>(op, op.getStateAttr());
  plan::Task task;
  task.name = "reserve_" + op.getState().str();
  task.phase = "reserve";
  plan::State &described = plan_.states[states_.lookup(op.getState())];
  described.tier = planTier(op.getTier());
  task.work = plan::ReserveTask{states_.lookup(op.getState()), bytesOf(state)};
  task.place = described.place;
  addTask(std::move(task), op);
}

void PlanEmitter::addRelease(sched::ReleaseOp op) {
  plan::Task task;
  auto reserve = op.getGranted().getDefiningOp<sched::ReserveOp>();
  int32_t reservation = tasks_.lookup(reserve);
  task.work = plan::ReleaseTask{reservation};
  task.name = "release_" + reserve.getState().str();
  task.phase = "reserve";
  task.place = plan_.tasks[reservation].place;
  addTask(std::move(task), op);
}

LogicalResult PlanEmitter::addChoose(sched::ChooseOp op) {
  auto counted = op.getCounted().getDefiningOp<sched::RunOp>();
  plan::Hole hole;
  hole.name = cast<FlatSymbolRefAttr>(counted.getFills()[0]).getValue().str();
  hole.producer = tasks_.lookup(counted);
  hole.agreed = true;
  hole.bounds.expected = hole.bounds.p95 = op.getExpected().value_or(0);
  int32_t stream = addStream(op.getOutput(), "chosen_by_" + hole.name);
  plan::Task task;
  plan::ChooseTask choose;
  task.name = "choose_by_" + hole.name;
  task.phase = "choose";
  choose.hole = static_cast<int32_t>(plan_.holes.size());
  choose.threshold = op.getAtMost();
  task.place = place(op.getLoc(), "choose");
  plan_.holes.push_back(std::move(hole));
  for (auto [region, tasks] :
       {std::pair(&op.getFew(), &choose.thenTasks), std::pair(&op.getMany(), &choose.elseTasks)}) {
    Block &block = region->front();
    streams_[cast<sched::YieldOp>(block.getTerminator()).getRows()] = stream;
    auto first = static_cast<int32_t>(plan_.tasks.size());
    if (failed(addTasks(block))) {
      return failure();
    }
    for (auto id = first; id < static_cast<int32_t>(plan_.tasks.size()); ++id) {
      tasks->push_back(id);
    }
  }
  task.work = std::move(choose);
  addTask(std::move(task), op);
  return success();
}

int32_t PlanEmitter::addBuffer(Value value, std::string name) {
  auto type = cast<sched::BufferType>(value.getType());
  auto shape = cast<RankedTensorType>(type.getShape());
  plan::Buffer buffer;
  buffer.name = std::move(name);
  buffer.tier = planTier(type.getTier());
  Type element = shape.getElementType();
  buffer.element = element.isF32() ? "f32" : element.isF64() ? "f64" : "i64";
  if (type.getSplit() >= 0) {
    buffer.splits = {{static_cast<int32_t>(type.getSplit()), allAxes(), type.getRagged()}};
  }
  buffer.bytes = element.isF32() ? 4 : 8;
  for (int64_t extent : shape.getShape()) {
    bool known = !ShapedType::isDynamic(extent);
    buffer.shape.push_back(known ? extent : plan::kUnknownExtent);
    buffer.bytes *=
        known ? extent : 1; // an upper bound: a rank's part is not larger than the whole
  }
  if (!shape.hasStaticShape()) {
    // The first buffer of a to_tensor counts its rows.
    auto own = static_cast<int32_t>(plan_.buffers.size());
    buffer.sizedBy = rowCounts_.try_emplace(type.getRows(), own).first->second;
    buffer.bytes = 0; // asked for at run time
  }
  buffers_[value] = static_cast<int32_t>(plan_.buffers.size());
  plan_.buffers.push_back(std::move(buffer));
  return buffers_[value];
}

std::vector<int32_t> PlanEmitter::readBuffers(plan::Task &task, ValueRange buffers) {
  std::vector<int32_t> read;
  for (Value buffer : buffers) {
    read.push_back(buffers_.lookup(buffer));
    int32_t writer = tasks_.lookup(buffer.getDefiningOp());
    if (!llvm::is_contained(task.after, writer)) {
      task.after.push_back(writer);
    }
  }
  return read;
}

void PlanEmitter::addInput(sched::InputOp op) {
  auto shape = cast<RankedTensorType>(op.getBuffer().getType().getShape());
  plan::Task task;
  plan::InputTask input;
  task.name = "load " + op.getName().str();
  task.phase = "load";
  task.place = place(op.getLoc(), task.name);
  input.output = addBuffer(op.getBuffer(), op.getName().str());
  plan::Slot slot;
  slot.name = op.getName().str();
  slot.kind = plan::SlotKind::kTensor;
  slot.shape.assign(shape.getShape().begin(), shape.getShape().end());
  slot.element = plan_.buffers.back().element;
  input.slot = static_cast<int32_t>(plan_.slots.size());
  plan_.slots.push_back(std::move(slot));
  task.work = input;
  addTask(std::move(task), op);
}

void PlanEmitter::addToTensor(sched::ToTensorOp op) {
  plan::Task task;
  plan::ToTensorTask rows;
  task.name = "to_tensor";
  task.phase = "to_tensor";
  task.place = place(op.getLoc(), "to_tensor");
  rows.inputStream = streams_.lookup(op.getRows());
  const std::vector<plan::Column> &columns = plan_.streams[rows.inputStream].schema.columns;
  for (auto [group, buffer] :
       llvm::zip_equal(op.getGroups().getAsRange<ArrayAttr>(), op.getBuffers())) {
    for (StringAttr name : group.getAsRange<StringAttr>()) {
      auto column =
          llvm::find_if(columns, [&](const plan::Column &c) { return c.name == name.getValue(); });
      rows.columns.push_back(static_cast<int32_t>(column - columns.begin()));
    }
    rows.outputs.push_back(addBuffer(buffer, "rows"));
  }
  task.work = std::move(rows);
  addTask(std::move(task), op);
  rowTasks_[cast<sched::BufferType>(op.getBuffers().front().getType()).getRows()] =
      tasks_.lookup(op);
}

void PlanEmitter::waitForRows(plan::Task &task, ValueRange outputs) {
  for (Value output : outputs) {
    int64_t rows = cast<sched::BufferType>(output.getType()).getRows();
    auto counted = rowTasks_.find(rows);
    if (counted != rowTasks_.end() && !llvm::is_contained(task.after, counted->second)) {
      task.after.push_back(counted->second);
    }
  }
}

LogicalResult PlanEmitter::addCompute(sched::ComputeOp op) {
  plan::Task task;
  plan::ComputeTask compute;
  task.name = op.getLabel().str();
  compute.operation = planKind(op.getAction());
  task.phase = "compute";
  task.place = place(op.getLoc(), task.name);
  compute.parameters.assign(op.getParameters().begin(), op.getParameters().end());
  if (op.getKernel()) {
    compute.kernel = kernelNamed(*op.getKernel());
    if (compute.kernel == plan::kNone) {
      // no test: every named tensor op was compiled
      return op.emitError("no kernel was compiled for: ") << *op.getKernel();
    }
  }
  compute.inputs = readBuffers(task, op.getInputs());
  for (Value output : op.getOutputs()) {
    compute.outputs.push_back(addBuffer(output, task.name));
  }
  task.work = std::move(compute);
  waitForRows(task, op.getOutputs());
  addTask(std::move(task), op);
  return success();
}

void PlanEmitter::addCollective(sched::CollectiveOp op) {
  plan::Task task;
  plan::CollectiveTask collective;
  task.name = sched::stringifyCollectiveKind(op.getCollective()).str();
  collective.operation = planKind(op.getCollective());
  if (op.getReduction()) {
    collective.combine = planReduction(*op.getReduction());
  }
  task.phase = "communicate";
  task.place = place(op.getLoc(), task.name);
  collective.axes = allAxes();
  collective.input = readBuffers(task, op.getInput()).front();
  collective.output = addBuffer(op.getOutput(), task.name);
  task.work = collective;
  waitForRows(task, op.getOutput());
  addTask(std::move(task), op);
}

void PlanEmitter::addTensorResult(sched::TensorResultOp op) {
  plan::Task task;
  task.name = "result";
  task.phase = "result";
  task.place = place(op.getLoc(), "result");
  task.work = plan::TensorResultTask{readBuffers(task, op.getBuffer()).front()};
  addTask(std::move(task), op);
}

FailureOr<plan::Plan> PlanEmitter::run() {
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(abi::importsHash()));
  plan_.importsHash = hash;
  topo::MeshAttr mesh = topo::meshOf(module_);
  if (!mesh) {
    return program_.emitError("is not for ranks of a topo.mesh");
  }
  for (auto [name, size] : llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    plan_.mesh.push_back({name.str(), static_cast<uint32_t>(size)});
  }
  if (auto topology = module_->getAttrOfType<topo::TopologyAttr>(
          topo::TopoDialect::getTopologyAttrName())) {
    plan_.topologyHash = topology.getHash().str();
  }
  addStates();
  if (failed(addTasks(program_.getBody().front()))) {
    return failure();
  }
  return std::move(plan_);
}

LogicalResult PlanEmitter::addTasks(Block &block) {
  for (Operation &op : block) {
    if (auto load = dyn_cast<sched::LoadOp>(op)) {
      addLoad(load);
    } else if (auto values = dyn_cast<sched::ValuesOp>(op)) {
      addValues(values);
    } else if (auto run = dyn_cast<sched::RunOp>(op)) {
      if (failed(addRun(run))) {
        return failure();
      }
    } else if (auto exchange = dyn_cast<sched::ExchangeOp>(op)) {
      addExchange(exchange);
    } else if (auto result = dyn_cast<sched::ResultOp>(op)) {
      addResult(result);
    } else if (auto input = dyn_cast<sched::InputOp>(op)) {
      addInput(input);
    } else if (auto rows = dyn_cast<sched::ToTensorOp>(op)) {
      addToTensor(rows);
    } else if (auto compute = dyn_cast<sched::ComputeOp>(op)) {
      if (failed(addCompute(compute))) {
        return failure();
      }
    } else if (auto collective = dyn_cast<sched::CollectiveOp>(op)) {
      addCollective(collective);
    } else if (auto result = dyn_cast<sched::TensorResultOp>(op)) {
      addTensorResult(result);
    } else if (auto reserve = dyn_cast<sched::ReserveOp>(op)) {
      addReserve(reserve);
    } else if (auto release = dyn_cast<sched::ReleaseOp>(op)) {
      addRelease(release);
    } else if (auto choose = dyn_cast<sched::ChooseOp>(op)) {
      if (failed(addChoose(choose))) {
        return failure();
      }
    } else if (!isa<sched::YieldOp, sched::UniteOp>(op)) {
      // no test: every op of sched is above
      return unsupported(op.emitError("not written into plans yet: ")) << op.getName();
    }
  }
  return success();
}

} // namespace

FailureOr<plan::Plan> emitPlan(sched::ProgramOp program, std::vector<plan::Kernel> kernels,
                               std::vector<std::string> places) {
  return PlanEmitter(program, std::move(kernels), std::move(places)).run();
}

} // namespace headrace::schedule
