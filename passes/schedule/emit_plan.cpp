// sched to the structs of a plan: one way, op by op.
#include "passes/schedule/plan_emitter.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "dialects/interfaces/SourcePlace.h"
#include "dialects/topo/TopoDialect.h"
#include "model/plan/json.h"
#include "model/plan/names.h"
#include "model/plan/shared_loads.h"
#include "passes/analysis/explanation.h"
#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"
#include "passes/schedule/schedule.h"

namespace headrace::schedule {

int32_t PlanEmitter::place(Location location, const std::string &operation) {
  plan_.places.push_back({sourcePlace(analysis::withoutOperator(location)), operation});
  return static_cast<int32_t>(plan_.places.size()) - 1;
}

std::vector<int32_t> PlanEmitter::axesNamed(ArrayRef<StringAttr> names) const {
  std::vector<int32_t> axes;
  for (StringAttr name : names) {
    auto axis = llvm::find_if(
        plan_.mesh, [&](const plan::MeshAxis &known) { return known.name == name.getValue(); });
    axes.push_back(static_cast<int32_t>(axis - plan_.mesh.begin()));
  }
  return axes;
}

std::vector<int32_t> PlanEmitter::axesNamed(ArrayAttr names) const {
  return axesNamed(llvm::to_vector(names.getAsRange<StringAttr>()));
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

int32_t PlanEmitter::streamOf(Value written, std::string name) {
  auto unite = dyn_cast<sched::UniteOp>(*written.user_begin());
  Value value = unite ? unite.getRows() : written;
  if (streams_.contains(value)) {
    return streams_.lookup(value);
  }
  int32_t stream = addStream(value, std::move(name));
  if (unite) {
    plan_.streams[stream].writers = static_cast<uint32_t>(unite.getInputs().size());
  }
  return stream;
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
  choose.hole = static_cast<int32_t>(plan_.holes.size());
  choose.threshold = op.getAtMost();
  task.place = place(op.getLoc(), "choose");
  plan_.holes.push_back(std::move(hole));
  for (auto [region, tasks] :
       {std::pair(&op.getFew(), &choose.thenTasks), std::pair(&op.getMany(), &choose.elseTasks)}) {
    Block &block = region->front();
    streams_[cast<sched::YieldOp>(block.getTerminator()).getRows().front()] = stream;
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

LogicalResult PlanEmitter::addRepeat(sched::RepeatOp op) {
  Block &block = op.getBody().front();
  auto yield = cast<sched::YieldOp>(block.getTerminator());
  for (auto [output, written] : llvm::zip_equal(op.getOutputs(), yield.getRows())) {
    streams_[written] = streamOf(output, "");
  }
  auto first = static_cast<int32_t>(plan_.tasks.size());
  if (failed(addTasks(block))) {
    return failure();
  }
  plan::Task task;
  plan::RepeatTask repeat;
  repeat.roomBytes = op.getRoom();
  for (auto id = first; id < static_cast<int32_t>(plan_.tasks.size()); ++id) {
    repeat.tasks.push_back(id);
    task.name = task.name.empty() && plan_.tasks[id].as<plan::RunTask>()
                    ? "rounds_" + plan_.tasks[id].name
                    : task.name;
  }
  task.place = place(op.getLoc(), "rounds");
  task.work = std::move(repeat);
  addTask(std::move(task), op);
  return success();
}

/// Whether hashes name ranks for exchanges alone: not for what ranks keep of rows that all have,
/// nor for rows that stay on them from run to run. Along several axes groups could not agree.
bool PlanEmitter::hasMovableKeys() {
  bool divided = false, known = false;
  module_.walk([&](Operation *op) {
    if (auto stream = dyn_cast<pipe::StreamOp>(op)) {
      divided |= stream.getKind() == pipe::StreamKind::Hash;
      known |= stream.getResident().has_value();
    } else if (auto scan = dyn_cast<pipe::ScanOp>(op)) {
      known |= scan.getResident().has_value();
    } else if (auto owns = dyn_cast<pipe::OwnsOp>(op)) {
      divided |= !owns.getValues().empty();
    }
  });
  return divided && !known && plan_.mesh.size() == 1;
}

FailureOr<plan::Plan> PlanEmitter::run() {
  plan_.importsHash = plan::importsHashText();
  topo::MeshAttr mesh = topo::meshOf(module_);
  if (!mesh) {
    return program_.emitError("is not for ranks of a topo.mesh");
  }
  for (auto [name, size] : llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
    plan_.mesh.push_back({name.str(), static_cast<uint32_t>(size)});
  }
  if (auto topology =
          module_->getAttrOfType<topo::TopologyAttr>(topo::TopoDialect::getTopologyAttrName())) {
    plan_.topologyHash = topology.getHash().str();
  }
  if (auto text = module_->getAttrOfType<StringAttr>(analysis::kExplanationAttr)) {
    if (Expected<plan::Explanation> read = plan::explanationFromJson(text.getValue()); read.ok()) {
      plan_.explanation = *std::move(read);
    }
  }
  plan_.movableKeys = hasMovableKeys();
  for (auto kernels : module_.getOps<sched::KernelsOp>()) {
    addKernels(kernels);
  }
  addStates();
  // Slots of arguments are the first, by their numbers, wherever their tasks are listed.
  plan_.slots.resize(llvm::range_size(program_.getOps<sched::InputOp>()));
  if (failed(addTasks(program_.getBody().front()))) {
    return failure();
  }
  if (std::optional<uint64_t> rows = program_.getChunkRows()) {
    for (plan::Stream &stream : plan_.streams) {
      stream.chunkRows = stream.parts ? stream.chunkRows : static_cast<uint32_t>(*rows);
    }
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
    } else if (auto repeat = dyn_cast<sched::RepeatOp>(op)) {
      if (failed(addRepeat(repeat))) {
        return failure();
      }
    } else if (!isa<sched::YieldOp, sched::UniteOp>(op)) {
      // no test: every op of sched is above
      return unsupported(op.emitError("not written into plans yet: ")) << op.getName();
    }
  }
  return success();
}

FailureOr<plan::Plan> emitPlan(sched::ProgramOp program, SmallVectorImpl<Operation *> *ops) {
  PlanEmitter emitter(program);
  FailureOr<plan::Plan> plan = emitter.run();
  if (succeeded(plan)) {
    plan::shareLoads(*plan);
  }
  if (ops && succeeded(plan)) {
    ops->resize(plan->tasks.size());
    for (auto [op, task] : emitter.tasks()) {
      (*ops)[task] = op;
    }
  }
  return plan;
}

} // namespace headrace::schedule
