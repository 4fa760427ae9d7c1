// Thin helpers over LLVM and arith ops.
#include "passes/lower/code/code_builder.h"

#include "runtime/abi/imports.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace headrace::lower {

CodeBuilder::CodeBuilder(LLVM::LLVMFuncOp function, Location location)
    : OpBuilder(function.getContext()), function_(function), location_(location) {
  setInsertionPointToEnd(&function.getBody().front());
}

Value CodeBuilder::integer(Type type, int64_t value) {
  return arith::ConstantOp::create(*this, location_, getIntegerAttr(type, value));
}

Value CodeBuilder::at(Value pointer, int64_t bytes) {
  if (bytes == 0) {
    return pointer;
  }
  return LLVM::GEPOp::create(*this, location_, ptrType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value CodeBuilder::element(Value pointer, Value index, int64_t stride) {
  if (index.getType().isInteger(32)) {
    index = zeroExtend(index, getI64Type());
  }
  Type unit;
  switch (stride) {
  case 1:
  case 2:
  case 4:
  case 8:
  case 16:
    unit = getIntegerType(stride * 8);
    break;
  default:
    unit = LLVM::LLVMArrayType::get(getI8Type(), stride);
  }
  return LLVM::GEPOp::create(*this, location_, ptrType(), unit, pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value CodeBuilder::load(Type type, Value pointer) {
  // Rows, pages and chunks promise element alignment only up to 8 bytes.
  unsigned alignment = 1;
  if (type.isIntOrFloat()) {
    alignment = std::min<unsigned>(8, std::max<unsigned>(1, type.getIntOrFloatBitWidth() / 8));
  } else if (isa<LLVM::LLVMPointerType>(type)) {
    alignment = 8;
  }
  return LLVM::LoadOp::create(*this, location_, type, pointer, alignment);
}

Value CodeBuilder::loadUnaligned(Type type, Value pointer) {
  return LLVM::LoadOp::create(*this, location_, type, pointer, /*alignment=*/1);
}

void CodeBuilder::store(Value value, Value pointer) {
  unsigned alignment = 1;
  if (value.getType().isIntOrFloat()) {
    alignment =
        std::min<unsigned>(8, std::max<unsigned>(1, value.getType().getIntOrFloatBitWidth() / 8));
  } else if (isa<LLVM::LLVMPointerType>(value.getType())) {
    alignment = 8;
  }
  LLVM::StoreOp::create(*this, location_, value, pointer, alignment);
}

Value CodeBuilder::add(Value a, Value b) { return arith::AddIOp::create(*this, location_, a, b); }

Value CodeBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(*this, location_, predicate, a, b);
}

Value CodeBuilder::isNull(Value pointer) {
  return LLVM::ICmpOp::create(*this, location_, LLVM::ICmpPredicate::eq, pointer, nullPtr());
}

Value CodeBuilder::select(Value condition, Value a, Value b) {
  return LLVM::SelectOp::create(*this, location_, condition, a, b);
}

Value CodeBuilder::zeroExtend(Value value, Type type) {
  return value.getType() == type ? value
                                 : Value(arith::ExtUIOp::create(*this, location_, type, value));
}

Value CodeBuilder::signExtend(Value value, Type type) {
  return value.getType() == type ? value
                                 : Value(arith::ExtSIOp::create(*this, location_, type, value));
}

Value CodeBuilder::truncate(Value value, Type type) {
  return value.getType() == type ? value
                                 : Value(arith::TruncIOp::create(*this, location_, type, value));
}

Value CodeBuilder::nullPtr() { return LLVM::ZeroOp::create(*this, location_, ptrType()); }

void CodeBuilder::prefetch(Value address) {
  LLVM::Prefetch::create(*this, location_, address, getI32IntegerAttr(0), getI32IntegerAttr(3),
                         getI32IntegerAttr(1));
}

void CodeBuilder::prefetchRow(Value row, int64_t bytes) {
  constexpr int64_t kLineBytes = 64, kLinesMax = 4;
  const int64_t asked = std::min(bytes, kLinesMax * kLineBytes);
  for (int64_t from = 0; from < asked; from += kLineBytes) {
    prefetch(at(row, from));
  }
  // Rows lie side by side from the beginning of a line: those of 24 bytes are on two in one of
  // four.
  if (asked == bytes && kLineBytes % bytes != 0 && bytes % kLineBytes != 0) {
    prefetch(at(row, bytes - 1));
  }
}

Value CodeBuilder::slot(Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(*this);
  Block &entry = function_.getBody().front();
  setInsertionPointToStart(&entry);
  return LLVM::AllocaOp::create(*this, location_, ptrType(), type, i64(count), 16);
}

Block *CodeBuilder::newBlock() {
  Block *block = new Block();
  function_.getBody().push_back(block);
  return block;
}

void CodeBuilder::jump(Block *target) {
  LLVM::BrOp::create(*this, location_, ValueRange{}, target);
}

void CodeBuilder::branch(Value condition, Block *ifTrue, Block *ifFalse) {
  LLVM::CondBrOp::create(*this, location_, condition, ifTrue, ifFalse);
}

void CodeBuilder::forLoop(Value begin, Value end, int64_t step,
                          llvm::function_ref<void(Value)> body) {
  forLoop(begin, end, i64(step), body);
}

void CodeBuilder::forLoop(Value begin, Value end, Value step,
                          llvm::function_ref<void(Value)> body) {
  Value counter = slot(getI64Type());
  store(begin, counter);
  Block *header = newBlock(), *inside = newBlock(), *done = newBlock();
  jump(header);
  enter(header);
  Value index = load(getI64Type(), counter);
  branch(compare(arith::CmpIPredicate::slt, index, end), inside, done);
  enter(inside);
  body(index);
  store(add(index, step), counter);
  jump(header);
  enter(done);
}

void CodeBuilder::ifThen(Value condition, llvm::function_ref<void()> then) {
  Block *inside = newBlock(), *done = newBlock();
  branch(condition, inside, done);
  enter(inside);
  then();
  jump(done);
  enter(done);
}

Value CodeBuilder::callImport(StringRef name, ValueRange arguments) {
  const abi::Import *found = nullptr;
  for (const abi::Import &entry : abi::kImports) {
    if (name == entry.name) {
      found = &entry;
    }
  }
  if (!found) {
    // no test: the names are written in this folder
    llvm::report_fatal_error(llvm::Twine("no such import: ") + name);
  }
  auto typeOf = [&](char code) -> Type {
    switch (code) {
    case 'v':
      return LLVM::LLVMVoidType::get(getContext());
    case 'i':
      return getI32Type();
    case 'l':
      return getI64Type();
    case 'q':
      return getIntegerType(128);
    case 'd':
      return getF64Type();
    default:
      return ptrType();
    }
  };
  SmallVector<Type> parameters;
  for (const char *code = found->codes + 1; *code; ++code) {
    parameters.push_back(typeOf(*code));
  }
  auto type = LLVM::LLVMFunctionType::get(typeOf(found->codes[0]), parameters);
  if (!imports_) {
    return callNamed(name, found->codes[0] == 'v' ? Type() : type.getReturnType(), arguments);
  }
  Value callee = loadField(ptrType(), imports_, found->slot * 8);
  SmallVector<Value> operands{callee};
  llvm::append_range(operands, arguments);
  auto call = LLVM::CallOp::create(*this, location_, type, operands);
  return call.getNumResults() ? call.getResult() : Value();
}

Value CodeBuilder::callNamed(StringRef name, Type result, ValueRange arguments) {
  auto module = function_->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder outer = OpBuilder::atBlockBegin(module.getBody());
    Type returned = result ? result : LLVM::LLVMVoidType::get(getContext());
    callee = LLVM::LLVMFuncOp::create(
        outer, location_, name,
        LLVM::LLVMFunctionType::get(returned, llvm::to_vector(arguments.getTypes())));
  }
  auto call = LLVM::CallOp::create(*this, location_, callee, arguments);
  return result ? call.getResult() : Value();
}

void CodeBuilder::setFunction(LLVM::LLVMFuncOp function) {
  function_ = function;
  setInsertionPointToEnd(&function.getBody().front());
}

} // namespace headrace::lower
