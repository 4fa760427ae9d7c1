// KernelEmitter: one pipe.pipeline to one function of the kernel ABI (runtime/abi/kernel.h).
#pragma once

#include "passes/lower/row_values.h"

#include "runtime/model/plan/plan.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace headrace::lower {

/// Rows that a buffer of a stage has room for: a tile, and what the widest vector reads past it.
inline constexpr int64_t kBufferRows = HR_TILE_ROWS + 64;

/// Emits the code of a pipeline, stage by stage, as basic blocks:
///
///   entry -> init -> tile -> filter -> lookup.fill -> … -> sink
///                     ^        (none)      ^ |(exhausted)      | (rows done)
///                     +--------------------+ +<----------------+
///
/// Each selecting stage has a `next` block to jump to when its rows are used up. All values that live
/// from stage to stage are in the kernel's scratch, so an emitting sink can return HR_OUTPUT_FULL and be resumed.
class KernelEmitter {
public:
  KernelEmitter(pipe::PipelineOp pipeline, mlir::SymbolTable &states, mlir::ModuleOp target);

  /// Adds the function to the target module. The kernel's symbol is the pipeline's name.
  mlir::FailureOr<plan::Kernel> emit();

private:
  using Column = std::shared_ptr<ColumnValue>;

  // kernel_emitter.cpp: prologue, sources, filters, maps
  void emitPrologue();
  mlir::LogicalResult emitSource(mlir::Operation *source);
  void decode(const Column &column);
  void decodeRemaining();
  void skipRemaining();
  mlir::LogicalResult emitFilters(llvm::ArrayRef<pipe::FilterOp> filters);
  mlir::LogicalResult emitDenseFilter(llvm::ArrayRef<std::shared_ptr<Expression>> conditions);
  mlir::LogicalResult emitScalarFilter(const Expression &condition);
  mlir::FailureOr<std::shared_ptr<Expression>> perEntryCondition(pipe::FilterOp filter);
  void emitMap(pipe::MapOp map);
  std::shared_ptr<Expression> makeExpression(mlir::Region &body, mlir::ArrayAttr columns);
  void keepColumns(pipe::RowsType rows);

  // kernel_lookup.cpp
  mlir::LogicalResult emitLookup(pipe::LookupOp lookup);

  // kernel_sinks.cpp
  mlir::LogicalResult emitSink(mlir::Operation *sink);
  mlir::LogicalResult emitScalarCombine(pipe::CombineOp combine, const plan::State &state);
  mlir::LogicalResult emitGroupCombine(pipe::CombineOp combine, const plan::State &state);
  mlir::LogicalResult emitInsert(pipe::InsertOp insert, const plan::State &state);
  mlir::LogicalResult emitEmit(pipe::EmitOp emit);
  void combineField(const plan::StateField &field, mlir::Value row, RowValue input, mlir::Value owner);
  void keepString(mlir::Value owner, mlir::Value string);

  // shared
  RowReader reader(unsigned level, mlir::Value row, unsigned width = 0);
  /// Hash of key columns of a row, by runtime/primitives/hash/hash.h.
  mlir::FailureOr<mlir::Value> hashKeys(RowReader &rows, mlir::ArrayAttr keys, mlir::Value *anyNull);
  mlir::Value hashValue(mlir::Type type, RowValue value);
  mlir::Value equalValues(mlir::Type type, mlir::Value a, mlir::Value b);
  mlir::LogicalResult lowerScalarOp(mlir::Operation *op, mlir::IRMapping &mapping);
  mlir::Value stringLiteral(llvm::StringRef text);
  mlir::Value scratch(int64_t bytes);
  mlir::Value statePointer(llvm::StringRef name);
  mlir::Value rowCount() { return b_.load(b_.getI64Type(), levels_.back().count); }
  unsigned level() const { return levels_.size() - 1; }
  /// Leaves the kernel with HR_ERROR if the code is not zero.
  void check(mlir::Value code);
  void checkNotNull(mlir::Value pointer);
  void failIf(mlir::Value condition, int32_t code);
  mlir::Value prologueValue(llvm::function_ref<mlir::Value()> make);
  uint32_t placeOf(mlir::Location location);

  pipe::PipelineOp pipeline_;
  mlir::SymbolTable &symbols_;
  CodeBuilder b_;
  plan::Kernel kernel_;
  mlir::Value args_, worker_, scratch_, morsel_, literals_, states_, outputs_;
  llvm::StringMap<mlir::Value> statePointers_;
  llvm::StringMap<unsigned> stateIndex_;
  llvm::StringMap<Column> columns_;
  std::vector<Level> levels_;
  struct Source {
    Column column;
    mlir::Value cursor;
    bool decoded = false;
    bool consumed = false; ///< its cursor is advanced some other way
  };
  std::vector<Source> sources_;
  mlir::Block *initTail_ = nullptr; ///< ends the code that runs once a morsel
  mlir::Block *tile_ = nullptr; ///< starts the next tile
  mlir::Block *next_ = nullptr; ///< where to go when the current rows are used up
  mlir::Block *done_ = nullptr;
  mlir::Block *resume_ = nullptr; ///< the emitting sink's loop, if any
  RowReader::ScalarOpLowering scalarOps_;
  std::vector<std::string> placeTexts_;
  std::vector<std::shared_ptr<Expression>> keepAlive_;
};

/// `int32_t NAME(const uint8_t *a, const uint8_t *b)` ordering rows of a sort state.
void emitSortCompare(pipe::StateOp state, llvm::StringRef name, mlir::ModuleOp target);

} // namespace headrace::lower
