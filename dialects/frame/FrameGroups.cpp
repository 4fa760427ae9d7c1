// What aggregate, distinct and union mean to passes.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/ExpressionText.h"

using namespace mlir;
using namespace headrace::frame;

using MostRows = std::optional<uint64_t>;

//===----------------------------------------------------------------------===//
// Aggregate
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> AggregateOp::getPassedColumns() {
  SmallVector<PassedColumn> passed;
  for (StringAttr key : getKeys().getAsRange<StringAttr>()) {
    passed.push_back({0, key, key});
  }
  return passed;
}

ColumnSet AggregateOp::getNeededColumns(unsigned, const ColumnSet &wanted) {
  ColumnSet needed;
  addNames(needed, getKeys());
  for (MeasureAttr measure : getMeasureRange()) {
    if (wanted.contains(measure.getName()) && measure.getInput()) {
      needed.insert(measure.getInput());
    }
  }
  return needed;
}

SpareColumns AggregateOp::getSpareColumns() { return SpareColumns::kAllow; }

Value AggregateOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &wanted) {
  ColumnSet kept = wanted;
  addNames(kept, getKeys());
  SmallVector<Attribute> measures;
  for (MeasureAttr measure : getMeasureRange()) {
    if (kept.contains(measure.getName())) {
      measures.push_back(measure);
    }
  }
  return AggregateOp::create(builder, getLoc(), narrowed(getType(), kept), inputs[0], getKeys(),
                             builder.getArrayAttr(measures), getStage());
}

void AggregateOp::renameColumns(NewName newName) {
  SmallVector<Attribute> measures;
  for (MeasureAttr measure : getMeasureRange()) {
    StringAttr input = measure.getInput();
    measures.push_back(MeasureAttr::get(getContext(), measure.getFunction(),
                                        input ? newName(input) : input,
                                        newName(measure.getName())));
  }
  setKeysAttr(renamedNames(getKeys(), newName));
  setMeasuresAttr(ArrayAttr::get(getContext(), measures));
}

RowFlow AggregateOp::getRowFlow() { return RowFlow::kState; }
RowOrdering AggregateOp::getOrdering() { return RowOrdering::kNone; }
RowState AggregateOp::getState() {
  RowState state{RowState::Kind::kGroups};
  state.partial = getStage() == AggregateStage::Partial;
  return state;
}

bool AggregateOp::letsConditionsThrough(ArrayRef<StringAttr> columns) {
  // Without keys there is a row for no rows too.
  return !columns.empty() && llvm::all_of(columns, [&](StringAttr column) {
    return llvm::is_contained(getKeys(), Attribute(column));
  });
}

MostRows AggregateOp::getMostRows(ArrayRef<MostRows> inputs) {
  return getKeys().empty() ? MostRows(1) : inputs[0];
}

RowSharding AggregateOp::getSharding() {
  RowSharding sharding;
  if (!getKeys().empty()) {
    sharding.together.push_back(llvm::to_vector<2>(getKeys().getAsRange<StringAttr>()));
  }
  SmallVector<AggregateFunction> functions;
  SmallVector<Type> types;
  for (auto [measure, type] :
       llvm::zip(getMeasureRange(), getType().getColumnTypes().drop_front(getKeys().size()))) {
    if (!ruleOf(measure.getFunction()).combine) {
      return sharding;
    }
    functions.push_back(measure.getFunction());
    types.push_back(dropNullable(type));
  }
  sharding.parts = RowSharding::Parts::kAggregate;
  sharding.contract = ContractAttr::get(getContext(), functions, types);
  return sharding;
}

Operation *AggregateOp::createFinal(OpBuilder &builder, Value parts) {
  SmallVector<Attribute> measures;
  for (MeasureAttr measure : getMeasureRange()) {
    // count(*) has no input; its parts have.
    AggregateFunction function = measure.getFunction() == AggregateFunction::CountStar
                                     ? AggregateFunction::Count
                                     : measure.getFunction();
    measures.push_back(
        MeasureAttr::get(getContext(), function, measure.getName(), measure.getName()));
  }
  return AggregateOp::create(builder, getLoc(), getType(), parts, getKeys(),
                             builder.getArrayAttr(measures), AggregateStage::Final);
}

void AggregateOp::makePartial() { setStage(AggregateStage::Partial); }

std::string AggregateOp::getVariant() {
  return getStage() == AggregateStage::Complete ? "" : stringifyAggregateStage(getStage()).str();
}

std::string AggregateOp::getDetail() {
  std::string text = namesText(getKeys());
  for (MeasureAttr measure : getMeasureRange()) {
    text += text.empty() ? "" : ", ";
    text += measure.getInput() ? (stringifyAggregateFunction(measure.getFunction()) + "(" +
                                  measure.getInput().getValue() + ")")
                                     .str()
                               : "count(*)";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Distinct
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> DistinctOp::getPassedColumns() { return passAll(getInput()); }

ColumnSet DistinctOp::getNeededColumns(unsigned, const ColumnSet &) {
  ArrayRef<StringAttr> names = getType().getNames();
  return ColumnSet(names.begin(), names.end());
}

SpareColumns DistinctOp::getSpareColumns() { return SpareColumns::kDrop; }

Value DistinctOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &) {
  return DistinctOp::create(builder, getLoc(), inputs[0].getType(), inputs[0]);
}

void DistinctOp::renameColumns(NewName) {}
RowFlow DistinctOp::getRowFlow() { return RowFlow::kState; }
RowOrdering DistinctOp::getOrdering() { return RowOrdering::kNone; }
RowState DistinctOp::getState() { return {RowState::Kind::kGroups}; }
bool DistinctOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }
MostRows DistinctOp::getMostRows(ArrayRef<MostRows> inputs) { return inputs[0]; }

RowSharding DistinctOp::getSharding() {
  RowSharding sharding;
  if (getType().getNumColumns() > 0) {
    sharding.together.push_back(llvm::to_vector<2>(getType().getNames()));
  }
  sharding.parts = RowSharding::Parts::kDistinct;
  return sharding;
}

Operation *DistinctOp::createFinal(OpBuilder &builder, Value parts) {
  return DistinctOp::create(builder, getLoc(), getType(), parts);
}

void DistinctOp::makePartial() {}
std::string DistinctOp::getDetail() { return ""; }

//===----------------------------------------------------------------------===//
// Union
//===----------------------------------------------------------------------===//

SmallVector<PassedColumn> UnionOp::getPassedColumns() {
  SmallVector<PassedColumn> passed;
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    llvm::append_range(
        passed, passByPlace(input, static_cast<unsigned>(number), getType(), Passing::kOneOf));
  }
  return passed;
}

ColumnSet UnionOp::getNeededColumns(unsigned operand, const ColumnSet &wanted) {
  return atSamePlaces(atLeastOne(wanted, getType()), getType(),
                      cast<TableType>(getInputs()[operand].getType()));
}

SpareColumns UnionOp::getSpareColumns() { return SpareColumns::kExact; }

Value UnionOp::createNarrowed(OpBuilder &builder, ValueRange inputs, const ColumnSet &wanted) {
  return UnionOp::create(builder, getLoc(), narrowed(getType(), atLeastOne(wanted, getType())),
                         inputs);
}

void UnionOp::renameColumns(NewName) {}
RowFlow UnionOp::getRowFlow() { return RowFlow::kUnite; }
RowOrdering UnionOp::getOrdering() { return RowOrdering::kNone; }
bool UnionOp::letsConditionsThrough(ArrayRef<StringAttr>) { return true; }

MostRows UnionOp::getMostRows(ArrayRef<MostRows> inputs) {
  uint64_t all = 0;
  for (MostRows input : inputs) {
    if (!input || __builtin_add_overflow(all, *input, &all)) {
      return std::nullopt;
    }
  }
  return all;
}

RowSharding UnionOp::getSharding() {
  RowSharding sharding;
  sharding.anywhere = true;
  return sharding;
}

std::string UnionOp::getDetail() { return ""; }
