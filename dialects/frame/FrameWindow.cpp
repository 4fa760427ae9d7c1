// Window functions: text form and checks of their attributes, verifier of `frame.window`.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/frame/FrameVerify.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace headrace::frame;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// A column's name, or a number of rows.
static bool isCount(Attribute value) {
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return isa_and_nonnull<StringAttr>(value) || (number && number.getType().isInteger(64));
}

LogicalResult WindowFrameAttr::verify(function_ref<InFlightDiagnostic()> emitError, FrameUnit unit,
                                      FrameBoundKind start, Attribute startDistance,
                                      FrameBoundKind end, Attribute endDistance, FrameExclusion) {
  using Kind = FrameBoundKind;
  for (auto [kind, distance] : {std::pair(start, startDistance), std::pair(end, endDistance)}) {
    bool wants = kind == Kind::Preceding || kind == Kind::Following;
    auto number = dyn_cast_or_null<IntegerAttr>(distance);
    if (wants != static_cast<bool>(distance) || (wants && !isCount(distance)) ||
        (number && number.getInt() < 0)) { // C1
      return emitError() << "exactly preceding and following need a distance, a column or an i64 "
                            "that is not negative, got "
                         << stringifyFrameBoundKind(kind) << " " << distance;
    }
    if (unit == FrameUnit::Range && number) { // C3
      return emitError() << "a distance of range must be a column, got " << number;
    }
  }
  if (start == Kind::UnboundedFollowing || end == Kind::UnboundedPreceding) { // C2
    return emitError() << "a frame cannot go from " << stringifyFrameBoundKind(start) << " to "
                       << stringifyFrameBoundKind(end);
  }
  return success();
}

static bool isOfQuantiles(WindowFunctionKind kind) {
  return kind == WindowFunctionKind::Quantiles || kind == WindowFunctionKind::QuantilesDistinct;
}

/// Whether what is behind the list says of what quantiles are.
static bool areQuantiles(ArrayRef<Attribute> numbers) {
  const bool areNumbers = numbers.size() % 2 == 1 && llvm::all_of(numbers, [](Attribute number) {
                            return isa<IntegerAttr>(number);
                          });
  auto numberAt = [&](size_t index) { return cast<IntegerAttr>(numbers[index]).getInt(); };
  const int64_t last = static_cast<int64_t>(headrace::QuantileKind::kFront);
  bool fit = areNumbers && numberAt(0) >= 0 && numberAt(0) <= last;
  for (size_t index = 1; fit && index < numbers.size(); index += 2) {
    fit = headrace::QuantileShare{numberAt(index), numberAt(index + 1)}.isInside();
  }
  return fit;
}

/// How many arguments a function takes, at least and at most.
static std::pair<size_t, size_t> arity(WindowFunctionKind kind,
                                       std::optional<AggregateFunction> aggregate) {
  switch (kind) {
  case WindowFunctionKind::RowNumber:
  case WindowFunctionKind::Rank:
  case WindowFunctionKind::DenseRank:
  case WindowFunctionKind::PercentRank:
  case WindowFunctionKind::CumeDist:
    return {0, 0};
  case WindowFunctionKind::Ntile:
  case WindowFunctionKind::FirstValue:
  case WindowFunctionKind::LastValue:
  case WindowFunctionKind::Mode:
    return {1, 1};
  case WindowFunctionKind::Collect:
  case WindowFunctionKind::CollectDistinct:
    return {1, 2};
  case WindowFunctionKind::Quantiles:
  case WindowFunctionKind::QuantilesDistinct:
    return {4, SIZE_MAX};
  case WindowFunctionKind::NthValue:
    return {2, 2};
  case WindowFunctionKind::Lag:
  case WindowFunctionKind::Lead:
    return {2, 3};
  case WindowFunctionKind::Aggregate:
    return aggregate == AggregateFunction::CountStar ? std::pair<size_t, size_t>(0, 0)
                                                     : std::pair<size_t, size_t>(1, 1);
  }
  llvm_unreachable("unknown window function");
}

/// Whether the function takes a value of a row, which NULL can be.
static bool takesValue(WindowFunctionKind kind) {
  using Kind = WindowFunctionKind;
  return kind == Kind::Lag || kind == Kind::Lead || kind == Kind::FirstValue ||
         kind == Kind::LastValue || kind == Kind::NthValue;
}

static bool needsFrame(WindowFunctionKind kind, ArrayAttr arguments) {
  using Kind = WindowFunctionKind;
  return kind == Kind::FirstValue || kind == Kind::LastValue || kind == Kind::NthValue ||
         kind == Kind::Aggregate || kind == Kind::Mode || kind == Kind::CollectDistinct ||
         isOfQuantiles(kind) || (kind == Kind::Collect && arguments && arguments.size() > 1);
}

/// Whether an order of its own fits a function.
static bool fitsOrder(WindowFunctionKind kind, WindowFrameAttr frame, ArrayAttr order) {
  using Kind = WindowFunctionKind;
  if (!order) {
    return kind != Kind::CollectDistinct && !isOfQuantiles(kind);
  }
  return frame && kind != Kind::Aggregate && kind != Kind::Mode && !order.empty() &&
         llvm::all_of(order, [](Attribute key) { return isa<SortKeyAttr>(key); });
}

LogicalResult WindowFunctionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                         WindowFunctionKind kind,
                                         std::optional<AggregateFunction> aggregate,
                                         ArrayAttr arguments, StringAttr name,
                                         WindowFrameAttr frame, ArrayAttr order, bool ignoreNulls) {
  StringRef text = stringifyWindowFunctionKind(kind);
  if ((kind == WindowFunctionKind::Aggregate) != aggregate.has_value()) { // C1
    // no test: the syntax has the one with the other
    return emitError() << "exactly aggregate needs an aggregate function, got " << text;
  }
  if (frame ? kind == WindowFunctionKind::DenseRank : needsFrame(kind, arguments)) { // C2
    return emitError() << (frame ? "has no frame: " : "needs a frame: ") << text;
  }
  auto [least, most] = arity(kind, aggregate);
  size_t count = arguments ? arguments.size() : 0;
  const bool fit = count >= least && count <= most &&
                   (!arguments || llvm::all_of(arguments, isCount)) &&
                   (!isOfQuantiles(kind) || areQuantiles(arguments.getValue().drop_front()));
  if (!fit) { // C3
    return emitError() << "wrong arguments of " << text << ": " << arguments;
  }
  const bool isMovedInFrame = frame && !needsFrame(kind, arguments);
  if (ignoreNulls && (!takesValue(kind) || (isMovedInFrame && !order))) { // C4
    return emitError() << "has no NULLs to ignore: " << text;
  }
  if (!fitsOrder(kind, frame, order)) { // C5
    return emitError() << "has no such order: " << text << " " << order;
  }
  if (!name || name.empty()) {
    return emitError() << "a window function needs a result name";
  }
  return success();
}

Attribute WindowFunctionAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseLess() || parser.parseKeyword(&word)) {
    return {};
  }
  std::optional<WindowFunctionKind> kind = symbolizeWindowFunctionKind(word);
  if (!kind) {
    parser.emitError(location, "unknown window function: ") << word;
    return {};
  }
  std::optional<AggregateFunction> aggregate;
  if (*kind == WindowFunctionKind::Aggregate) {
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word)) {
      return {};
    }
    aggregate = symbolizeAggregateFunction(word);
    if (!aggregate) {
      parser.emitError(at, "unknown aggregate function: ") << word;
      return {};
    }
  }
  SmallVector<Attribute> arguments;
  auto parseArgument = [&] { return parser.parseAttribute(arguments.emplace_back()); };
  StringAttr name;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen, parseArgument) ||
      parser.parseArrow() || parser.parseAttribute(name)) {
    return {};
  }
  WindowFrameAttr frame;
  if (succeeded(parser.parseOptionalKeyword("over"))) {
    frame = dyn_cast_or_null<WindowFrameAttr>(WindowFrameAttr::parse(parser, Type()));
    if (!frame) {
      return {};
    }
  }
  ArrayAttr order;
  if (succeeded(parser.parseOptionalKeyword("ordered")) && parser.parseAttribute(order)) {
    return {};
  }
  bool ignoreNulls = succeeded(parser.parseOptionalKeyword("ignore_nulls"));
  if (parser.parseGreater()) {
    return {};
  }
  MLIRContext *context = parser.getContext();
  auto list = arguments.empty() ? ArrayAttr() : ArrayAttr::get(context, arguments);
  return parser.getChecked<WindowFunctionAttr>(location, context, *kind, aggregate, list, name,
                                               frame, order, ignoreNulls);
}

void WindowFunctionAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyWindowFunctionKind(getKind());
  if (getAggregate()) {
    printer << " " << stringifyAggregateFunction(*getAggregate());
  }
  if (!getArgumentRange().empty()) {
    printer << "(";
    llvm::interleaveComma(getArgumentRange(), printer);
    printer << ")";
  }
  printer << " -> " << getName();
  if (getFrame()) {
    printer << " over ";
    getFrame().print(printer);
  }
  if (getOrder()) {
    printer << " ordered " << getOrder();
  }
  printer << (getIgnoreNulls() ? " ignore_nulls>" : ">");
}

ArrayRef<Attribute> WindowFunctionAttr::getArgumentRange() const {
  return getArguments() ? getArguments().getValue() : ArrayRef<Attribute>();
}

StringAttr WindowFunctionAttr::getColumn(unsigned argument) const {
  ArrayRef<Attribute> arguments = getArgumentRange();
  return argument < arguments.size() ? dyn_cast<StringAttr>(arguments[argument]) : StringAttr();
}

SmallVector<StringAttr> WindowFunctionAttr::getColumns() const {
  SmallVector<Attribute> values(getArgumentRange());
  if (WindowFrameAttr frame = getFrame()) {
    values.append({frame.getStartDistance(), frame.getEndDistance()});
  }
  SmallVector<StringAttr> columns;
  for (Attribute value : values) {
    if (auto column = dyn_cast_or_null<StringAttr>(value)) {
      columns.push_back(column);
    }
  }
  if (ArrayAttr order = getOrder()) {
    for (auto key : order.getAsRange<SortKeyAttr>()) {
      columns.push_back(key.getColumn());
    }
  }
  return columns;
}

headrace::QuantileKind WindowFunctionAttr::getQuantileKind() const {
  return static_cast<QuantileKind>(cast<IntegerAttr>(getArgumentRange()[1]).getInt());
}

SmallVector<headrace::QuantileShare> WindowFunctionAttr::getShares() const {
  ArrayRef<Attribute> numbers = getArgumentRange().drop_front(2);
  SmallVector<QuantileShare> shares;
  for (size_t index = 0; index < numbers.size(); index += 2) {
    shares.push_back({cast<IntegerAttr>(numbers[index]).getInt(),
                      cast<IntegerAttr>(numbers[index + 1]).getInt()});
  }
  return shares;
}

WindowFunctionAttr
WindowFunctionAttr::renamed(llvm::function_ref<StringAttr(StringAttr)> newName) const {
  auto rename = [&](Attribute value) -> Attribute {
    auto column = dyn_cast_or_null<StringAttr>(value);
    return column ? newName(column) : value;
  };
  WindowFrameAttr frame = getFrame();
  if (frame) {
    frame = WindowFrameAttr::get(getContext(), frame.getUnit(), frame.getStart(),
                                 rename(frame.getStartDistance()), frame.getEnd(),
                                 rename(frame.getEndDistance()), frame.getExclude());
  }
  ArrayAttr arguments = getArguments();
  if (arguments) {
    arguments = ArrayAttr::get(getContext(), llvm::map_to_vector(arguments, rename));
  }
  return get(getContext(), getKind(), getAggregate(), arguments, newName(getName()), frame,
             getOrder() ? renamedSortKeys(getOrder(), newName) : ArrayAttr(), getIgnoreNulls());
}

//===----------------------------------------------------------------------===//
// WindowOp
//===----------------------------------------------------------------------===//

/// The list of what lies at shares of a list's elements, as QuantileKind has it.
static Type listOfQuantiles(headrace::QuantileKind kind, Type list) {
  auto given = dyn_cast_or_null<ListType>(list ? dropNullable(list) : Type());
  if (!given) {
    return {};
  }
  const bool isOfReals = kind == headrace::QuantileKind::kBetween &&
                         !isa<FloatType, DecimalType>(given.getElementType());
  return addNullable(isOfReals ? ListType::get(Float64Type::get(list.getContext())) : given);
}

Type WindowOp::resultType(WindowFunctionAttr function, TableType input) {
  MLIRContext *context = function.getContext();
  Type i64 = IntegerType::get(context, 64);
  StringAttr first = function.getColumn(0);
  Type argument = first ? input.getColumnType(first) : Type();
  switch (function.getKind()) {
  case WindowFunctionKind::RowNumber:
  case WindowFunctionKind::Rank:
  case WindowFunctionKind::DenseRank:
    return i64;
  case WindowFunctionKind::Ntile:
    return function.getFrame() || (argument && isNullable(argument)) ? addNullable(i64) : i64;
  case WindowFunctionKind::PercentRank:
  case WindowFunctionKind::CumeDist:
    return Float64Type::get(context);
  case WindowFunctionKind::Lag:
  case WindowFunctionKind::Lead:
  case WindowFunctionKind::FirstValue:
  case WindowFunctionKind::LastValue:
  case WindowFunctionKind::NthValue:
  case WindowFunctionKind::Collect:
  case WindowFunctionKind::CollectDistinct:
  case WindowFunctionKind::Mode:
    return argument ? addNullable(argument) : Type();
  case WindowFunctionKind::Quantiles:
  case WindowFunctionKind::QuantilesDistinct:
    return listOfQuantiles(function.getQuantileKind(), argument);
  case WindowFunctionKind::Aggregate:
    return measureType(*function.getAggregate(), argument, Grouping::kGlobal, context);
  }
  llvm_unreachable("unknown window function");
}

static LogicalResult verifyFrame(WindowOp op, WindowFrameAttr frame) {
  TableType input = op.getInput().getType();
  for (Attribute distance : {frame.getStartDistance(), frame.getEndDistance()}) {
    auto column = dyn_cast_or_null<StringAttr>(distance);
    if (!column) {
      continue;
    }
    Type type = input.getColumnType(column);
    if (!type) { // C2
      return op.emitOpError("distance is not a column of the input: ") << column;
    }
    if (frame.getUnit() != FrameUnit::Range) {
      if (!dropNullable(type).isInteger(64)) { // C2
        return op.emitOpError("distance must be an i64, got ") << column << ": " << type;
      }
      continue;
    }
    auto keys = llvm::to_vector(op.getOrder().getAsRange<SortKeyAttr>());
    if (keys.size() != 1 ||
        dropNullable(input.getColumnType(keys.front().getColumn())) != dropNullable(type)) { // C3
      return op.emitOpError("distance of range needs one order key, of its type, got ")
             << column << ": " << type << " for " << op.getOrder();
    }
    if (isHeldAsText(dropNullable(type))) { // C3
      return op.emitOpError("distance of range needs an order key that is computed with, got ")
             << column << ": " << type;
    }
  }
  return success();
}

static LogicalResult verifyFunction(WindowOp op, WindowFunctionAttr function, Column column) {
  TableType input = op.getInput().getType();
  bool valued = takesValue(function.getKind());
  bool folds = function.getKind() == WindowFunctionKind::Aggregate;
  const bool isQuantiles = isOfQuantiles(function.getKind());
  bool collects = function.getKind() == WindowFunctionKind::Collect ||
                  function.getKind() == WindowFunctionKind::CollectDistinct || isQuantiles;
  bool modes = function.getKind() == WindowFunctionKind::Mode;
  for (auto [index, argument] : llvm::enumerate(function.getArgumentRange())) {
    auto name = dyn_cast<StringAttr>(argument);
    Type type = name ? input.getColumnType(name) : Type();
    if (name && !type) { // C2
      return op.emitOpError("argument is not a column of the input: ") << name;
    }
    bool value =
        folds || modes || ((valued || collects) && index != 1 && (!isQuantiles || index == 0));
    if (value && !name) { // C2
      return op.emitOpError("argument must be a column, got ") << argument;
    }
    if (!value && name && !dropNullable(type).isInteger(64)) { // C2
      return op.emitOpError("argument must be an i64, got ") << name << ": " << type;
    }
    if (index == 2 && !isQuantiles && dropNullable(type) != dropNullable(column.type)) { // C5
      return op.emitOpError("default must have the type of the result ")
             << column.type << ", got " << name << ": " << type;
    }
  }
  StringAttr list = function.getColumn(0);
  if (collects && (!list || !isList(input.getColumnType(list)))) { // C2
    return op.emitOpError("argument must be a list, got ") << function;
  }
  Type expected = WindowOp::resultType(function, input);
  if (!expected) { // C5
    return op.emitOpError("function needs a numeric argument, got ") << function;
  }
  if (column.name != function.getName()) { // C4
    return op.emitOpError("result column must be named like its function ")
           << function.getName() << ", got " << column.name;
  }
  StringAttr first = function.getColumn(0);
  bool fits =
      folds ? isMeasureType(*function.getAggregate(), first ? input.getColumnType(first) : Type(),
                            expected, column.type)
            : column.type == expected;
  if (!fits) { // C5
    return op.emitOpError("result column ")
           << column.name << " must be " << expected << ", got " << column.type;
  }
  if (function.getOrder() && failed(verifySortKeys(op, input, function.getOrder()))) { // C8
    return failure();
  }
  return function.getFrame() ? verifyFrame(op, function.getFrame()) : success();
}

bool WindowOp::canLeaveOutLast() {
  return llvm::all_of(getFunctionRange(), [](WindowFunctionAttr function) {
    return !function.getFrame() && (function.getKind() == WindowFunctionKind::RowNumber ||
                                    function.getKind() == WindowFunctionKind::Rank);
  });
}

LogicalResult WindowOp::verify() {
  TableType input = getInput().getType();
  if (getFunctions().empty()) { // C6
    return emitOpError("needs at least one function");
  }
  if (getFirst() && (static_cast<int64_t>(*getFirst()) < 1 || !canLeaveOutLast())) { // C7
    return emitOpError("only row_number and rank can have the first rows only, at least 1, got ")
           << *getFirst() << " of " << getFunctions();
  }
  if (failed(verifyUnique(*this, getPartition(), "partition key"))) { // C1
    return failure();
  }
  for (StringAttr key : getPartition().getAsRange<StringAttr>()) {
    if (!input.hasColumn(key)) { // C1
      return emitOpError("partition key is not a column of the input: ") << key;
    }
  }
  if (!getOrder().empty() && failed(verifySortKeys(*this, input, getOrder()))) { // C1
    return failure();
  }
  SmallVector<Column> columns = getResult().getType().getColumns();
  size_t kept = input.getNumColumns();
  auto same = [](const Column &a, const Column &b) { return a.name == b.name && a.type == b.type; };
  if (columns.size() != kept + getFunctions().size() ||
      !llvm::equal(ArrayRef(columns).take_front(kept), input.getColumns(), same)) { // C4
    return emitOpError("result must have the input's columns and one per function, got ")
           << getResult().getType();
  }
  for (auto [function, column] :
       llvm::zip_equal(getFunctionRange(), ArrayRef(columns).drop_front(kept))) {
    if (failed(verifyFunction(*this, function, column))) {
      return failure();
    }
  }
  return success();
}
