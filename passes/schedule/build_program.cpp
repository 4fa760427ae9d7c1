// Dependencies between pipelines come from the states they fill and read and the streams between
// them.
#include "passes/schedule/schedule.h"

#include "passes/analysis/physical.h"
#include "passes/schedule/reservations.h"
#include "passes/schedule/scan_pieces.h"
#include "passes/schedule/tensor_schedule.h"

#include "dialects/pipe/PipeDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace headrace::schedule {

#define GEN_PASS_DEF_SCHEDULETASKS
#include "passes/schedule/Passes.h.inc"

namespace {

class ProgramBuilder {
public:
  explicit ProgramBuilder(ModuleOp module)
      : module_(module), symbols_(module), b_(module.getContext()) {}
  FailureOr<sched::ProgramOp> run();

private:
  LogicalResult add(pipe::PipelineOp pipeline);
  /// The end of the pipeline that fills a state.
  FailureOr<Value> filled(StringRef state);
  FailureOr<Value> sourceStream(Operation &source);
  /// Both ways of a choice, behind what they need from outside; gives the stream that they write.
  FailureOr<Value> addChoice(pipe::ChoiceOp choice, pipe::StreamOp stream);
  LogicalResult addWhatFeeds(pipe::PipelineOp pipeline);
  LogicalResult addWay(Region &region, pipe::PipelineOp last);
  /// All pipelines of a repeat, behind what they need from outside.
  LogicalResult addRepeat(StringRef name);
  /// What becomes of the chunks that a pipeline writes.
  void addSink(pipe::PipelineOp pipeline);
  ArrayAttr symbols(ArrayRef<StringRef> names);

  ModuleOp module_;
  SymbolTable symbols_;
  OpBuilder b_;
  llvm::StringMap<pipe::PipelineOp> fills_;    ///< state -> the pipeline that fills it
  llvm::StringMap<pipe::PipelineOp> emitters_; ///< stream -> the pipeline that writes it
  /// stream -> the pipelines that write it in the ways of a choice, few first
  llvm::StringMap<std::array<pipe::PipelineOp, 2>> ways_;
  llvm::StringMap<SmallVector<pipe::PipelineOp>>
      parts_; ///< stream of several writers -> these, all of which run
  llvm::StringMap<SmallVector<pipe::PipelineOp>> repeated_; ///< repeat -> its pipelines
  /// As others wait for a task and read what it writes: of a repeated one, those of the repeat.
  struct Task {
    Value done;
    Value output;
  };
  llvm::StringMap<Task> tasks_; ///< by pipeline
  llvm::StringSet<> open_;      ///< pipelines and repeats whose dependencies are being added
  StringRef repeat_;            ///< whose region is being filled
  llvm::StringMap<Value>
      tensorRows_; ///< stream whose rows become tensors -> what its pipeline writes
  int32_t channels_ = 0;
};

ArrayAttr ProgramBuilder::symbols(ArrayRef<StringRef> names) {
  SmallVector<Attribute> out;
  for (StringRef name : names) {
    out.push_back(b_.getAttr<FlatSymbolRefAttr>(name));
  }
  return b_.getArrayAttr(out);
}

FailureOr<Value> ProgramBuilder::filled(StringRef state) {
  auto fill = fills_.find(state);
  if (fill == fills_.end()) {
    return module_.emitError("no pipeline fills state: ") << state;
  }
  if (failed(add(fill->second))) {
    return failure();
  }
  return tasks_.lookup(fill->second.getSymName()).done;
}

/// Nothing for streams that stay on the rank or leave the program.
static std::optional<sched::ExchangeKind> exchangeKind(pipe::StreamKind kind) {
  switch (kind) {
  case pipe::StreamKind::Hash:
    return sched::ExchangeKind::Hash;
  case pipe::StreamKind::Broadcast:
    return sched::ExchangeKind::Broadcast;
  case pipe::StreamKind::Gather:
    return sched::ExchangeKind::Gather;
  case pipe::StreamKind::Range:
    return sched::ExchangeKind::Range;
  case pipe::StreamKind::Local:
  case pipe::StreamKind::Result:
  case pipe::StreamKind::ToTensor:
  case pipe::StreamKind::Parted:
    return std::nullopt;
  }
  llvm_unreachable("unknown kind of stream");
}

FailureOr<Value> ProgramBuilder::sourceStream(Operation &source) {
  if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
    auto type = sched::StreamType::get(b_.getContext(), scan.getRows().getType());
    auto pipeline = scan->getParentOfType<pipe::PipelineOp>();
    auto load =
        sched::LoadOp::create(b_, scan.getLoc(), b_.getType<sched::TokenType>(), type,
                              FlatSymbolRefAttr::get(pipeline.getSymNameAttr()), IntegerAttr());
    return load.getRows();
  }
  if (auto values = dyn_cast<pipe::ValuesOp>(source)) {
    auto type = sched::StreamType::get(b_.getContext(), values.getRows().getType());
    auto rows = sched::ValuesOp::create(b_, values.getLoc(), b_.getType<sched::TokenType>(), type,
                                        values.getCells(), values.getLogical());
    return rows.getRows();
  }
  auto receive = cast<pipe::ReceiveOp>(source);
  if (auto parts = parts_.find(receive.getStream()); parts != parts_.end()) {
    SmallVector<Value> written;
    for (pipe::PipelineOp part : parts->second) {
      if (failed(add(part))) {
        return failure();
      }
      written.push_back(tasks_.lookup(part.getSymName()).output);
    }
    return Value(sched::UniteOp::create(b_, receive.getLoc(), written.front().getType(), written));
  }
  if (auto ways = ways_.find(receive.getStream()); ways != ways_.end()) {
    auto choice = ways->second[0].getChoice();
    return addChoice(symbols_.lookup<pipe::ChoiceOp>(*choice),
                     symbols_.lookup<pipe::StreamOp>(receive.getStream()));
  }
  auto emitter = emitters_.find(receive.getStream());
  if (emitter == emitters_.end()) {
    return receive.emitError("no pipeline writes stream: ") << receive.getStream();
  }
  if (failed(add(emitter->second))) {
    return failure();
  }
  Value written = tasks_.lookup(emitter->second.getSymName()).output;
  auto stream = symbols_.lookup<pipe::StreamOp>(receive.getStream());
  if (stream.getKind() == pipe::StreamKind::Parted) {
    return written; // the parts lie on this rank
  }
  std::optional<sched::ExchangeKind> kind = exchangeKind(stream.getKind());
  if (!kind) {
    return receive.emitError("no exchange brings the chunks of a stream of kind: ")
           << pipe::stringifyStreamKind(stream.getKind());
  }
  auto exchange =
      sched::ExchangeOp::create(b_, receive.getLoc(), b_.getType<sched::TokenType>(),
                                written.getType(), *kind, *stream.getAxes(), channels_++, written);
  return exchange.getOutput();
}

LogicalResult ProgramBuilder::addWhatFeeds(pipe::PipelineOp pipeline) {
  FlatSymbolRefAttr choice = pipeline.getChoiceAttr();
  SmallVector<StringRef> read;
  for (StringRef name : statesOf(pipeline)) {
    read.push_back(name);
  }
  if (auto source = dyn_cast<pipe::ReadOp>(pipeline.getBody().front().front())) {
    read.push_back(source.getState());
  }
  for (StringRef name : read) {
    pipe::PipelineOp fill = fills_.lookup(name);
    if (fill && fill.getChoiceAttr() != choice && failed(add(fill))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ProgramBuilder::addWay(Region &region, pipe::PipelineOp last) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToEnd(&region.emplaceBlock());
  if (failed(add(last))) {
    return failure();
  }
  sched::YieldOp::create(b_, last.getLoc(), tasks_.lookup(last.getSymName()).output);
  return success();
}

FailureOr<Value> ProgramBuilder::addChoice(pipe::ChoiceOp choice, pipe::StreamOp stream) {
  FailureOr<Value> counted = filled(choice.getState());
  if (failed(counted)) {
    return failure();
  }
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    bool inside = pipeline.getChoice() == choice.getSymName();
    if (inside && failed(addWhatFeeds(pipeline))) {
      return failure();
    }
  }
  auto type = sched::StreamType::get(b_.getContext(), stream.getRows());
  auto choose = sched::ChooseOp::create(b_, choice.getLoc(), b_.getType<sched::TokenType>(), type,
                                        *counted, choice.getAtMostAttr(), choice.getExpectedAttr());
  auto ways = ways_.lookup(stream.getSymName());
  if (failed(addWay(choose.getFew(), ways[0])) || failed(addWay(choose.getMany(), ways[1]))) {
    return failure();
  }
  return choose.getOutput();
}

LogicalResult ProgramBuilder::add(pipe::PipelineOp pipeline) {
  if (tasks_.contains(pipeline.getSymName())) {
    return success();
  }
  if (pipeline.getRepeat() && *pipeline.getRepeat() != repeat_) {
    return addRepeat(*pipeline.getRepeat());
  }
  if (!open_.insert(pipeline.getSymName()).second) {
    return pipeline.emitError("pipelines depend on each other in a circle");
  }
  Block &body = pipeline.getBody().front();
  SmallVector<Value> after;
  auto waitFor = [&](StringRef state) -> LogicalResult {
    FailureOr<Value> token = filled(state);
    if (failed(token)) {
      return failure();
    }
    if (!llvm::is_contained(after, *token)) {
      after.push_back(*token);
    }
    return success();
  };
  SmallVector<StringRef> fills, reads;
  for (StringRef name : statesOf(pipeline)) {
    (fills_.lookup(name) == pipeline ? fills : reads).push_back(name);
  }
  for (StringRef name : reads) {
    if (failed(waitFor(name))) {
      return failure();
    }
  }
  if (FlatSymbolRefAttr name = pipeline.getAfterAttr()) {
    auto before = symbols_.lookup<pipe::PipelineOp>(name.getValue());
    if (!before || failed(add(before))) {
      return pipeline.emitError("waits for no pipeline of the program: ") << name;
    }
    after.push_back(tasks_.lookup(name.getValue()).done);
  }
  Value input;
  FlatSymbolRefAttr source;
  if (auto read = dyn_cast<pipe::ReadOp>(body.front())) {
    if (failed(waitFor(read.getState()))) {
      return failure();
    }
    source = read.getStateAttr();
  } else {
    FailureOr<Value> stream = sourceStream(body.front());
    if (failed(stream)) {
      return failure();
    }
    input = *stream;
  }
  Type output;
  pipe::StreamOp stream;
  if (auto emit = dyn_cast<pipe::EmitOp>(body.back())) {
    stream = symbols_.lookup<pipe::StreamOp>(emit.getStream());
    output = sched::StreamType::get(b_.getContext(), emit.getInput().getType());
  }
  bool partitioned = stream && (stream.getKind() == pipe::StreamKind::Hash ||
                                stream.getKind() == pipe::StreamKind::Parted);
  auto run = sched::RunOp::create(b_, pipeline.getLoc(), b_.getType<sched::TokenType>(), output,
                                  FlatSymbolRefAttr::get(pipeline.getSymNameAttr()), input, source,
                                  symbols(fills), symbols(reads), after,
                                  partitioned ? b_.getUnitAttr() : UnitAttr(), /*gpu=*/UnitAttr());
  tasks_[pipeline.getSymName()] = {run.getDone(), run.getOutput()};
  if (!pipeline.getRepeat()) {
    addSink(pipeline);
  }
  return success();
}

void ProgramBuilder::addSink(pipe::PipelineOp pipeline) {
  auto emit = dyn_cast<pipe::EmitOp>(pipeline.getBody().front().back());
  auto stream = emit ? symbols_.lookup<pipe::StreamOp>(emit.getStream()) : pipe::StreamOp();
  Value written = tasks_.lookup(pipeline.getSymName()).output;
  if (stream && stream.getKind() == pipe::StreamKind::ToTensor) {
    tensorRows_[stream.getSymName()] = written;
  }
  if (stream && stream.getKind() == pipe::StreamKind::Result) {
    sched::ResultOp::create(b_, pipeline.getLoc(), written, stream.getNamesAttr(),
                            stream.getLogicalAttr(), stream.getOrderedAttr(),
                            stream.getResidentAttr());
  }
}

LogicalResult ProgramBuilder::addRepeat(StringRef name) {
  SmallVector<pipe::PipelineOp> members = repeated_.lookup(name);
  auto inside = [&](pipe::PipelineOp pipeline) { return llvm::is_contained(members, pipeline); };
  if (!open_.insert(name).second) {
    return members.front().emitError("pipelines depend on each other in a circle");
  }
  SmallVector<Value> after;
  SmallVector<Type> outputs;
  for (pipe::PipelineOp member : members) {
    SmallVector<pipe::PipelineOp> needed;
    for (StringRef state : statesOf(member)) {
      needed.push_back(fills_.lookup(state));
    }
    Operation &source = member.getBody().front().front();
    auto receive = dyn_cast<pipe::ReceiveOp>(source);
    if (receive) {
      needed.push_back(emitters_.lookup(receive.getStream()));
    } else if (auto read = dyn_cast<pipe::ReadOp>(source)) {
      needed.push_back(fills_.lookup(read.getState()));
    }
    if (FlatSymbolRefAttr before = member.getAfterAttr()) {
      needed.push_back(symbols_.lookup<pipe::PipelineOp>(before.getValue()));
    }
    for (pipe::PipelineOp other : needed) {
      if (other && !inside(other) && failed(add(other))) {
        return failure();
      }
    }
    if (receive) {
      after.push_back(tasks_.lookup(needed[statesOf(member).size()].getSymName()).done);
    }
    if (auto emit = dyn_cast<pipe::EmitOp>(member.getBody().front().back())) {
      outputs.push_back(sched::StreamType::get(b_.getContext(), emit.getInput().getType()));
    }
  }
  auto repeat =
      sched::RepeatOp::create(b_, members.front().getLoc(), b_.getType<sched::TokenType>(), outputs,
                              symbols_.lookup<pipe::RepeatOp>(name).getRoomAttr(), after);
  SmallVector<Value> written;
  {
    OpBuilder::InsertionGuard guard(b_);
    llvm::SaveAndRestore filling(repeat_, name);
    b_.setInsertionPointToEnd(&repeat.getBody().emplaceBlock());
    for (pipe::PipelineOp member : members) {
      if (failed(add(member))) {
        return failure();
      }
    }
    for (pipe::PipelineOp member : members) {
      if (Value output = tasks_.lookup(member.getSymName()).output) {
        written.push_back(output);
      }
    }
    sched::YieldOp::create(b_, repeat.getLoc(), written);
  }
  size_t output = 0;
  for (pipe::PipelineOp member : members) {
    Task &task = tasks_[member.getSymName()];
    task = {repeat.getDone(), task.output ? Value(repeat.getOutputs()[output++]) : Value()};
  }
  for (pipe::PipelineOp member : members) {
    addSink(member);
  }
  return success();
}

FailureOr<sched::ProgramOp> ProgramBuilder::run() {
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    if (pipeline.getMerges()) {
      continue; // not a task: exec runs it to join the workers' copies of a state
    }
    if (std::optional<StringRef> repeat = pipeline.getRepeat()) {
      repeated_[*repeat].push_back(pipeline);
    }
    Operation &sink = pipeline.getBody().front().back();
    if (auto emit = dyn_cast<pipe::EmitOp>(sink)) {
      std::optional<pipe::Branch> way = pipeline.getBranch();
      auto stream = symbols_.lookup<pipe::StreamOp>(emit.getStream());
      if (stream && stream.getWriters()) {
        parts_[emit.getStream()].push_back(pipeline);
      } else if (way && stream && stream.getKind() == pipe::StreamKind::Local) {
        ways_[emit.getStream()][*way == pipe::Branch::Few ? 0 : 1] = pipeline;
      } else {
        emitters_[emit.getStream()] = pipeline;
      }
    } else if (!isa<pipe::LookupOp>(sink)) {
      auto insert = dyn_cast<pipe::InsertOp>(sink);
      fills_[insert ? insert.getState() : cast<pipe::CombineOp>(sink).getState()] = pipeline;
    }
  }
  b_.setInsertionPointToEnd(module_.getBody());
  // A tensor program's function stays beside its tasks: kernels are made of it.
  StringRef name = module_.lookupSymbol("main") ? "tasks" : "main";
  auto program =
      sched::ProgramOp::create(b_, module_.getLoc(), b_.getStringAttr(name), IntegerAttr());
  b_.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  for (auto pipeline : module_.getOps<pipe::PipelineOp>()) {
    // The pipelines of a choice are added with it, by who reads the stream that they write.
    if (!pipeline.getMerges() && !pipeline.getChoice() && failed(add(pipeline))) {
      return failure();
    }
  }
  addReservations(module_, program);
  for (auto function : module_.getOps<func::FuncOp>()) {
    if (!function.isDeclaration() && failed(scheduleTensors(function, program, tensorRows_))) {
      return failure();
    }
  }
  return program;
}

} // namespace

namespace {
class ScheduleTasksPass : public impl::ScheduleTasksBase<ScheduleTasksPass> {
public:
  using ScheduleTasksBase::ScheduleTasksBase;
  void runOnOperation() override {
    FailureOr<sched::ProgramOp> program = ProgramBuilder(getOperation()).run();
    if (failed(program)) {
      return signalPassFailure();
    }
    if (chunkRows > 0) {
      program->setChunkRows(chunkRows);
    }
    if (memoryBytes > 0) {
      cutScans(*program, static_cast<double>(memoryBytes));
    }
  }
};
} // namespace

} // namespace headrace::schedule
