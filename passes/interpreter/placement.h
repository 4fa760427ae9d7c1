// Layouts on values: a whole value to the parts that ranks have, and back, with what a layout
// claims checked.
#pragma once

#include "dialects/dist/DistDialect.h"
#include "passes/interpreter/mesh_ranks.h"
#include "passes/interpreter/value.h"

namespace headrace::interpreter {

/// One value per rank.
using Parts = llvm::SmallVector<Value>;

/// The rank, among `ranks`, that a row belongs to when rows are split by the hash of these columns,
/// or by the place of one of them in a cycle (0: by hash).
int64_t hashRank(const Row &row, llvm::ArrayRef<unsigned> columns, int64_t cycle, int64_t ranks);
/// The rows of each of `count` ranks by range of an order.
std::vector<Table> cutByRange(Table whole, mlir::ArrayAttr order, int64_t count);

/// Divides a whole value. A ragged dimension is cut as `like`, parts of the same value, are;
/// without those evenly.
llvm::Expected<Parts> divide(const Value &whole, dist::LayoutAttr layout, const MeshRanks &ranks,
                             llvm::ArrayRef<Value> like = {});

/// Puts the parts together. Fails unless they are what the layout says: copies are equal, rows are
/// on the rank of their hash or all on the first, even splits are even. `producer` is the op that
/// made a table that is unreduced: it says how the parts combine.
llvm::Expected<Value> assemble(llvm::ArrayRef<Value> parts, dist::LayoutAttr layout,
                               const MeshRanks &ranks, mlir::Operation *producer);

} // namespace headrace::interpreter
