// Loops inside of bodies: over the elements of a row's list.
#include "passes/lower/code/pipeline_code.h"

#include "runtime/abi/kernel.h"

#include "mlir/IR/IRMapping.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

LogicalResult PipelineCode::lowerLoopBody(Block &body, IRMapping &mapping) {
  Location outer = b_.loc();
  for (Operation &op : body.without_terminator()) {
    b_.setLoc(op.getLoc());
    if (isa<pipe::PipeDialect>(op.getDialect()) || isa<arith::RemFOp>(op)) {
      if (failed(lowerScalarOp(&op, mapping))) {
        return failure();
      }
    } else {
      b_.clone(op, mapping);
    }
  }
  b_.setLoc(outer);
  return success();
}

/// The list that a loop collects: its memory, and how many elements are in it.
class PipelineCode::Collector {
public:
  Collector(PipelineCode &code, Type element, int64_t elementCode, Value room)
      : code_(code), b_(code.b_), element_(element), list_(b_.slot(b_.getI64Type(), 2)),
        size_(b_.slot(b_.getI64Type())) {
    b_.store(b_.i64(0), size_);
    code_.check(b_.callImport("hr_list_begin", {code_.workerPointer(), code_.textBuffer(),
                                                b_.i64(elementCode), room, list_}));
    Value memory = b_.loadField(b_.ptrType(), list_, offsetof(HrString, data));
    valid_ = b_.at(memory, kListHead);
    elements_ = b_.element(valid_, bytesOfFlags(b_, room), 1);
  }

  static constexpr int64_t kListHead = 8;
  /// Of so many elements.
  static Value bytesOfFlags(CodeBuilder &b, Value elements) {
    return arith::ShRUIOp::create(b, b.loc(), b.add(elements, b.i64(7)), b.i64(3));
  }

  /// What is not kept is written over by the next.
  void add(Value bits, Value valid, Value keeps) {
    Value size = b_.load(b_.getI64Type(), size_);
    Value place = b_.element(elements_, size, element_.getIntOrFloatBitWidth() / 8);
    LLVM::StoreOp::create(b_, b_.loc(), bits, place, 1);
    Value flags = b_.element(valid_, arith::ShRUIOp::create(b_, b_.loc(), size, b_.i64(3)), 1);
    Type i8 = b_.getI8Type();
    Value flag = b_.zeroExtend(arith::AndIOp::create(b_, b_.loc(), valid, keeps), i8);
    Value shift = b_.truncate(arith::AndIOp::create(b_, b_.loc(), size, b_.i64(7)), i8);
    Value bit = arith::ShLIOp::create(b_, b_.loc(), flag, shift);
    b_.store(arith::OrIOp::create(b_, b_.loc(), b_.load(i8, flags), bit), flags);
    b_.store(b_.add(size, b_.zeroExtend(keeps, b_.getI64Type())), size_);
  }

  Value finish() {
    b_.callImport("hr_list_end", {list_, b_.load(b_.getI64Type(), size_)});
    return list_;
  }

private:
  PipelineCode &code_;
  CodeBuilder &b_;
  Type element_;
  Value list_, size_, valid_, elements_;
};

void PipelineCode::lowerListElement(pipe::ListElementOp op, IRMapping &mapping) {
  Value memory =
      b_.loadField(b_.ptrType(), mapping.lookupOrDefault(op.getList()), offsetof(HrString, data));
  Value index =
      arith::SubIOp::create(b_, b_.loc(), mapping.lookupOrDefault(op.getPlace()), b_.i64(1));
  auto shifted = [&](Value value, Value by) -> Value {
    return arith::ShRUIOp::create(b_, b_.loc(), value, by);
  };
  Value size = LLVM::LoadOp::create(b_, b_.loc(), b_.getI32Type(), memory, 1);
  Value valid = b_.at(memory, Collector::kListHead);
  Value elements =
      b_.element(valid, Collector::bytesOfFlags(b_, b_.zeroExtend(size, b_.getI64Type())), 1);
  Type type = op.getValue().getType();
  Value place = b_.element(elements, index, type.getIntOrFloatBitWidth() / 8);
  mapping.map(op.getValue(), LLVM::LoadOp::create(b_, b_.loc(), type, place, 1).getResult());
  Value flags = b_.load(b_.getI8Type(), b_.element(valid, shifted(index, b_.i64(3)), 1));
  Value bit = b_.truncate(arith::AndIOp::create(b_, b_.loc(), index, b_.i64(7)), b_.getI8Type());
  mapping.map(op.getValid(), b_.truncate(shifted(flags, bit), b_.getI1Type()));
}

LogicalResult PipelineCode::lowerLoop(pipe::LoopOp loop, IRMapping &mapping) {
  Value worker = workerPointer();
  if (!worker) {
    return failure();
  }
  // The rows of a tile may have long lists together; nobody looks at the error of a run that was
  // given up.
  Value flag = b_.loadField(b_.ptrType(), worker, offsetof(HrWorker, stop));
  Value stop = LLVM::LoadOp::create(b_, b_.loc(), b_.getI8Type(), flag, /*alignment=*/1,
                                    /*isVolatile=*/true);
  failIf(b_.compare(arith::CmpIPredicate::ne, stop, b_.integer(b_.getI8Type(), 0)),
         HR_ERROR_RAISED);
  Value count = mapping.lookupOrDefault(loop.getCount());
  Block &body = loop.getBody().front();
  ValueRange yielded = body.getTerminator()->getOperands();
  // What is handed on lies in slots, a string's bytes in a buffer of their own: the body's ops
  // write theirs anew each time.
  auto isString = [](Type type) { return isa<pipe::StringType>(type); };
  SmallVector<Value> slots;
  Value kept, lists, parts;
  for (Value initial : loop.getInitial()) {
    Type type = initial.getType();
    slots.push_back(isString(type) ? b_.slot(b_.getI64Type(), 2)
                                   : b_.slot(type.isInteger(1) ? b_.getI8Type() : type));
    storeValue(b_, type, mapping.lookupOrDefault(initial), slots.back());
    kept = isString(type) ? textBuffer() : kept;
  }
  std::optional<Collector> collector;
  if (loop.getCollects()) {
    collector.emplace(*this, yielded.front().getType(), static_cast<int64_t>(*loop.getCollects()),
                      count);
  } else if (loop.getJoins()) {
    lists = textBuffer();
    parts = b_.slot(b_.getI64Type(), 2);
    b_.storeField(b_.i64(0), parts, 0);
    b_.storeField(b_.i64(0), parts, 8);
  }
  LogicalResult result = success();
  b_.forLoop(b_.i64(1), b_.add(count, b_.i64(1)), 1, [&](Value number) {
    mapping.map(body.getArgument(0), number);
    for (auto [index, slot] : llvm::enumerate(slots)) {
      BlockArgument argument = body.getArgument(static_cast<unsigned>(index) + 1);
      mapping.map(argument, loadValue(b_, argument.getType(), slot));
    }
    result = lowerLoopBody(body, mapping);
    if (failed(result)) {
      return;
    }
    auto given = [&](unsigned index) { return mapping.lookupOrDefault(yielded[index]); };
    if (collector) {
      collector->add(given(0), given(1), given(2));
    } else if (loop.getJoins()) {
      check(b_.callImport("hr_list_append", {worker, lists, given(0), parts}));
    }
    for (auto [slot, value] : llvm::zip_equal(slots, yielded.drop_front(loop.yieldedForList()))) {
      storeValue(b_, value.getType(), mapping.lookupOrDefault(value), slot);
      if (isString(value.getType())) {
        check(b_.callImport("hr_text_keep", {worker, kept, slot}));
      }
    }
  });
  if (failed(result)) {
    return failure();
  }
  if (collector) {
    mapping.map(loop.getResult(0), collector->finish());
  } else if (loop.getJoins()) {
    Value out = b_.slot(b_.getI64Type(), 2);
    check(b_.callImport("hr_list_join", {worker, textBuffer(), parts, out}));
    mapping.map(loop.getResult(0), out);
  }
  for (auto [slot, value] :
       llvm::zip_equal(slots, loop.getResults().drop_front(loop.givesList() ? 1 : 0))) {
    mapping.map(value, loadValue(b_, value.getType(), slot));
  }
  return success();
}

} // namespace headrace::lower
