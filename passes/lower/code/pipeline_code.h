// PipelineCode: what the kernels of a pipeline share whatever their skeleton (tiles of a CPU
// worker, threads of a GPU): columns and expressions, hashing and equality of keys, ops of bodies,
// literals, places of errors.
#pragma once

#include "passes/lower/code/row_values.h"

#include "model/plan/plan.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace headrace::lower {

/// Base of the emitters. A skeleton adds the loops, the sources, the lookups and the sinks, and
/// says how code leaves the kernel with an error.
class PipelineCode {
public:
  virtual ~PipelineCode() = default;

protected:
  using Column = std::shared_ptr<ColumnValue>;

  PipelineCode(pipe::PipelineOp pipeline, mlir::SymbolTable &states,
               mlir::LLVM::LLVMFuncOp function);

  /// Ends the current block: leaves with this HrErrorCode (i32) and place (index, i32).
  virtual void leaveWithError(mlir::Value code, mlir::Value place) = 0;
  /// The number of this rank and of all ranks, as i32; null where kernels do not know them.
  virtual mlir::Value rankNumber() { return {}; }
  virtual mlir::Value rankCount() { return {}; }
  /// Where they know these: the places of keys of this rank (the first, and how many), as i64, and
  /// HrWorker.keyBounds.
  virtual std::pair<mlir::Value, mlir::Value> keyPlaces() { return {}; }
  virtual mlir::Value keyBounds() { return {}; }
  /// The HrRowBuffer of the state that the pipeline fills; null where its bound is not kept.
  virtual mlir::Value boundedRows(llvm::StringRef) { return {}; }
  /// An HrTextBuffer for one op that makes strings, and the HrWorker; null where kernels make none.
  virtual mlir::Value textBuffer() { return {}; }
  virtual mlir::Value workerPointer() { return {}; }
  /// Copies a string's bytes to where they live as long as the state of this owner.
  virtual void keepString(mlir::Value owner, mlir::Value string) = 0;

  // pipeline_code.cpp
  void emitMap(pipe::MapOp map);
  std::shared_ptr<Expression> makeExpression(mlir::Region &body, mlir::ArrayAttr columns,
                                             std::optional<llvm::APFloat> textBytes);
  void keepColumns(pipe::RowsType rows);
  /// Folds a value into the field of a row that nobody else writes.
  void combineField(const plan::StateField &field, mlir::Value row, RowValue input,
                    mlir::Value owner);
  /// The least or greatest of two in SQL's order: NaN is the largest number, true is after false.
  mlir::Value extremeOf(bool least, mlir::Value a, mlir::Value b);
  /// Sets the field of a new row.
  void storeField(const plan::StateField &field, mlir::Type type, RowValue input, mlir::Value row,
                  mlir::Value owner);
  /// The field as a column, of the rows at `base`.
  static Column fieldColumn(const plan::StateField &field, mlir::Type type, mlir::Value base);
  /// A value of a body as the field stores it.
  mlir::Value widenToField(const plan::StateField &field, mlir::Value value);
  /// Leaves the kernel with HR_ERROR if the code is not zero.
  void check(mlir::Value code);
  void checkNotNull(mlir::Value pointer);
  void failIf(mlir::Value condition, int32_t code);
  /// Makes values at the end of the entry block, which has its terminator by then.
  mlir::Value prologueValue(llvm::function_ref<mlir::Value()> make);
  uint32_t placeOf(mlir::Location location);

  // key_code.cpp
  /// Hash of key columns of a row, by runtime/primitives/hash/hash.h.
  mlir::FailureOr<mlir::Value> hashKeys(RowReader &rows, mlir::ArrayAttr keys,
                                        mlir::Value *anyNull);
  mlir::Value hashValue(mlir::Type type, RowValue value);
  /// The hash of a key so far (null: none) and of the next column together.
  mlir::Value mixHashes(mlir::Value hash, mlir::Value next);
  /// This rank's place in the group over these axes, and how many ranks that has, as i32.
  std::pair<mlir::Value, mlir::Value> placeAlong(mlir::Operation *op, mlir::ArrayAttr axes);
  /// The places of keys that are this rank's in that group, as keyPlaces().
  std::pair<mlir::Value, mlir::Value> keyPlacesAlong(mlir::Operation *op, mlir::ArrayAttr axes);
  /// primitives::placeInCycle of an integer, or of a vector of them.
  mlir::Value placeInCycle(RowValue key, uint64_t cycle);
  /// Whether the place (i64, or a vector of them) of a key is this rank's: i1, or a vector of them.
  mlir::Value isOwn(mlir::Value place, pipe::OwnsOp owns);
  /// The number of the output (i32) for a row, of `outputs` (i32): to the place, along the axes of
  /// the stream, of the rank that the hash of its keys names; without a step before or behind it,
  /// these are all there are.
  mlir::FailureOr<mlir::Value> outputOfRow(RowReader &rows, pipe::EmitOp emit, mlir::Value outputs);
  /// primitives::placeOfHash.
  mlir::Value placeOfHash(mlir::Value hash);
  /// primitives::rankOfHash among so many (i32), as i32.
  mlir::Value rankOfHash(mlir::Value hash, mlir::Value ranks);
  /// primitives::partOfHash, likewise.
  mlir::Value partOfHash(mlir::Value hash, mlir::Value parts);
  mlir::Value equalValues(mlir::Type type, mlir::Value a, mlir::Value b);
  /// A key of a row against the one kept in a state's row: NULL equals NULL.
  mlir::Value equalKey(const plan::StateField &field, mlir::Type type, RowValue input,
                       mlir::Value row);

  // scalar_ops.cpp
  mlir::LogicalResult lowerScalarOp(mlir::Operation *op, mlir::IRMapping &mapping);
  mlir::LogicalResult lowerTextOp(mlir::Operation *op, mlir::IRMapping &mapping);
  void lowerBound(pipe::BoundOp op, mlir::IRMapping &mapping);
  mlir::Value stringLiteral(llvm::StringRef text);
  // loop_code.cpp
  mlir::LogicalResult lowerLoop(pipe::LoopOp loop, mlir::IRMapping &mapping);
  mlir::LogicalResult lowerLoopBody(mlir::Block &body, mlir::IRMapping &mapping);
  void lowerListElement(pipe::ListElementOp op, mlir::IRMapping &mapping);
  class Collector;

  pipe::PipelineOp pipeline_;
  mlir::SymbolTable &symbols_;
  CodeBuilder b_;
  plan::Kernel kernel_;
  mlir::Value literals_;
  llvm::StringMap<Column> columns_;
  /// Of keys that are texts without NULLs, the column with their hashes, where there is one.
  llvm::StringMap<std::string> keyHashes_;
  RowReader::ScalarOpLowering scalarOps_;
  std::vector<std::string> placeTexts_; ///< where rows of this pipeline can fail
  std::vector<std::shared_ptr<Expression>> keepAlive_;
};

/// The field of this name, or null.
const plan::StateField *findField(const plan::State &state, llvm::StringRef name);

} // namespace headrace::lower
