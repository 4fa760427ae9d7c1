// The factor rule of a tensor op: which loop (factor) runs along which dimension of which operand
// and result. One rule serves enumeration, costs and partitioning. Plain values, without layouts.
#ifndef HEADRACE_DIALECTS_INTERFACES_SHARDINGRULE_H
#define HEADRACE_DIALECTS_INTERFACES_SHARDINGRULE_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>

namespace headrace {

/// What happens to the result when a factor is split over ranks.
enum class FactorKind : uint8_t {
  kPassThrough,      ///< the result is split alike
  kReduction,        ///< every rank has a part that must be combined
  kNeedsReplication, ///< may not be split
};

/// How the parts of a reduction combine.
enum class ReductionKind : uint8_t { kNone, kSum, kMax, kMin, kProduct };

struct Factor {
  FactorKind kind = FactorKind::kPassThrough;
  /// The extent; negative if known only at run time.
  int64_t size = -1;
  /// Parts must be equal: the dimension is joined with others of its tensor or cut out of one, and
  /// a rank's part of the one shape is its part of the other only then.
  bool equalParts = false;
};

/// For `([i,k],[k,j],[i,j]) -> [i,j]`, a matmul: factors i, j (pass through), k (reduction).
struct ShardingRule {
  /// A dimension without a factor: it is whole on every rank.
  static constexpr int32_t kNoFactor = -1;

  llvm::SmallVector<Factor, 4> factors;
  /// Per tensor operand of the op, in order, and per dimension: the factor.
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>, 4> operands;
  /// Per tensor result.
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>, 2> results;
  /// Per operand: it is the start value of a reduction, so it has the result's layout, unreduced
  /// axes included.
  llvm::SmallVector<bool, 4> accumulators;
  ReductionKind reduction = ReductionKind::kNone;
  /// The result is the neutral element of these reductions (a fill with 0 is one of sum), so a
  /// rank's part of an unreduced result is that element again.
  llvm::SmallVector<ReductionKind, 2> neutralFor;
  /// Arithmetic operations per point of the iteration space.
  double operationsPerPoint = 0;
};

/// The rule of linalg ops on tensors, elementwise ops, reshapes, slices, gathers,
/// concatenations, tensor.empty and tensor constants; nothing for others.
std::optional<ShardingRule> tensorShardingRule(mlir::Operation *op);

} // namespace headrace

#endif // HEADRACE_DIALECTS_INTERFACES_SHARDINGRULE_H
