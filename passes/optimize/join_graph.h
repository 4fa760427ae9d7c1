// A tree of inner joins taken apart: relations, equality classes of their columns, other
// predicates.
#ifndef HEADRACE_PASSES_OPTIMIZE_JOINGRAPH_H
#define HEADRACE_PASSES_OPTIMIZE_JOINGRAPH_H

#include "passes/analysis/cardinality.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {

/// A set of relations, one bit each.
using RelationSet = uint64_t;
inline constexpr unsigned kRelationsMax = 64;

/// Columns that the joins make equal, each with its relation.
struct EqualityClass {
  struct Member {
    unsigned relation;
    mlir::StringAttr column;
  };
  llvm::SmallVector<Member> members;
  mlir::Location location; ///< of the first join that had it
};

/// A conjunct over several relations that is not an equality of two columns.
struct JoinPredicate {
  Expression expression;
  RelationSet relations;
};

struct JoinGraph {
  llvm::SmallVector<mlir::Value> relations;
  llvm::SmallVector<EqualityClass> classes;
  llvm::SmallVector<JoinPredicate> predicates;

  RelationSet all() const { return (RelationSet(2) << (relations.size() - 1)) - 1; }
  /// Whether an equality class has members on both sides.
  bool connects(RelationSet a, RelationSet b) const;
  /// One pair of columns per class with members on both sides; within a side they are equal
  /// already, within a relation by `equalWithin`.
  void keysBetween(RelationSet a, RelationSet b, llvm::SmallVectorImpl<mlir::StringAttr> &aKeys,
                   llvm::SmallVectorImpl<mlir::StringAttr> &bKeys) const;
  /// Columns of one relation that the joins make equal, in pairs: what a filter of it must see to.
  llvm::SmallVector<std::pair<mlir::StringAttr, mlir::StringAttr>>
  equalWithin(unsigned relation) const;
  /// The predicates that hold columns of `whole` only, but of neither part alone.
  llvm::SmallVector<const JoinPredicate *> predicatesOf(RelationSet whole, RelationSet a,
                                                        RelationSet b) const;
};

/// The graph of the largest tree of inner joins with this root. Projects that only drop columns and
/// filters that cannot fail are looked through where their result is used once. Of a tree with more
/// than `kRelationsMax` relations only so much is taken apart, and a join below is a relation.
JoinGraph collectJoinGraph(frame::JoinOp root);

/// A join order: a relation, or a join of two.
struct JoinTree {
  RelationSet relations = 0;
  unsigned relation = 0; ///< of a leaf
  std::unique_ptr<JoinTree> probe;
  std::unique_ptr<JoinTree> build;
};

/// The cheapest order found: exactly up to `exactMax` relations, greedily beyond.
std::unique_ptr<JoinTree> orderJoins(const JoinGraph &graph,
                                     analysis::CardinalityAnalysis &analysis, unsigned exactMax);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_JOINGRAPH_H
