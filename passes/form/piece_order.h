// Whether states can be divided: the order of the pieces that pipelines would be cut into.
#pragma once

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace headrace::form {

/// The state that an op looks into, reads or fills; null if it is another op.
mlir::FlatSymbolRefAttr stateOf(mlir::Operation &op);

/// Whether it fills a state.
bool isSink(mlir::Operation &op);

/// The order of the pieces that pipelines would be cut into, those of one repeat taken together.
class PieceOrder {
public:
  /// `kept`: of the divided states, those whose rows are kept for who reads them. Both outlive it.
  PieceOrder(mlir::ModuleOp module, const llvm::StringSet<> &divided,
             const llvm::StringSet<> &kept);

  /// No piece waits for itself, and in rounds of a state rows of all its parts are not looked for
  /// in what one round has.
  bool possible() const;

private:
  enum class Edge : uint8_t {
    kEnd,  ///< of a task, which may be one of the same round
    kRows, ///< through a stream, which leaves the round
  };
  size_t newNode();
  bool isRepeat(size_t node) const;
  pipe::StateOp dividedOf(size_t repeat) const;
  size_t nodeOfRepeat(llvm::StringRef state);
  void addPieces(pipe::PipelineOp pipeline);
  void addEdges(pipe::PipelineOp pipeline);
  void wait(size_t node, size_t before, Edge edge);
  bool inCircle(size_t node, std::vector<uint8_t> &seen) const;

  mlir::ModuleOp module_;
  const llvm::StringSet<> &divided_, &kept_;
  std::vector<llvm::SmallVector<size_t>> edges_; ///< node -> what it waits for
  llvm::StringMap<size_t> repeats_, firsts_, lasts_;
  llvm::StringMap<llvm::SmallVector<size_t>> emitters_;
  llvm::StringMap<llvm::SmallVector<mlir::Operation *>> fillers_; ///< of each state
  llvm::DenseMap<mlir::Operation *, size_t> nodes_;
  bool contradicts_ = false;
};

} // namespace headrace::form
