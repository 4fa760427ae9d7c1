// Tables that several ops read (a WITH query, an outer query beside its subquery): they are
// computed once and end in a state, over which each reader gets a pipeline of its own.
#include "passes/form/former.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace headrace::form {

namespace {

/// Rows of a file or literals, one by one: as quick to make again as to keep.
bool isRowByRow(Value table) {
  if (auto keep = table.getDefiningOp<dist::KeepOp>()) {
    return isRowByRow(keep.getInput());
  }
  auto op = table.getDefiningOp<frame::RelationalOpInterface>();
  return op && (op.getRowFlow() == frame::RowFlow::kSource ||
                (op.getRowFlow() == frame::RowFlow::kRowByRow && isRowByRow(op->getOperand(0))));
}

/// The rows of a finished state, at most filtered and computed with.
bool readsState(OpenPipeline &open) {
  Block &body = open.pipeline.getBody().front();
  return isa<pipe::ReadOp>(body.front()) && llvm::all_of(llvm::drop_begin(body), [](Operation &op) {
           return isa<pipe::FilterOp, pipe::MapOp>(op);
         });
}

} // namespace

bool isShared(Value table) {
  // The ways of a choose are one reader: it forms its sides itself.
  Block *block = table.getParentBlock();
  llvm::SmallPtrSet<Operation *, 4> readers;
  for (Operation *user : table.getUsers()) {
    readers.insert(block->findAncestorOpInBlock(*user));
  }
  return readers.size() > 1 && !isRowByRow(table);
}

FailureOr<OpenPipeline> Former::openShared(Value value, const Names &needed) {
  auto shared = shared_.find(value);
  if (shared == shared_.end()) {
    Names all;
    for (StringAttr name : cast<frame::TableType>(value.getType()).getNames()) {
      all.insert(name.getValue());
    }
    FailureOr<OpenPipeline> open = openOnce(value, all);
    if (failed(open)) {
      return failure();
    }
    if (!readsState(*open)) {
      std::optional<uint64_t> rowsMax = open->rowsMax;
      open = openState(value.getLoc(), keepRows(*open, value), open->columns, "kept");
      open->rowsMax = rowsMax;
    }
    shared = shared_.insert({value, *open}).first;
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
  OpenPipeline copy = copyOf(shared->second, builder, "shared_rows");
  if (llvm::all_of(copy.columns,
                   [&](const ColumnInfo &column) { return needed.contains(column.name); })) {
    return copy;
  }
  auto narrowed =
      appendMap(copy, {}, needed, {}, value.getLoc(),
                [](ExpressionTranslator &, ArrayRef<Scalar>) { return SmallVector<Scalar>(); });
  if (failed(narrowed)) {
    return failure();
  }
  return copy;
}

OpenPipeline Former::copyOf(const OpenPipeline &open, OpBuilder &where, StringRef stem) {
  OpenPipeline copy = open;
  IRMapping mapping;
  pipe::PipelineOp pipeline = open.pipeline;
  copy.pipeline = cast<pipe::PipelineOp>(where.clone(*pipeline, mapping));
  copy.pipeline.setSymName(fresh(stem));
  copy.rows = mapping.lookup(open.rows);
  return copy;
}

std::string Former::keepRows(OpenPipeline &open, Value value) {
  std::string name = fresh("rows");
  SmallVector<Attribute> fields;
  for (const ColumnInfo &column : open.columns) {
    fields.push_back(field(column, pipe::Combine::Payload));
  }
  OpBuilder outer(open.pipeline);
  Location location = value.getLoc();
  pipe::StateOp::create(outer, location, name, pipe::StateKind::Rows, fields,
                        localRows_.attributeOf(value));
  OpBuilder builder = atEnd(open);
  pipe::InsertOp::create(builder, location, open.rows, b_.getAttr<FlatSymbolRefAttr>(name),
                         strings({}), UnitAttr(), textBytes(open.columns));
  return name;
}

} // namespace headrace::form
