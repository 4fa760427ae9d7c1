// CodeBuilder: control flow, memory access and import calls of a kernel, on the LLVM dialect.
// Locals live in stack slots of the entry block; LLVM's SROA turns them into registers.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <functional>
#include <string>

namespace headrace::lower {

class CodeBuilder : public mlir::OpBuilder {
public:
  /// Builds inside `function`, whose entry block exists; `module` receives declarations.
  CodeBuilder(mlir::LLVM::LLVMFuncOp function, mlir::Location location);

  mlir::Location loc() const { return location_; }
  void setLoc(mlir::Location location) { location_ = location; }

  mlir::Type ptrType() { return mlir::LLVM::LLVMPointerType::get(getContext()); }
  mlir::Value i32(int64_t value) { return integer(getI32Type(), value); }
  mlir::Value i64(int64_t value) { return integer(getI64Type(), value); }
  mlir::Value integer(mlir::Type type, int64_t value);

  /// ptr + bytes.
  mlir::Value at(mlir::Value pointer, int64_t bytes);
  /// ptr + index * stride; index is i32 (zero-extended) or i64.
  mlir::Value element(mlir::Value pointer, mlir::Value index, int64_t stride);
  mlir::Value load(mlir::Type type, mlir::Value pointer);
  /// From any address: of texts.
  mlir::Value loadUnaligned(mlir::Type type, mlir::Value pointer);
  void store(mlir::Value value, mlir::Value pointer);
  mlir::Value loadField(mlir::Type type, mlir::Value pointer, int64_t offset) {
    return load(type, at(pointer, offset));
  }
  void storeField(mlir::Value value, mlir::Value pointer, int64_t offset) {
    store(value, at(pointer, offset));
  }

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value isNull(mlir::Value pointer);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value zeroExtend(mlir::Value value, mlir::Type type);
  mlir::Value signExtend(mlir::Value value, mlir::Type type);
  mlir::Value truncate(mlir::Value value, mlir::Type type);
  mlir::Value nullPtr();
  /// Asks for the cache line of `address`, to be read soon and often.
  void prefetch(mlir::Value address);
  /// Asks for the first lines of a row of a state, which may begin in the middle of one.
  void prefetchRow(mlir::Value row, int64_t bytes);

  /// A stack slot in the entry block.
  mlir::Value slot(mlir::Type type, int64_t count = 1);

  mlir::Block *newBlock();
  void jump(mlir::Block *target);
  void branch(mlir::Value condition, mlir::Block *ifTrue, mlir::Block *ifFalse);
  void enter(mlir::Block *block) { setInsertionPointToEnd(block); }

  /// for (i = begin; i < end; i += step) body(i), i of type i64.
  void forLoop(mlir::Value begin, mlir::Value end, int64_t step,
               llvm::function_ref<void(mlir::Value)> body);
  void forLoop(mlir::Value begin, mlir::Value end, mlir::Value step,
               llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then);

  /// Calls an entry of runtime/abi/imports.def through the worker's table.
  mlir::Value callImport(llvm::StringRef name, mlir::ValueRange arguments);
  /// The worker's HrImports pointer; set once by the emitter. Without it imports are called by
  /// name.
  void setImports(mlir::Value table) { imports_ = table; }
  /// Calls a function of the module by name, declaring it if need be. `result` null: void.
  mlir::Value callNamed(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments);
  /// Goes on at the end of another function's first block.
  void setFunction(mlir::LLVM::LLVMFuncOp function);

  mlir::LLVM::LLVMFuncOp function() { return function_; }

private:
  mlir::LLVM::LLVMFuncOp function_;
  mlir::Location location_;
  mlir::Value imports_;
};

} // namespace headrace::lower
