// Supersteps of a kernel, the row loop, sources and filters.
#include "passes/lower/gpu/thread_kernel.h"

#include "runtime/abi/type_bytes.h"

#include "passes/analysis/physical.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

ThreadKernelEmitter::ThreadKernelEmitter(pipe::PipelineOp pipeline, SymbolTable &symbols,
                                         ModuleOp target)
    : PipelineCode(pipeline, symbols,
                   makeSuperstep(target, pipeline.getSymName(), 0, pipeline.getLoc())),
      target_(target) {
  columnLoad_ = [this](const ColumnValue &column) { return loadColumn(column); };
}

namespace {
/// The column of the table that a scan gives under another name, perhaps.
std::string fileOf(Operation *source, size_t index) {
  auto scan = dyn_cast<pipe::ScanOp>(source);
  StringAttr file = scan ? cast<pipe::ScanColumnAttr>(scan.getColumns()[index]).getFile() : nullptr;
  return file ? file.str() : "";
}
} // namespace

FailureOr<DeviceKernel> ThreadKernelEmitter::emit() {
  kernel_.symbol = pipeline_.getSymName().str();
  for (StringRef name : statesOf(pipeline_)) {
    device_kernel_.states.push_back(name.str());
  }
  beginSuperstep();
  Operation *sink = &pipeline_.getBody().front().back();
  b_.setLoc(sink->getLoc());
  LogicalResult result = failure();
  if (auto emit = dyn_cast<pipe::EmitOp>(sink)) {
    result = emitEmit(emit);
  } else if (isa<pipe::LookupOp>(sink)) {
    result = emitRows([&] {
      b_.jump(next_);
      return success();
    });
  } else {
    auto combine = dyn_cast<pipe::CombineOp>(sink);
    auto insert = dyn_cast<pipe::InsertOp>(sink);
    auto state = symbols_.lookup<pipe::StateOp>(combine ? combine.getState() : insert.getState());
    pipe::StateKind kind = state.getKind();
    device_kernel_.fills = state.getSymName().str();
    if (combine && kind == pipe::StateKind::Scalar) {
      result = emitScalarCombine(combine, state);
    } else if (combine && kind == pipe::StateKind::Group) {
      result = emitGroupCombine(combine, state);
    } else if (insert && kind != pipe::StateKind::Window) {
      result = emitInsert(insert, state);
    } else {
      result = sink->emitError("this sink has no code for threads yet: ") << sink->getName();
    }
  }
  if (failed(result)) {
    return failure();
  }
  endSuperstep();
  kernel_.literalBytes = (kernel_.literalBytes + 15) / 16 * 16;
  kernel_.places.assign(placeTexts_.size(), plan::kNone);
  device_kernel_.kernel = kernel_;
  device_kernel_.places = placeTexts_;
  return device_kernel_;
}

void ThreadKernelEmitter::beginSuperstep() {
  unsigned number = device_kernel_.supersteps++;
  if (number) {
    b_.setFunction(makeSuperstep(target_, pipeline_.getSymName(), number, pipeline_.getLoc()));
  }
  auto argument = [&](SuperstepArgument which) { return b_.function().getArgument(which); };
  args_ = argument(kArgs);
  device_ = argument(kDevice);
  shared_ = argument(kShared);
  thread_ = argument(kThread);
  threads_ = argument(kThreads);
  block_ = argument(kBlock);
  blocks_ = argument(kBlocks);
  Type pointer = b_.ptrType();
  morsel_ = b_.loadField(pointer, args_, offsetof(HrArgs, morsel));
  literals_ = b_.loadField(pointer, args_, offsetof(HrArgs, literals));
  Value states = b_.loadField(pointer, args_, offsetof(HrArgs, states));
  for (auto [index, name] : llvm::enumerate(device_kernel_.states)) {
    statePointers_[name] = b_.loadField(pointer, states, index * 8);
  }
  row_ = Value();
  Block *start = b_.newBlock();
  b_.jump(start);
  b_.enter(start);
}

void ThreadKernelEmitter::endSuperstep() { LLVM::ReturnOp::create(b_, b_.loc(), ValueRange()); }

void ThreadKernelEmitter::leaveWithError(Value code, Value place) {
  Value row = b_.i64(0);
  if (row_) {
    row = b_.add(row_, b_.loadField(b_.getI64Type(), morsel_, offsetof(HrMorsel, firstRow)));
  }
  b_.callNamed("hr_device_fail", Type(), {device_, code, place, row});
  endSuperstep(); // the thread still takes part in the barriers that follow
}

void ThreadKernelEmitter::keepString(Value owner, Value string) {
  check(b_.callNamed("hr_device_keep", b_.getI32Type(), {owner, string}));
}

RowReader ThreadKernelEmitter::newReader(Value row) {
  RowReader reader(b_, {}, 0, row);
  reader.setScalarOps(&scalarOps_);
  reader.setColumnLoad(&columnLoad_);
  return reader;
}

LogicalResult ThreadKernelEmitter::emitRows(llvm::function_ref<LogicalResult()> sink) {
  Value rows = prologueValue([&] {
    return b_.zeroExtend(b_.loadField(b_.getI32Type(), morsel_, offsetof(HrMorsel, rows)),
                         b_.getI64Type());
  });
  LogicalResult result = success();
  strideLoop(b_, rows, [&](Value row, Block *next) {
    next_ = next;
    row_ = row;
    reader_.emplace(newReader(row));
    Location outer = b_.loc();
    Block &body = pipeline_.getBody().front();
    result = emitSource(&body.front(), row);
    for (Operation &stage : llvm::drop_begin(body)) {
      if (failed(result)) {
        return;
      }
      b_.setLoc(stage.getLoc());
      // The reader knows columns by address, all along the row.
      for (auto &column : columns_) {
        keptColumns_.push_back(column.second);
      }
      if (auto filter = dyn_cast<pipe::FilterOp>(stage)) {
        result = emitFilter(filter);
      } else if (auto map = dyn_cast<pipe::MapOp>(stage)) {
        emitMap(map);
      } else if (auto lookup = dyn_cast<pipe::LookupOp>(stage)) {
        result = emitLookup(lookup);
      } else if (&stage != &body.back()) {
        result = stage.emitError("this stage has no code for threads yet: ") << stage.getName();
      }
    }
    if (succeeded(result)) {
      result = sink();
    }
    b_.setLoc(outer);
  });
  row_ = Value();
  return result;
}

LogicalResult ThreadKernelEmitter::emitSource(Operation *source, Value row) {
  auto rows = cast<pipe::RowsType>(source->getResult(0).getType());
  Type pointer = b_.ptrType();
  if (auto read = dyn_cast<pipe::ReadOp>(source)) {
    device_kernel_.reads = read.getState().str();
    auto state = symbols_.lookup<pipe::StateOp>(read.getState());
    plan::State layout = layoutState(state);
    Value all = prologueValue(
        [&] { return b_.loadField(pointer, morsel_, offsetof(HrMorsel, stateRows)); });
    Value stateRow = b_.load(pointer, b_.element(all, row, 8));
    for (size_t index = 0; index < rows.size(); ++index) {
      StringRef name = rows.getNames()[index].getValue();
      const plan::StateField *field = findField(layout, name);
      columns_[name] = fieldColumn(*field, rows.getTypes()[index], stateRow);
    }
    return success();
  }
  if (!isa<pipe::ScanOp, pipe::ReceiveOp>(source)) {
    return source->emitError("this source has no code for threads yet: ") << source->getName();
  }
  if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
    device_kernel_.table = scan.getTable().str();
  }
  Value columns =
      prologueValue([&] { return b_.loadField(pointer, morsel_, offsetof(HrMorsel, columns)); });
  for (size_t index = 0; index < rows.size(); ++index) {
    auto column = std::make_shared<ColumnValue>();
    column->type = rows.getTypes()[index];
    column->nullable = rows.getNullable()[index];
    column->source = index;
    StringRef columnName = rows.getNames()[index].getValue();
    columns_[columnName] = column;
    device_kernel_.columns.push_back(
        {columnName.str(), fileOf(source, index), physicalType(column->type), column->nullable});
    Source parts;
    prologueValue([&]() -> Value {
      Value head = b_.at(columns, index * sizeof(HrColumn));
      Value segment = b_.loadField(pointer, head, offsetof(HrColumn, segments));
      parts.dictionary = b_.loadField(pointer, head, offsetof(HrColumn, dictionary));
      parts.data = b_.loadField(pointer, segment, offsetof(HrSegment, data));
      parts.heap = b_.loadField(pointer, segment, offsetof(HrSegment, heap));
      parts.validity = b_.loadField(pointer, segment, offsetof(HrSegment, validity));
      parts.encoding = b_.zeroExtend(
          b_.loadField(b_.getI8Type(), segment, offsetof(HrSegment, encoding)), b_.getI32Type());
      return segment;
    });
    sources_.push_back(parts);
  }
  loadFirst(rows, row);
  return success();
}

LogicalResult ThreadKernelEmitter::emitFilter(pipe::FilterOp filter) {
  FailureOr<SmallVector<Value>> flag = reader_->evaluate(
      *makeExpression(filter.getBody(), filter.getColumns(), filter.getTextBytes()));
  if (failed(flag)) {
    return failure();
  }
  Block *kept = b_.newBlock();
  b_.branch(flag->front(), kept, next_);
  b_.enter(kept);
  keepColumns(filter.getRows().getType());
  return success();
}

} // namespace headrace::lower
