// DeviceKernel: what a launcher must know of a kernel shaped for threads; and its supersteps as
// functions.
#pragma once

#include "passes/lower/code/code_builder.h"
#include "passes/lower/machine/compile.h"

#include "model/plan/plan.h"
#include "runtime/abi/device_kernel.h"

namespace headrace::lower {

/// A column that a kernel reads or writes.
struct DeviceColumn {
  std::string name;
  std::string file; ///< its name in the table; empty where it is in none
  HrType type = HR_I64;
  bool nullable = false;
};

struct DeviceKernel {
  plan::Kernel kernel;      ///< symbol, literals
  uint32_t threads = 256;   ///< of a block, at most
  uint32_t sharedBytes = 0; ///< of a block
  unsigned supersteps = 0;
  bool takesMorsels = true;        ///< several at once, as HrDevice says
  bool sharesRows = false;         ///< threads of a block change rows of shared memory, by atomics
  std::vector<std::string> states; ///< in the order of HrArgs.states
  std::string table;               ///< whose rows it takes; empty: those of a state or stream
  std::string reads;               ///< the state whose rows it takes, or empty
  std::string fills;               ///< the state that its rows go to, or that it links; or empty
  std::vector<DeviceColumn> columns; ///< of HrMorsel.columns; a tensor kernel's inputs and outputs
  std::vector<DeviceColumn> outputs; ///< of HrOutput.columns
  std::vector<std::string> places;   ///< where rows can fail
};

/// Parameters of a superstep, in order: its part of a launch. `blocks` are those of its morsel, and
/// `block` one of them.
enum SuperstepArgument : unsigned {
  kArgs,
  kDevice,
  kShared,
  kThread,
  kThreads,
  kBlock,
  kBlocks,
  kSuperstepArguments
};

/// An empty function `KERNEL.superstepN`, private to the module.
mlir::LLVM::LLVMFuncOp makeSuperstep(mlir::ModuleOp target, llvm::StringRef kernel, unsigned number,
                                     mlir::Location location);

/// Rows (or elements) first, first + threads * blocks, … of a thread. `next` is the block to jump
/// to at the end of `body`; the builder is left behind the loop.
void strideLoop(CodeBuilder &builder, mlir::Value count,
                llvm::function_ref<void(mlir::Value index, mlir::Block *next)> body);

/// HR_DECODE_PAGES, by the primitive.
DeviceKernel emitDecodePages(mlir::ModuleOp target);

/// Adds the entry, named as the kernel.
void emitEntry(mlir::ModuleOp target, const DeviceKernel &kernel, DeviceTarget device);

} // namespace headrace::lower
