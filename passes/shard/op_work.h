// What relational ops do on one rank that has some of their rows, as work that the cost model
// prices.
#ifndef HEADRACE_PASSES_SHARD_OP_WORK_H
#define HEADRACE_PASSES_SHARD_OP_WORK_H

#include "passes/shard/row_estimates.h"

namespace headrace::shard {

/// `parts`: into how many parts an op's rows are divided; one rank has one of them. An op that ends
/// a pipeline includes the beginning of the one that reads its state. Keeps pointers to its
/// arguments.
class OpWork {
public:
  OpWork(RowEstimates &rows, const cost::CostModel &model) : rows_(rows), model_(model) {}

  /// `kept`: a column by which a rank keeps some of what it reads; null: it keeps all.
  cost::StepWork scan(frame::ScanOp op, double parts, mlir::StringAttr kept = {});
  /// The filter by which a rank keeps its stretches of a key among rows that it reads.
  static cost::StepWork keepStretches(double rows);
  /// Filters, projections and renames.
  cost::StepWork rowWise(mlir::Operation *op, double parts);
  /// The table that a join builds of `rows` rows, for `probes` rows.
  cost::StepWork build(const analysis::JoinSides &sides, double rows, double probes);
  /// `rows` rows looked up in a table of `buildRows` rows, to be `matches` rows of the result.
  cost::StepWork probe(const analysis::JoinSides &sides, double rows, double buildRows,
                       double matches);
  /// `rows` rows of `input` folded into `groups` groups of `result`, of which the first `keys`
  /// columns are keys.
  cost::StepWork group(mlir::Value input, mlir::Value result, double keys, double rows,
                       double groups);
  /// `rows` rows put in order by #frame.sort_key (null: by none), of which `limit` stay; 0: all.
  cost::StepWork sort(mlir::Value input, double rows, double limit, mlir::ArrayAttr order);
  /// `rows` rows put in order by partition, and the columns of `result` that are not of the input
  /// computed.
  cost::StepWork partitions(mlir::Value input, mlir::Value result, double rows);
  /// Bytes that these rows take.
  double partitionBytes(mlir::Value result, double rows);
  /// Likewise of `rows` rows in the window's order, with what is carried between the ranks: the
  /// rows are gone through twice more and looked up by their rank.
  cost::StepWork carried(frame::WindowOp op, double rows);
  /// Rows of several pipelines become those of one.
  cost::StepWork unite(mlir::Value result, double parts);
  /// Rows become tensors.
  cost::StepWork toTensor(frame::ToTensorOp op, double parts);

private:
  /// Whether kernels find the groups of rows by the codes of their keys, as lower decides
  /// (passes/lower/cpu/kernel_group_codes.cpp).
  bool areCoded(mlir::Value input, llvm::ArrayRef<mlir::StringAttr> keys, double groups);
  cost::StateShape windowRows(mlir::Value result, double rows);

  RowEstimates &rows_;
  const cost::CostModel &model_;
};

/// Rows that an op keeps of its order: offset and count of a top-k or limit; 0: all.
double limitOf(mlir::Operation *op);
/// The keys of a sort or top-k; null for other ops.
mlir::ArrayAttr orderOf(mlir::Operation *op);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_OP_WORK_H
