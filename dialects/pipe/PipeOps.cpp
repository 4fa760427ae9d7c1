// Verifiers of the ops of pipe.
#include "dialects/pipe/PipeDialect.h"
#include "dialects/topo/TopoDialect.h"
#include "runtime/base/list_values.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::pipe;
namespace frame = headrace::frame;

//===----------------------------------------------------------------------===//
// States and streams
//===----------------------------------------------------------------------===//

void StateOp::build(OpBuilder &builder, OperationState &state, StringRef name, StateKind kind,
                    ArrayRef<Attribute> fields, CardinalityAttr holds) {
  build(builder, state, name, kind, builder.getArrayAttr(fields), ArrayAttr(), FloatAttr(),
        IntegerAttr(), IntegerAttr(), /*first_come=*/false, holds, DirectAttr(), ArrayAttr(),
        ArrayAttr());
}

int64_t StateOp::countKeys() {
  return llvm::count_if(getFields().getAsRange<FieldAttr>(),
                        [](FieldAttr field) { return field.getCombine() == Combine::Key; });
}

/// Whether a state of this kind has such fields.
static bool takes(StateKind kind, Combine combine) {
  bool payload = combine == Combine::Payload, key = combine == Combine::Key;
  bool computed = combine == Combine::Computed;
  switch (kind) {
  case StateKind::Scalar:
    return !payload && !key && !computed;
  case StateKind::Group:
    return !payload && !computed;
  case StateKind::Join:
    return payload || key;
  case StateKind::Sort:
  case StateKind::Rows:
    return payload;
  case StateKind::Window:
    return true;
  }
  llvm_unreachable("unknown state kind");
}

LogicalResult StateOp::verify() {
  llvm::StringSet<> names;
  for (auto field : getFields().getAsRange<FieldAttr>()) {
    if (!names.insert(field.getName().getValue()).second) {
      return emitOpError("C1: duplicate field: ") << field.getName();
    }
    if (!takes(getKind(), field.getCombine())) {
      return emitOpError("C3: a state of kind ")
             << stringifyStateKind(getKind()) << " has no such field: " << field;
    }
  }
  if (getKind() == StateKind::Group && countKeys() == 0) {
    return emitOpError("C3: groups need a key");
  }
  if (getWithin() && (getKind() != StateKind::Window || countKeys() > 0)) {
    return emitOpError("C7: only windows without keys are within axes");
  }
  if (getWithin() && failed(topo::verifyAxes(*this, *getWithin()))) { // C7
    return failure();
  }
  bool ordered = getKind() == StateKind::Sort || (getKind() == StateKind::Window && !getOffset());
  if ((getSortKeys() || getLimit() || getOffset()) && !ordered) {
    return emitOpError("C2: an order, limit or offset on a state of kind: ")
           << stringifyStateKind(getKind());
  }
  if (getFirstCome() && (getKind() != StateKind::Sort || !getLimit())) {
    return emitOpError("C2: first_come without a limit of a sort");
  }
  if (std::optional<APFloat> words = getOrderWords()) {
    if (getKind() != StateKind::Sort || !getSortKeys()) {
      return emitOpError("C2: words without an order of a sort");
    }
    if (!words->isFinite() || words->convertToDouble() < 1) {
      return emitOpError("C2: a row needs at least one word, and no more than there are, got ")
             << words->convertToDouble();
    }
  }
  if (getSortKeys()) {
    for (auto key : getSortKeys()->getAsRange<SortKeyAttr>()) {
      if (!names.contains(key.getField().getValue())) {
        return emitOpError("C2: sort key is not a field: ") << key.getField();
      }
    }
  }
  auto limit = static_cast<int64_t>(getLimit().value_or(INT64_MAX));
  auto offset = static_cast<int64_t>(getOffset().value_or(0));
  if (limit < 1 || offset < 0 || offset > limit) {
    return emitOpError("C4: needs 0 <= offset <= limit, which is not 0, got ")
           << offset << " and " << limit;
  }
  return failure(failed(verifyDirect()) || failed(verifyFunctions()));
}

FieldAttr StateOp::getField(StringRef name) {
  for (auto field : getFields().getAsRange<FieldAttr>()) {
    if (field.getName() == name) {
      return field;
    }
  }
  return {};
}

std::optional<Combine> headrace::pipe::combineOf(frame::AggregateFunction function) {
  using Function = frame::AggregateFunction;
  switch (frame::ruleOf(function).ofAll) {
  case Function::Sum:
  case Function::Count:
  case Function::CountStar:
    return Combine::Sum;
  case Function::Min:
    return Combine::Min;
  case Function::Max:
    return Combine::Max;
  case Function::BitAnd:
    return Combine::BitAnd;
  case Function::BitOr:
    return Combine::BitOr;
  case Function::BitXor:
    return Combine::BitXor;
  case Function::Product:
    return Combine::Product;
  default: // made of others
    return std::nullopt;
  }
}

/// Whether the field of an aggregate's result can combine so.
static bool folds(frame::AggregateFunction function, Combine combine) {
  bool sums = frame::ruleOf(function).result == frame::AggregateResult::kSum;
  return combineOf(function) == combine || (sums && combine == Combine::SumDoubleDouble);
}

LogicalResult StateOp::verifyFunctions() {
  if (getFunctions().has_value() != (getKind() == StateKind::Window)) {
    return emitOpError("C6: functions belong to a window, got ") << stringifyStateKind(getKind());
  }
  llvm::DenseSet<StringAttr> results;
  auto functions = getFunctions().value_or(ArrayAttr::get(getContext(), {}));
  for (auto function : functions.getAsRange<frame::WindowFunctionAttr>()) {
    FieldAttr result = getField(function.getName().getValue());
    bool twice = !results.insert(function.getName()).second;
    bool unknown = llvm::any_of(function.getColumns(), [&](StringAttr column) {
      FieldAttr field = getField(column.getValue());
      return !field ||
             (field.getCombine() != Combine::Key && field.getCombine() != Combine::Payload);
    });
    if (!result || twice || unknown) {
      return emitOpError("C6: a function of no fields, or into none: ") << function;
    }
    using Kind = frame::WindowFunctionKind;
    Kind kind = function.getKind();
    bool copies = kind == Kind::Lag || kind == Kind::Lead || kind == Kind::FirstValue ||
                  kind == Kind::LastValue || kind == Kind::NthValue || kind == Kind::Mode;
    Type type = result.getType();
    bool fits = kind == Kind::Aggregate ? folds(*function.getAggregate(), result.getCombine())
                                        : result.getCombine() == Combine::Computed;
    if (copies) {
      StringAttr otherwise = function.getColumn(2);
      fits &= result.getNullable() && type == getField(function.getColumn(0)).getType() &&
              (!otherwise || type == getField(otherwise).getType());
    } else if (kind == Kind::PercentRank || kind == Kind::CumeDist) {
      fits &= type.isF64();
    } else if (kind == Kind::Collect || kind == Kind::CollectDistinct || kind == Kind::Quantiles ||
               kind == Kind::QuantilesDistinct) {
      fits &= result.getNullable() && isa<StringType>(type) &&
              type == getField(function.getColumn(0)).getType();
    } else if (kind != Kind::Aggregate) {
      fits &= type.isInteger(64);
    }
    if (!fits) {
      return emitOpError("C6: the field of ") << function << " cannot be " << result;
    }
    if (frame::WindowFrameAttr frame = function.getFrame()) {
      const size_t keys = getSortKeys() ? getSortKeys()->size() : 0;
      const bool byValue = frame.getUnit() == frame::FrameUnit::Range &&
                           (frame.getStartDistance() || frame.getEndDistance());
      if (frame.getUnit() == frame::FrameUnit::Groups && keys == 0) {
        return emitOpError("C6: a frame of groups of peers needs an order: ") << function;
      }
      if (byValue && keys != 1) {
        return emitOpError("C6: a frame by values needs one order key, got ") << keys;
      }
    }
    if (getLimit() && (function.getFrame() || (kind != Kind::RowNumber && kind != Kind::Rank))) {
      return emitOpError("C6: rows that are left out change ") << function;
    }
  }
  for (auto field : getFields().getAsRange<FieldAttr>()) {
    bool filled = field.getCombine() == Combine::Key || field.getCombine() == Combine::Payload;
    if (getKind() == StateKind::Window && !filled && !results.contains(field.getName())) {
      return emitOpError("C6: no function computes: ") << field;
    }
  }
  return success();
}

LogicalResult StateOp::verifyDirect() {
  if (!getDirect()) {
    return success();
  }
  for (auto field : getFields().getAsRange<FieldAttr>()) {
    bool wide = !field.getType().isInteger() || field.getType().getIntOrFloatBitWidth() > 64;
    if (field.getCombine() == Combine::Key && (wide || field.getNullable())) {
      return emitOpError("C5: no array is indexed by the key: ") << field;
    }
  }
  if (getKind() != StateKind::Join || countKeys() != 1) {
    return emitOpError("C5: only a join state with one key is direct");
  }
  return success();
}

void StreamOp::build(OpBuilder &builder, OperationState &state, StringRef name, StreamKind kind,
                     RowsType rows, CardinalityAttr carries) {
  build(builder, state, name, kind, rows, /*cycle=*/IntegerAttr(), /*axes=*/ArrayAttr(),
        /*toward=*/ArrayAttr(),
        /*sort_keys=*/ArrayAttr(), /*names=*/ArrayAttr(), /*logical=*/ArrayAttr(),
        /*ordered=*/false, /*resident=*/ArrayAttr(), IntegerAttr(), carries, FloatAttr(),
        IntegerAttr(), dist::SkewAttr());
}

LogicalResult StreamOp::verify() {
  StreamKind kind = getKind();
  if (getWriters() && (kind != StreamKind::Local || static_cast<int64_t>(*getWriters()) < 2)) {
    return emitOpError("C1: writers are two or more, of a local stream, got ")
           << static_cast<int64_t>(*getWriters());
  }
  bool leaves = kind == StreamKind::Result || kind == StreamKind::ToTensor;
  for (std::optional<ArrayAttr> described : {getNames(), getLogical()}) {
    if (described && (!leaves || described->size() != getRows().size())) {
      return emitOpError("C2: names and logical types are of the columns of a result, got ")
             << *described;
    }
  }
  if (getLogical() && failed(verifyColumnTypes(*this, *getLogical(), getRows()))) { // C2
    return failure();
  }
  bool misses = kind == StreamKind::ToTensor ? !getLogical() : !getNames() != !getLogical();
  if (misses) {
    return emitOpError("C2: a result's columns need names and logical types");
  }
  if (getFullest() && (kind != StreamKind::Hash || !(getFullest()->convertToDouble() >= 1))) {
    return emitOpError("C3: the fullest rank gets 1 or more of an exchange by hash, got ")
           << getFullestAttr();
  }
  if (getSkew() && kind != StreamKind::Hash) {
    return emitOpError("C8: only an exchange by hash has skew, got ") << stringifyStreamKind(kind);
  }
  if (getOrdered() && !leaves) {
    return emitOpError("C4: only a result is ordered");
  }
  if (getResident() && (kind != StreamKind::Result || !areAmong(*getResident(), getNames()))) {
    return emitOpError("C4: only a result is resident, by columns that it has, got ")
           << *getResident();
  }
  bool ranged = kind == StreamKind::Range;
  bool moves = kind == StreamKind::Hash || kind == StreamKind::Broadcast ||
               kind == StreamKind::Gather || ranged;
  if (moves != getAxes().has_value()) {
    return emitOpError("C5: exactly what goes to other ranks has axes, got ")
           << stringifyStreamKind(kind);
  }
  if (getAxes() && failed(topo::verifyAxes(*this, *getAxes()))) { // C5
    return failure();
  }
  if (getToward() && (kind != StreamKind::Hash || getSkew())) {
    return emitOpError("C9: rows go toward ranks only by hash, without skew, got ")
           << stringifyStreamKind(kind);
  }
  if (getToward() && failed(topo::verifyToward(*this, *getAxes(), *getToward()))) { // C9
    return failure();
  }
  if (getCycle() &&
      (kind != StreamKind::Hash || getSkew() || static_cast<int64_t>(*getCycle()) < 1)) {
    return emitOpError(
               "C10: only rows by hash without skew go in a cycle, of one key or more, got ")
           << static_cast<int64_t>(*getCycle());
  }
  bool parted = kind == StreamKind::Parted;
  if (parted != getParts().has_value() || (parted && static_cast<int64_t>(*getParts()) < 2)) {
    return emitOpError("C7: exactly what is parted has parts, two or more, got ")
           << stringifyStreamKind(kind);
  }
  ArrayAttr order = getSortKeysAttr();
  if (ranged != (order && !order.empty())) {
    return emitOpError("C6: exactly what goes by range has an order, got ")
           << stringifyStreamKind(kind);
  }
  if (order) {
    for (auto key : order.getAsRange<SortKeyAttr>()) {
      if (getRows().indexOf(key.getField()) < 0) {
        return emitOpError("C6: sort key is not a column: ") << key.getField();
      }
    }
  }
  return success();
}

LogicalResult ChoiceOp::verify() {
  if (static_cast<int64_t>(getAtMost()) < 0) {
    return emitOpError("C1: the bound is negative: ") << static_cast<int64_t>(getAtMost());
  }
  if (static_cast<int64_t>(getExpected().value_or(0)) < 0) {
    return emitOpError("C1: the estimate is negative: ") << static_cast<int64_t>(*getExpected());
  }
  return success();
}

LogicalResult RepeatOp::verify() {
  if (static_cast<int64_t>(getRoom()) < 0) {
    return emitOpError("C1: the room is negative: ") << static_cast<int64_t>(getRoom());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

void PipelineOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  build(builder, state, builder.getStringAttr(name), FlatSymbolRefAttr(), FlatSymbolRefAttr(),
        BranchAttr(), FlatSymbolRefAttr(), FlatSymbolRefAttr());
}

LogicalResult PipelineOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.empty()) {
    return emitOpError("C1: empty pipeline");
  }
  for (Operation &op : block) {
    bool first = &op == &block.front(), last = &op == &block.back();
    bool source = isa<ScanOp, ValuesOp, ReadOp, ReceiveOp>(op);
    auto lookup = dyn_cast<LookupOp>(op);
    bool sink = isa<InsertOp, CombineOp, EmitOp>(op) || (lookup && lookup.isSink());
    if (source != first || sink != last) {
      return emitOpError("C1: one source first and one sink last are needed, got ") << op.getName();
    }
    if (!first &&
        (op.getNumOperands() != 1 || op.getOperand(0).getDefiningOp() != op.getPrevNode())) {
      return op.emitOpError("C1: uses other rows than those of the op before");
    }
  }
  if (FlatSymbolRefAttr state = getMergesAttr()) {
    auto read = dyn_cast<ReadOp>(block.front());
    auto combine = dyn_cast<CombineOp>(block.back());
    if (!read || !combine || read.getStateAttr() != state || combine.getStateAttr() != state ||
        getChoiceAttr() || getAfterAttr()) {
      return emitOpError("C2: copies of a state are merged by reading it and combining into it: ")
             << state;
    }
  }
  if (!getChoiceAttr() != !getBranchAttr()) {
    return emitOpError("C3: a choice and a way of it go together");
  }
  if (getRepeatAttr() && (getChoiceAttr() || getMergesAttr())) {
    return emitOpError("C4: what is in a choice, or merges, repeats nothing: ") << getRepeatAttr();
  }
  return success();
}

/// An estimate that is a share, a ratio or a length.
static LogicalResult verifyEstimate(Operation *op, FloatAttr estimate, StringRef what) {
  if (estimate && !(estimate.getValueAsDouble() >= 0)) {
    return op->emitOpError() << what << " is negative: " << estimate;
  }
  return success();
}

LogicalResult ValuesOp::verify() {
  return verifyColumnTypes(*this, getLogical(), getRows().getType()); // C1
}

LogicalResult ScanOp::verify() {
  RowsType rows = getRows().getType();
  auto columns = getColumns().getAsRange<ScanColumnAttr>();
  if (getColumns().size() != rows.size() ||
      !llvm::all_of(llvm::zip(columns, rows.getNames()), [](auto pair) {
        auto [column, name] = pair;
        return column.getColumn() == name;
      })) {
    return emitOpError("C1: columns must be those of the rows, got ") << getColumns();
  }
  if (getBounds()) {
    for (auto bound : getBounds()->getAsRange<BoundAttr>()) {
      if (llvm::none_of(columns, [&](ScanColumnAttr column) {
            return column.getFile() == bound.getColumn();
          })) {
        return emitOpError("C2: bounds a column that is not read: ") << bound;
      }
    }
  }
  if (static_cast<int64_t>(getHolds().value_or(0)) < 0) {
    return emitOpError("C3: a table holds no negative number of rows: ")
           << static_cast<int64_t>(*getHolds());
  }
  if (getResident()) {
    bool among = llvm::all_of(getResident()->getAsRange<StringAttr>(),
                              [&](StringAttr name) { return rows.indexOf(name.getValue()) >= 0; });
    if (!getSplit() || !among) {
      return emitOpError("C5: what is split is resident, by columns of the scan, got ")
             << *getResident();
    }
  }
  return getSplit() ? topo::verifyAxes(*this, *getSplit()) : success(); // C4
}

namespace {
/// Body arguments must be the values (and validities) of the listed columns.
LogicalResult verifyBody(Operation *op, RowsType rows, ArrayAttr columns, Region &body) {
  SmallVector<Type> expected;
  for (auto name : columns.getAsRange<StringAttr>()) {
    int64_t index = rows.indexOf(name.getValue());
    if (index < 0) {
      return op->emitOpError("unknown column: ") << name;
    }
    expected.push_back(rows.getTypes()[index]);
    if (rows.getNullable()[index]) {
      expected.push_back(IntegerType::get(op->getContext(), 1));
    }
  }
  if (body.getArgumentTypes() != TypeRange(expected)) {
    return op->emitOpError("body arguments must be the columns' values and validities");
  }
  if (!isa<YieldOp>(body.front().back())) {
    return op->emitOpError("the body must end with pipe.yield");
  }
  return success();
}
} // namespace

/// Columns of `to` that are not `computed` are those of `from`.
static LogicalResult verifyPassed(Operation *op, RowsType from, RowsType to, ArrayAttr computed) {
  for (auto [index, name] : llvm::enumerate(to.getNames())) {
    int64_t source = from.indexOf(name.getValue());
    bool passed = source >= 0 && from.getTypes()[source] == to.getTypes()[index] &&
                  from.getNullable()[source] == to.getNullable()[index];
    if (!passed && !(computed && llvm::is_contained(computed, Attribute(name)))) {
      return op->emitOpError("gives a column that it neither gets nor computes: ") << name;
    }
  }
  return success();
}

LogicalResult FilterOp::verify() {
  if (failed(verifyBody(*this, getInput().getType(), getColumns(), getBody()))) {
    return failure();
  }
  auto yield = cast<YieldOp>(getBody().front().back());
  if (yield.getNumOperands() != 1 || !yield.getOperand(0).getType().isInteger(1)) {
    return emitOpError("C1: the body must yield one i1");
  }
  if (failed(verifyPassed(*this, getInput().getType(), getRows().getType(), ArrayAttr()))) {
    return failure();
  }
  return success(succeeded(verifyEstimate(*this, getSelectivityAttr(), "C2: the selectivity")) &&
                 succeeded(verifyEstimate(*this, getTextBytesAttr(), "C2: the length of texts")));
}

LogicalResult LookupOp::verify() {
  bool marks = getKind() == LookupKind::Mark || getKind() == LookupKind::Full ||
               getKind() == LookupKind::Seen;
  if (marks != getMarkAttr().operator bool()) {
    return emitOpError("C2: exactly the kinds mark, full and seen mark something, got ")
           << stringifyLookupKind(getKind());
  }
  return verifyEstimate(*this, getSelectivityAttr(), "C1: the selectivity");
}

LogicalResult ExpandOp::verify() {
  RowsType input = getInput().getType(), rows = getRows().getType();
  int64_t by = input.indexOf(getBy()), number = rows.indexOf(getNumber());
  auto type = by < 0 ? IntegerType() : dyn_cast<IntegerType>(input.getTypes()[by]);
  if (!type || type.getWidth() > 64 || input.getNullable()[by]) {
    return emitOpError("C1: needs an integer that is not nullable to expand by, got ")
           << getByAttr();
  }
  if (number < 0 || !rows.getTypes()[number].isInteger(64) || rows.getNullable()[number]) {
    return emitOpError("C2: needs an i64 for the number, got ") << getNumberAttr();
  }
  auto names = ArrayAttr::get(getContext(), {getNumberAttr()});
  return success(succeeded(verifyPassed(*this, input, rows, names)) &&
                 succeeded(verifyEstimate(*this, getSelectivityAttr(), "C3: the selectivity")));
}

LogicalResult InsertOp::verify() {
  return verifyEstimate(*this, getTextBytesAttr(), "the length of texts");
}
LogicalResult CombineOp::verify() {
  return verifyEstimate(*this, getTextBytesAttr(), "the length of texts");
}
LogicalResult EmitOp::verify() {
  return verifyEstimate(*this, getTextBytesAttr(), "the length of texts");
}

LogicalResult MapOp::verify() {
  if (failed(verifyBody(*this, getInput().getType(), getColumns(), getBody()))) {
    return failure();
  }
  SmallVector<Type> expected;
  for (auto name : getNames().getAsRange<StringAttr>()) {
    int64_t index = getRows().getType().indexOf(name.getValue());
    if (index < 0) {
      return emitOpError("computed column missing in the result: ") << name;
    }
    expected.push_back(getRows().getType().getTypes()[index]);
    if (getRows().getType().getNullable()[index]) {
      expected.push_back(IntegerType::get(getContext(), 1));
    }
  }
  if (TypeRange(getBody().front().back().getOperandTypes()) != TypeRange(expected)) {
    return emitOpError("the body must yield the values and validities of the computed columns");
  }
  return verifyPassed(*this, getInput().getType(), getRows().getType(), getNames());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

LogicalResult OwnsOp::verify() {
  size_t values = getNullable().size() + llvm::count(getNullable(), true);
  if (values != getValues().size()) {
    return emitOpError("needs a value, and a validity where it is nullable, for each of ")
           << getNullable().size() << " keys, got " << getValues().size();
  }
  bool single = getNullable().size() == 1 && getValues()[0].getType().isSignlessInteger() &&
                getValues()[0].getType().getIntOrFloatBitWidth() <= 64;
  if (getCycle() && (!single || static_cast<int64_t>(*getCycle()) < 1)) {
    return emitOpError("C3: a cycle of one or more is of one integer, got ")
           << static_cast<int64_t>(*getCycle());
  }
  return topo::verifyAxes(*this, getAxes()); // C2
}

LogicalResult PlaceOp::verify() { return topo::verifyAxes(*this, getAxes()); } // C1

static LogicalResult verifyMath(Operation *op, StringRef name, MathFunction::Values values) {
  const MathFunction &function = *mathFunctionNamed(name);
  if (op->getNumOperands() != function.arguments || function.values != values) {
    return op->emitOpError("C1: needs the arguments of its function, got ")
           << op->getNumOperands() << " for " << name;
  }
  return success();
}

LogicalResult MathOp::verify() {
  return verifyMath(*this, getFunction(), MathFunction::Values::kDoubles);
}

LogicalResult IntegerMathOp::verify() {
  for (Type type : getOperands().getTypes()) {
    if (type != getResult().getType()) {
      return emitOpError("C2: needs operands of its result's type, got ") << type;
    }
  }
  return verifyMath(*this, getFunction(), MathFunction::Values::kIntegers);
}

LogicalResult TextOp::verify() {
  const TextFunction &function = *textFunctionNamed(getFunction());
  if (!function.takes(getOperands().size())) {
    return emitOpError("C1: ") << getFunction() << " takes another number of arguments than "
                               << getOperands().size();
  }
  for (auto [index, type] : llvm::enumerate(getOperands().getTypes())) {
    if (function.wantsInteger(index) ? !type.isInteger(64) : !isa<StringType>(type)) {
      return emitOpError("C1: ") << getFunction() << " has no argument of type: " << type;
    }
  }
  Type result = getResult().getType();
  bool fits = function.givesText()                                ? isa<StringType>(result)
              : function.result == TextFunction::Result::kBoolean ? result.isInteger(1)
                                                                  : result.isInteger(64);
  if (!fits) {
    return emitOpError("C2: has no result of type: ") << result;
  }
  if (bool(getNone()) == function.error.empty()) {
    return emitOpError("C2: ") << getFunction()
                               << (getNone() ? " always has a value"
                                             : " needs a result that says whether it has a value");
  }
  return success();
}

/// Of `pipe.print` and `pipe.parse`.
static LogicalResult verifyForm(Operation *op, TextForm form, Type value, int64_t scale) {
  bool fits = form == TextForm::Double  ? value.isF64()
              : form == TextForm::Float ? value.isF32()
                                        : value.isInteger(128);
  if (!fits) {
    return op->emitOpError("C1: ")
           << stringifyTextForm(form) << " is of another type than " << value;
  }
  bool isOfSecond =
      form == TextForm::Timestamp || form == TextForm::ZonedTimestamp || form == TextForm::Time;
  int64_t most = form == TextForm::Integer ? 38 : isOfSecond ? 9 : 0;
  if (scale < 0 || scale > most || (isOfSecond && scale % 3 != 0)) {
    return op->emitOpError("C2: the scale of an integer is 0 to 38, of a time or timestamp 0, 3, 6 "
                           "or 9, of others 0, got ")
           << scale;
  }
  return success();
}

LogicalResult PrintOp::verify() {
  return verifyForm(*this, getAs(), getValue().getType(), static_cast<int64_t>(getScale()));
}
LogicalResult ParseOp::verify() {
  return verifyForm(*this, getAs(), getValue().getType(), static_cast<int64_t>(getScale()));
}

LogicalResult LoopOp::verify() {
  Type string = StringType::get(getContext()), flag = IntegerType::get(getContext(), 1);
  SmallVector<Type> arguments{IntegerType::get(getContext(), 64)}, yielded, results;
  llvm::append_range(arguments, getInitial().getTypes());
  if (getBody().getArgumentTypes() != TypeRange(arguments)) {
    return emitOpError("C1: the body's arguments must be an i64 and the values");
  }
  if (getJoins()) {
    yielded.push_back(string);
  } else if (getCollects()) {
    const uint32_t bytes = elementBytes(static_cast<ElementCode>(*getCollects()));
    if (bytes == 0) {
      return emitOpError("C5: collects elements of a fixed number of bytes, got code ")
             << *getCollects();
    }
    yielded = {IntegerType::get(getContext(), 8 * bytes), flag, flag};
  }
  if (getJoins() && getCollects()) {
    return emitOpError("C5: it joins or collects, not both");
  }
  llvm::append_range(yielded, getInitial().getTypes());
  Operation &last = getBody().front().back();
  if (!isa<YieldOp>(last) || last.getOperandTypes() != TypeRange(yielded)) {
    return emitOpError("C2: the body must yield ") << (getJoins()      ? "a list and the values"
                                                       : getCollects() ? "an element and the values"
                                                                       : "the values");
  }
  if (givesList()) {
    results.push_back(string);
  }
  llvm::append_range(results, getInitial().getTypes());
  if (getResultTypes() != TypeRange(results)) {
    return emitOpError("C3: the results must have the types of what the body yields");
  }
  auto strings = llvm::count_if(getInitial().getTypes(), llvm::IsaPred<StringType>);
  if (strings > 1) {
    return emitOpError("C4: at most one of the values is a string, got ") << strings;
  }
  return success();
}
