// One run task a pipeline; a load task before it if it scans, an exchange task between two that meet in a stream.
#include "passes/schedule/schedule.h"

#include "passes/analysis/physical.h"
#include "runtime/abi/imports.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace headrace::schedule {

namespace {

class Scheduler {
public:
  Scheduler(ModuleOp module, std::vector<plan::Kernel> kernels) : module_(module) {
    plan_.kernels = std::move(kernels);
  }
  FailureOr<plan::Plan> run();

private:
  void addStates();
  LogicalResult addPipeline(pipe::PipelineOp pipeline);
  LogicalResult addProducers(StringRef state, plan::Task &task);
  int32_t addSlot(pipe::ScanOp scan);
  int32_t addStream(StringRef name, pipe::RowsType rows, ArrayAttr logical);
  int32_t kernelNamed(StringRef symbol);
  int32_t place(Location location, StringRef operation);
  int32_t addTask(plan::Task task) {
    plan_.tasks.push_back(std::move(task));
    return static_cast<int32_t>(plan_.tasks.size()) - 1;
  }

  ModuleOp module_;
  plan::Plan plan_;
  llvm::StringMap<int32_t> states_;
  llvm::StringMap<pipe::PipelineOp> fills_;    ///< state -> the pipeline that fills it
  llvm::StringMap<pipe::PipelineOp> emitters_; ///< stream -> the pipeline that writes it
  llvm::StringMap<int32_t> tasks_;             ///< pipeline -> its run task
  llvm::StringSet<> open_;                     ///< pipelines whose dependencies are being added
  int32_t channels_ = 0;
};

std::string locationText(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    return name.getName().str();
  }
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    return file.getFilename().str() + ":" + std::to_string(file.getLine());
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    return fused.getLocations().empty() ? "" : locationText(fused.getLocations().front());
  }
  return "";
}

int32_t Scheduler::place(Location location, StringRef operation) {
  plan_.places.push_back({locationText(location), operation.str()});
  return static_cast<int32_t>(plan_.places.size()) - 1;
}

int32_t Scheduler::kernelNamed(StringRef symbol) {
  for (auto [index, kernel] : llvm::enumerate(plan_.kernels)) {
    if (kernel.symbol == symbol) {
      return static_cast<int32_t>(index);
    }
  }
  return plan::kNone;
}

void Scheduler::addStates() {
  for (auto op : module_.getOps<pipe::StateOp>()) {
    plan::State state = layoutState(op);
    state.mergeKernel = kernelNamed(("merge_" + op.getSymName()).str());
    state.compareKernel = kernelNamed(("compare_" + op.getSymName()).str());
    state.place = place(op.getLoc(), pipe::stringifyStateKind(op.getKind()));
    states_[op.getSymName()] = static_cast<int32_t>(plan_.states.size());
    plan_.states.push_back(std::move(state));
  }
}

int32_t Scheduler::addSlot(pipe::ScanOp scan) {
  plan::Slot slot;
  slot.name = scan.getTable().str();
  slot.kind = "table";
  auto rows = scan.getRows().getType();
  for (auto [index, description] : llvm::enumerate(scan.getColumns().getAsRange<DictionaryAttr>())) {
    plan::SlotColumn column;
    column.file = cast<StringAttr>(description.get("file")).str();
    if (auto logical = dyn_cast_or_null<StringAttr>(description.get("logical"))) {
      column.logical = logical.str();
    }
    column.type = physicalType(rows.getTypes()[index]);
    column.nullable = rows.getNullable()[index];
    auto low = dyn_cast_or_null<IntegerAttr>(description.get("min"));
    auto high = dyn_cast_or_null<IntegerAttr>(description.get("max"));
    if (low && high) {
      column.ranged = true;
      column.min = low.getInt();
      column.max = high.getInt();
    }
    slot.columns.push_back(std::move(column));
  }
  if (scan.getBounds()) {
    for (auto description : scan.getBounds()->getAsRange<DictionaryAttr>()) {
      plan::Bound bound;
      bound.column = cast<StringAttr>(description.get("column")).str();
      bound.op = cast<StringAttr>(description.get("op")).str();
      Attribute value = description.get("value");
      if (auto integer = dyn_cast<IntegerAttr>(value)) {
        bound.integer = integer.getInt();
      } else if (auto real = dyn_cast<FloatAttr>(value)) {
        bound.real = real.getValueAsDouble();
      } else {
        bound.text = cast<StringAttr>(value).str();
      }
      slot.bounds.push_back(std::move(bound));
    }
  }
  plan_.slots.push_back(std::move(slot));
  return static_cast<int32_t>(plan_.slots.size()) - 1;
}

int32_t Scheduler::addStream(StringRef name, pipe::RowsType rows, ArrayAttr logical) {
  plan::Stream stream;
  stream.name = name.str();
  stream.schema = schemaOf(rows, logical);
  plan_.streams.push_back(std::move(stream));
  return static_cast<int32_t>(plan_.streams.size()) - 1;
}

LogicalResult Scheduler::addProducers(StringRef state, plan::Task &task) {
  auto fill = fills_.find(state);
  if (fill == fills_.end()) {
    return module_.emitError("no pipeline fills state: ") << state;
  }
  if (failed(addPipeline(fill->second))) {
    return failure();
  }
  int32_t producer = tasks_.lookup(fill->second.getSymName());
  if (!llvm::is_contained(task.after, producer)) {
    task.after.push_back(producer);
  }
  return success();
}

LogicalResult Scheduler::addPipeline(pipe::PipelineOp pipeline) {
  if (tasks_.contains(pipeline.getSymName())) {
    return success();
  }
  if (!open_.insert(pipeline.getSymName()).second) {
    return pipeline.emitError("pipelines depend on each other in a circle");
  }
  plan::Task task;
  task.kind = plan::TaskKind::kRun;
  task.name = pipeline.getSymName().str();
  task.kernel = kernelNamed(pipeline.getSymName());
  if (task.kernel == plan::kNone) {
    return pipeline.emitError("pipeline without a kernel");
  }
  Block &body = pipeline.getBody().front();
  // What must have ended before.
  for (auto lookup : body.getOps<pipe::LookupOp>()) {
    if (failed(addProducers(lookup.getState(), task))) {
      return failure();
    }
  }
  Operation &source = body.front();
  if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
    plan::Task load;
    load.kind = plan::TaskKind::kLoad;
    load.name = "load_" + scan.getTable().str();
    load.phase = "scan";
    load.slot = addSlot(scan);
    load.outputStream = addStream(load.name, scan.getRows().getType(), nullptr);
    load.place = place(scan.getLoc(), "scan " + scan.getTable().str());
    task.inputStream = load.outputStream;
    addTask(std::move(load));
    task.phase = "scan";
  } else if (auto read = dyn_cast<pipe::ReadOp>(source)) {
    if (failed(addProducers(read.getState(), task))) {
      return failure();
    }
    task.sourceState = states_.lookup(read.getState());
    task.phase = "read";
  } else {
    auto receive = cast<pipe::ReceiveOp>(source);
    auto emitter = emitters_.find(receive.getStream());
    if (emitter == emitters_.end()) {
      return receive.emitError("no pipeline writes stream: ") << receive.getStream();
    }
    if (failed(addPipeline(emitter->second))) {
      return failure();
    }
    auto stream = SymbolTable::lookupNearestSymbolFrom<pipe::StreamOp>(pipeline, receive.getStreamAttr());
    plan::Task exchange;
    exchange.kind = plan::TaskKind::kExchange;
    exchange.name = receive.getStream().str();
    exchange.phase = "exchange";
    exchange.inputStream = plan_.tasks[tasks_.lookup(emitter->second.getSymName())].outputStream;
    exchange.outputStream = addStream((receive.getStream() + ".received").str(), receive.getRows().getType(), nullptr);
    exchange.exchange = stream.getExchange() == "hash"        ? plan::ExchangeKind::kHash
                        : stream.getExchange() == "broadcast" ? plan::ExchangeKind::kBroadcast
                                                              : plan::ExchangeKind::kGather;
    exchange.channel = channels_++;
    exchange.place = place(receive.getLoc(), "exchange " + stream.getExchange().str());
    task.inputStream = exchange.outputStream;
    addTask(std::move(exchange));
    task.phase = "received";
  }
  for (StringRef name : statesOf(pipeline)) {
    plan::StateArgument argument;
    argument.state = states_.lookup(name);
    bool filled = fills_.lookup(name) == pipeline;
    argument.use = filled ? plan::StateUse::kPerWorker : plan::StateUse::kShared;
    task.states.push_back(argument);
  }
  task.place = place(pipeline.getLoc(), body.back().getName().stripDialect());
  bool isResult = false;
  if (auto emit = dyn_cast<pipe::EmitOp>(body.back())) {
    auto stream = SymbolTable::lookupNearestSymbolFrom<pipe::StreamOp>(pipeline, emit.getStreamAttr());
    task.outputStream = addStream(emit.getStream(), emit.getInput().getType(), stream.getLogicalAttr());
    task.partitioned = stream.getExchange() == "hash";
    isResult = stream.getExchange() == "result";
    if (isResult) {
      plan_.result = schemaOf(emit.getInput().getType(), stream.getLogicalAttr());
      if (auto names = stream->getAttrOfType<ArrayAttr>("names")) {
        for (auto [column, name] : llvm::zip(plan_.result.columns, names.getAsRange<StringAttr>())) {
          column.name = name.str();
        }
      }
      if (auto ordered = stream->getAttrOfType<BoolAttr>("ordered")) {
        plan_.ordered = ordered.getValue();
      }
    }
  }
  int32_t output = task.outputStream;
  tasks_[pipeline.getSymName()] = addTask(std::move(task));
  if (isResult) {
    plan::Task result;
    result.kind = plan::TaskKind::kResult;
    result.name = "result";
    result.phase = "result";
    result.inputStream = output;
    result.place = place(pipeline.getLoc(), "result");
    addTask(std::move(result));
  }
  return success();
}

FailureOr<plan::Plan> Scheduler::run() {
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(abi::importsHash()));
  plan_.importsHash = hash;
  addStates();
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    if (pipeline->hasAttr("merges")) {
      continue;
    }
    Operation &sink = pipeline.getBody().front().back();
    if (auto emit = dyn_cast<pipe::EmitOp>(sink)) {
      emitters_[emit.getStream()] = pipeline;
    } else {
      fills_[sink.getAttrOfType<FlatSymbolRefAttr>("state").getValue()] = pipeline;
    }
  }
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    if (!pipeline->hasAttr("merges") && failed(addPipeline(pipeline))) {
      return failure();
    }
  }
  // Kernels tell errors by places of their own; here every one of a kernel is its task's place.
  for (const plan::Task &task : plan_.tasks) {
    if (task.kernel != plan::kNone) {
      for (int32_t &known : plan_.kernels[task.kernel].places) {
        if (known == plan::kNone) {
          known = task.place;
        }
      }
    }
  }
  return std::move(plan_);
}

} // namespace

FailureOr<plan::Plan> schedulePlan(ModuleOp module, std::vector<plan::Kernel> kernels) {
  return Scheduler(module, std::move(kernels)).run();
}

} // namespace headrace::schedule
