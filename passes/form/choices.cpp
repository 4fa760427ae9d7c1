// Joins whose way is chosen at run time: both ways are formed, over the same materialised sides.
#include "passes/form/former.h"

using namespace mlir;

namespace headrace::form {

namespace {

frame::JoinOp joinIn(Region &region) {
  return region.front().getTerminator()->getOperand(0).getDefiningOp<frame::JoinOp>();
}

/// What comes before the exchanges on a side of the join in a region of a choose, and their keys.
std::pair<Value, std::vector<std::string>> behindExchanges(Value table) {
  std::vector<std::string> keys;
  while (auto exchange = table.getDefiningOp<dist::ExchangeOp>()) {
    keys = exchange.getKeys() ? listOf(*exchange.getKeys()) : keys;
    table = exchange.getInput();
  }
  return {table, keys};
}

} // namespace

LogicalResult Former::formBranch(Region &region, const Names &needed, StringRef stream,
                                 OpenPipeline left, OpenPipeline counted,
                                 std::vector<ColumnInfo> &columns) {
  frame::JoinOp join = joinIn(region);
  formed_[behindExchanges(join.getLeft()).first] = std::move(left);
  formed_[behindExchanges(join.getRight()).first] = std::move(counted);
  FailureOr<OpenPipeline> joined = openJoin(join, needed);
  if (failed(joined)) {
    return failure();
  }
  columns = joined->columns;
  OpBuilder builder = atEnd(*joined);
  pipe::EmitOp::create(builder, join.getLoc(), joined->rows, b_.getAttr<FlatSymbolRefAttr>(stream),
                       strings({}), textBytes(joined->columns));
  return success();
}

FailureOr<OpenPipeline> Former::openChoose(dist::ChooseOp choose, const Names &needed) {
  frame::JoinOp few = joinIn(choose.getFew()), many = joinIn(choose.getMany());
  if (!few || !many) {
    return choose.emitError("chooses between other ops than joins");
  }
  // What the joins need of their sides, and the exchanges in front of them.
  Names leftNeeds, rightNeeds;
  Location location = choose.getLoc();
  auto add = [](Names &names, ArrayRef<std::string> more) {
    for (const std::string &name : more) {
      names.insert(name);
    }
  };
  std::vector<std::string> residual =
      few.hasResidual() ? listOf(*few.getResidualColumns()) : std::vector<std::string>();
  for (auto [side, needs, keys] : {std::tuple(few.getLeft(), &leftNeeds, few.getLeftKeys()),
                                   std::tuple(few.getRight(), &rightNeeds, few.getRightKeys())}) {
    auto type = cast<frame::TableType>(side.getType());
    for (const frame::Column &column : type.getColumns()) {
      if (needed.contains(column.name.getValue()) ||
          llvm::is_contained(residual, column.name.getValue())) {
        needs->insert(column.name.getValue());
      }
    }
    add(*needs, listOf(keys));
  }
  add(leftNeeds, behindExchanges(many.getLeft()).second);
  add(rightNeeds, behindExchanges(many.getRight()).second);
  // The right side is kept as rows, which are counted and then read in the one way or the other.
  FailureOr<OpenPipeline> build = open(choose.getCounted(), rightNeeds);
  if (failed(build)) {
    return failure();
  }
  std::string rows = keepRows(*build, choose.getCounted());
  // The left side's pipeline is made once and continued twice.
  FailureOr<OpenPipeline> left = open(behindExchanges(few.getLeft()).first, leftNeeds);
  if (failed(left)) {
    return failure();
  }
  Operation &source = left->pipeline.getBody().front().front();
  if (!isa<pipe::ScanOp, pipe::ReadOp>(source)) {
    return choose.emitError(
               "its left side comes from an exchange; only scans and states can be read twice: ")
           << source.getName();
  }
  std::string stream = fresh("chosen"), choice = fresh("choice");
  OpBuilder after(left->pipeline);
  after.setInsertionPointAfter(left->pipeline);
  OpenPipeline second = copyOf(*left, after, left->pipeline.getSymName().str() + "_many");
  {
    OpBuilder outer(left->pipeline);
    pipe::ChoiceOp::create(outer, location, b_.getStringAttr(choice),
                           b_.getAttr<FlatSymbolRefAttr>(rows), choose.getAtMostAttr(),
                           b_.getI64IntegerAttr(static_cast<int64_t>(
                               localRows_.everywhere(choose.getCounted()).expected)));
  }
  std::vector<ColumnInfo> columns, again;
  for (auto [region, way, side, given] :
       {std::tuple(&choose.getFew(), pipe::Branch::Few, *left, &columns),
        std::tuple(&choose.getMany(), pipe::Branch::Many, second, &again)}) {
    branch_ = Branch{choice, way};
    putIntoBranch(side.pipeline);
    OpenPipeline counted = openState(location, rows, build->columns, "kept");
    counted.rowsMax = build->rowsMax;
    LogicalResult formed = formBranch(*region, needed, stream, side, counted, *given);
    branch_.reset();
    if (failed(formed)) {
      return failure();
    }
  }
  if (rowsType(columns) != rowsType(again)) {
    // no test: expand-choices makes both ways of one join
    return choose.emitError("its ways give different rows: ")
           << rowsType(columns) << " and " << rowsType(again);
  }
  OpBuilder outer(left->pipeline);
  pipe::StreamOp::create(outer, location, stream, pipe::StreamKind::Local, rowsType(columns),
                         localRows_.attributeOf(choose.getResult()));
  OpenPipeline out = startPipeline(location, "chosen_rows");
  OpBuilder builder = atEnd(out);
  out.rows = pipe::ReceiveOp::create(builder, location, rowsType(columns),
                                     b_.getAttr<FlatSymbolRefAttr>(stream));
  out.columns = columns;
  bool multiplies =
      few.getKind() == frame::JoinKind::Inner || few.getKind() == frame::JoinKind::Left;
  out.rowsMax = multiplies ? product(left->rowsMax, build->rowsMax) : left->rowsMax;
  return out;
}

} // namespace headrace::form
