// ThreadKernelEmitter: one pipe.pipeline shaped for threads, the second skeleton around the bodies
// that kernel_emitter.h compiles for a CPU worker.
#pragma once

#include "passes/lower/code/pipeline_code.h"
#include "passes/lower/gpu/device_kernel.h"
#include "passes/lower/gpu/group_tables.h"

namespace headrace::lower {

/// A thread takes the rows first, first + stride, … of the morsel and runs each through all stages
/// before the next:
///
///   row loop -> filter -> lookup chain -> … -> sink
///     ^           |          ^  |(end)           |
///     +-----------+<---------|--+                |
///                            +-------------------+
///
/// Values of a row stay in registers. What a block does together it does in supersteps with a
/// barrier between (|):
///
///   scalar aggregate: rows into accumulators of each thread | 16 threads fold those of the block |
///     one thread adds to the state
///   groups, of which a block's table holds many: empty the table | rows into it, or past it into
///     the state | (where threads have accumulators of their own: 16 threads a group fold them |
///     one thread a group adds to the table |) the table into the state
///   everything else: rows
///
/// Each superstep is a function (args, device, shared, thread, threads, block, blocks), so an
/// emulation of a block is a loop over its threads per superstep.
class ThreadKernelEmitter : PipelineCode {
public:
  ThreadKernelEmitter(pipe::PipelineOp pipeline, mlir::SymbolTable &states, mlir::ModuleOp target);

  /// Adds the supersteps to the target module. Diagnostics on what has no such shape (yet).
  mlir::FailureOr<DeviceKernel> emit();

private:
  void leaveWithError(mlir::Value code, mlir::Value place) override;
  void keepString(mlir::Value owner, mlir::Value string) override;

  // thread_kernel.cpp
  void beginSuperstep();
  void endSuperstep();
  /// The row loop with source and stages; `sink` ends in its last block and jumps to next_.
  mlir::LogicalResult emitRows(llvm::function_ref<mlir::LogicalResult()> sink);
  mlir::LogicalResult emitSource(mlir::Operation *source, mlir::Value row);
  mlir::LogicalResult emitFilter(pipe::FilterOp filter);
  RowReader newReader(mlir::Value row);

  // thread_columns.cpp
  /// At the begin of a row of the source.
  void loadFirst(pipe::RowsType rows, mlir::Value row);
  RowValue loadColumn(const ColumnValue &column);

  // thread_lookup.cpp
  mlir::LogicalResult emitLookup(pipe::LookupOp lookup);
  mlir::FailureOr<mlir::Value> chainHead(pipe::LookupOp lookup, const plan::State &state,
                                         mlir::Value *hash);
  mlir::LogicalResult emitCandidate(pipe::LookupOp lookup, const plan::State &state,
                                    mlir::Value match, mlir::Value hash, mlir::Block *unequal);

  // thread_sinks.cpp
  mlir::LogicalResult emitScalarCombine(pipe::CombineOp combine, pipe::StateOp op);
  mlir::LogicalResult emitInsert(pipe::InsertOp insert, pipe::StateOp op);
  mlir::LogicalResult emitEmit(pipe::EmitOp emit);
  /// Which threads change a row at the same time.
  enum class Scope : uint8_t { kBlock, kDevice };
  /// Folds a value into a field that other threads change too.
  mlir::LogicalResult combineAtomically(const plan::StateField &field, mlir::Value row,
                                        RowValue input, Scope scope);
  enum class Fields : uint8_t { kAll, kKeys, kOthers };
  /// Of the current row: sets those of `values`, one for each field.
  mlir::LogicalResult readFields(const plan::State &state, Fields which,
                                 std::vector<RowValue> &values);
  /// Threads that fold the accumulators that all threads of a block have.
  static constexpr int64_t kFoldingThreads = 16;

  // thread_groups.cpp
  mlir::LogicalResult emitGroupCombine(pipe::CombineOp combine, pipe::StateOp op);
  /// Function (table, hash, keys…) -> address of the group's row, made if it is new; 0 if there is
  /// no room.
  mlir::LLVM::LLVMFuncOp emitFindGroup(pipe::StateOp op, const plan::State &state,
                                       GroupTableCode &table);
  mlir::Value callFind(mlir::LLVM::LLVMFuncOp find, mlir::Value table, mlir::Value hash,
                       const plan::State &state, llvm::ArrayRef<RowValue> values);
  mlir::LogicalResult foldGroup(const plan::State &state, mlir::Value row,
                                llvm::ArrayRef<RowValue> values, Scope scope);
  /// Into the group that `find` finds in the state's table, or makes; an error if that is full.
  mlir::LogicalResult foldIntoState(pipe::CombineOp combine, mlir::LLVM::LLVMFuncOp find,
                                    const plan::State &state, mlir::Value hash,
                                    llvm::ArrayRef<RowValue> values);

  // thread_block_groups.cpp
  struct GroupFinders {
    mlir::LLVM::LLVMFuncOp inBlock, inState;
  };
  mlir::LogicalResult emitBlockGroups(pipe::CombineOp combine, pipe::StateOp op,
                                      const plan::State &state, const BlockLayout &layout);
  void emptyBlockTable(const plan::State &state, const BlockLayout &layout);
  mlir::LogicalResult emitBlockRow(pipe::CombineOp combine, const plan::State &state,
                                   const BlockLayout &layout, GroupFinders find);
  /// The number that the row's keys make together where all are codes of small dictionaries, else
  /// -1 (i64); null where they never are.
  mlir::Value codeOfKeys(mlir::ArrayAttr keys);
  /// What BlockLayout::ownField()'s offsets of this field are from.
  mlir::Value ownRow(const BlockLayout &layout, const plan::StateField &field, mlir::Value group,
                     mlir::Value thread);
  /// What a thread's accumulator of a field has; `column`: the field's in the state's rows.
  RowValue loadOwn(const BlockLayout &layout, const plan::State &state,
                   const plan::StateField &field, ColumnValue column, mlir::Value group,
                   mlir::Value thread);
  /// The accumulators of a group that one thread has, into those of another.
  void foldOwn(pipe::StateOp op, const plan::State &state, const BlockLayout &layout,
               mlir::Value group, mlir::Value into, mlir::Value from);
  /// All accumulators of threads into the rows of the block; ends in a superstep of its own.
  void foldOwnGroups(pipe::StateOp op, const plan::State &state, const BlockLayout &layout);

  mlir::Value statePointer(llvm::StringRef name) { return statePointers_.lookup(name); }
  /// The fields of a state's row as columns to read with loadField.
  std::vector<ColumnValue> fieldColumns(pipe::StateOp op, const plan::State &state);

  mlir::ModuleOp target_;
  DeviceKernel device_kernel_;
  mlir::Value args_, device_, shared_, thread_, threads_, block_,
      blocks_; ///< of the current superstep
  mlir::Value morsel_, row_;
  llvm::StringMap<mlir::Value> statePointers_;
  /// A column of a scan or stream: the parts of its one segment, loaded once a thread.
  struct Source {
    mlir::Value encoding, data, dictionary, heap, validity;
    mlir::Value first, isCoded; ///< what data has for this row: a code (i1), or a number; or null
  };
  RowValue loadNumber(mlir::Type type, const Source &from);
  std::vector<Source> sources_;
  std::optional<RowReader>
      reader_; ///< of the current row: each block of a row dominates what follows
  std::vector<Column> keptColumns_;
  RowReader::ColumnLoad columnLoad_;
  mlir::Block *next_ = nullptr; ///< where to go when this row (or match) is done
};

/// `link_STATE`: enters the rows of a filled join state into its directory. A thread takes rows by
/// stride.
mlir::FailureOr<DeviceKernel> emitJoinLink(pipe::StateOp state, mlir::ModuleOp target);

} // namespace headrace::lower
