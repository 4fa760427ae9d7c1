// Verifiers and registration of the sched dialect.
#include "dialects/sched/SchedDialect.h"

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::sched;

#include "dialects/sched/SchedDialect.cpp.inc"
#include "dialects/sched/SchedEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/sched/SchedTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sched/SchedAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/sched/SchedOps.cpp.inc"

void SchedDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/sched/SchedTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/sched/SchedAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sched/SchedOps.cpp.inc"
      >();
}

LogicalResult SchedDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return op->emitOpError("has an attribute that sched does not have: ") << attribute.getName();
}

LogicalResult WorkAttr::verify(function_ref<InFlightDiagnostic()> emitError, WorkKind,
                               int64_t level, FloatAttr amount, int64_t state) {
  if (level < 0 || state < -1) {
    return emitError() << "C1: work is on the rows of a level and looks into a state, got " << level
                       << " and " << state;
  }
  if (!amount || !amount.getValue().isFinite() || amount.getValue().isNegative()) {
    return emitError() << "C2: an amount of work is a number and not negative, got " << amount;
  }
  return success();
}

LogicalResult LiteralAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t offset,
                                  Attribute value) {
  if (offset < 0 || offset % 8 != 0) {
    return emitError() << "C1: a literal lies at a multiple of 8 bytes, got " << offset;
  }
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  auto real = dyn_cast_or_null<FloatAttr>(value);
  if (!isa_and_nonnull<StringAttr>(value) && !(real && real.getType().isF64()) &&
      !(integer && (integer.getType().isInteger(64) || integer.getType().isInteger(128)))) {
    return emitError() << "C2: a literal is an i64, i128, f64 or a string, got " << value;
  }
  return success();
}

LogicalResult StreamType::verify(function_ref<InFlightDiagnostic()> emitError, Type rows) {
  if (!isa<headrace::pipe::RowsType>(rows)) {
    return emitError() << "a stream is of rows, got " << rows;
  }
  return success();
}

Type BufferType::parse(AsmParser &parser) {
  StringRef keyword;
  Type shape;
  SmallVector<dist::DimSplitAttr> splits;
  int64_t rows = -1;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&keyword) || parser.parseComma() ||
      parser.parseType(shape)) {
    return {};
  }
  std::optional<Tier> tier = symbolizeTier(keyword);
  if (!tier) {
    parser.emitError(location, "expected a tier, got ") << keyword;
    return {};
  }
  auto parseSplit = [&]() -> ParseResult {
    splits.push_back(dyn_cast_or_null<dist::DimSplitAttr>(dist::DimSplitAttr::parse(parser, {})));
    return success(splits.back() != nullptr);
  };
  bool more = succeeded(parser.parseOptionalComma());
  if (more && failed(parser.parseOptionalKeyword("rows"))) {
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSplit)) {
      return {};
    }
    more = succeeded(parser.parseOptionalComma());
    if (more && parser.parseKeyword("rows")) {
      return {};
    }
  }
  if ((more && (parser.parseEqual() || parser.parseInteger(rows))) || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<BufferType>(location, parser.getContext(), *tier, shape, splits, rows);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<" << stringifyTier(getTier()) << ", " << getShape();
  if (!getSplits().empty()) {
    printer << ", [";
    llvm::interleaveComma(getSplits(), printer,
                          [&](dist::DimSplitAttr split) { split.print(printer); });
    printer << "]";
  }
  if (getRows() >= 0) {
    printer << ", rows = " << getRows();
  }
  printer << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, Tier, Type shape,
                                 ArrayRef<dist::DimSplitAttr> splits, int64_t rows) {
  auto tensor = dyn_cast<RankedTensorType>(shape);
  Type element = tensor ? tensor.getElementType() : Type();
  if (!tensor || !(element.isF32() || element.isF64() || element.isInteger(64))) {
    return emitError() << "C1: a buffer is of a ranked tensor of f32, f64 or i64, got " << shape;
  }
  llvm::SmallPtrSet<Attribute, 8> axes;
  bool fits = splits.empty() || static_cast<int64_t>(splits.size()) == tensor.getRank();
  for (dist::DimSplitAttr split : splits) {
    for (StringAttr axis : split.getAxes()) {
      fits &= axes.insert(axis).second;
    }
    fits &= split.getKind() == dist::SplitKind::Even || !split.getAxes().empty();
  }
  if (!fits || splits.empty() != axes.empty()) {
    return emitError() << "C2: the dimensions of " << shape << " are not divided so";
  }
  if (rows < -1 || (rows >= 0) == tensor.hasStaticShape()) {
    return emitError() << "C3: unknown extents, and no others, are the rows of a to_tensor, got "
                       << shape << " and " << rows;
  }
  return success();
}

LogicalResult ProgramOp::verify() {
  int results = 0;
  WalkResult walked = getBody().walk([&](Operation *op) -> WalkResult {
    results += isa<ResultOp>(op);
    for (Value value : op->getResults()) {
      if (isa<StreamType>(value.getType()) && !value.hasOneUse()) {
        return op->emitOpError("C1: a stream needs exactly one consumer, got ")
               << llvm::range_size(value.getUses());
      }
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted()) {
    return failure();
  }
  if (results > 1) {
    return emitOpError("C2: more than one result");
  }
  if (std::optional<int64_t> rows = getChunkRows(); rows && (*rows < 1 || *rows > INT32_MAX)) {
    return emitOpError("C3: a chunk has 1 to 2147483647 rows, got ") << *rows;
  }
  int32_t arguments = 0;
  llvm::SmallDenseSet<int32_t> numbers;
  for (auto input : getOps<InputOp>()) {
    numbers.insert(static_cast<int32_t>(input.getArgument()));
    ++arguments;
  }
  for (int32_t number = 0; number < arguments; ++number) {
    if (!numbers.contains(number)) {
      return emitOpError("C4: no input is argument ") << number << " of " << arguments;
    }
  }
  return success();
}

LogicalResult KernelOp::verify() {
  if (static_cast<int64_t>(getScratchBytes().value_or(0)) < 0 ||
      static_cast<int64_t>(getLiteralBytes().value_or(0)) < 0) {
    return emitOpError("C1: a block has no negative size");
  }
  size_t operators = getStageOperators().value_or(ArrayRef<int32_t>()).size();
  size_t stages = getSelectivity().value_or(ArrayRef<double>()).size();
  if (operators != stages) {
    return emitOpError("C2: needs an operator for each selecting stage, got ")
           << operators << " for " << stages;
  }
  return success();
}

LogicalResult UniteOp::verify() {
  for (Value input : getInputs()) {
    if (!input.getDefiningOp<RunOp>() && !input.getDefiningOp<RepeatOp>()) {
      return emitOpError("C1: unites only streams that runs write");
    }
  }
  return success();
}

LogicalResult RunOp::verify() {
  if (static_cast<bool>(getInput()) == getSource().has_value()) {
    return emitOpError("C1: the source is a stream or a state, and exactly one of them");
  }
  return success();
}

LogicalResult ChooseOp::verify() {
  for (Region *region : getRegions()) {
    auto yield =
        dyn_cast_or_null<YieldOp>(region->front().empty() ? nullptr : &region->front().back());
    if (!yield || yield.getRows().getTypes() != TypeRange(getOutput().getType())) {
      return emitOpError("C1: both groups yield a stream of type ") << getOutput().getType();
    }
  }
  auto run = getCounted().getDefiningOp<RunOp>();
  if (!run || run.getFills().empty()) {
    return emitOpError("C2: what is counted is a run that fills a state");
  }
  return success();
}

RunOp headrace::sched::writerOf(Value stream) {
  if (auto repeat = stream.getDefiningOp<RepeatOp>()) {
    unsigned output = cast<OpResult>(stream).getResultNumber() - 1; // behind the token
    stream = cast<YieldOp>(repeat.getBody().front().back()).getRows()[output];
  }
  return stream.getDefiningOp<RunOp>();
}

LogicalResult RepeatOp::verify() {
  Block &block = getBody().front();
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getRows().getTypes() != getOutputs().getTypes()) {
    return emitOpError("C1: its tasks end in a yield of streams of types ")
           << getOutputs().getTypes();
  }
  for (Operation &op : block) {
    if (!isa<RunOp, ReserveOp, ReleaseOp, YieldOp>(op)) {
      return op.emitOpError("C2: is no task that is repeated");
    }
  }
  if (static_cast<int64_t>(getRoom()) < 0) {
    return emitOpError("C3: the room is negative: ") << static_cast<int64_t>(getRoom());
  }
  return success();
}

LogicalResult ReserveOp::verify() {
  auto minimum = static_cast<int64_t>(getMinimum()), expected = static_cast<int64_t>(getExpected());
  if (minimum < 0 || expected < minimum) {
    return emitOpError("C1: needs 0 <= minimum <= expected, got ")
           << minimum << " and " << expected;
  }
  return success();
}

LogicalResult ExchangeOp::verify() {
  if (static_cast<int32_t>(getChannel()) < 0 || getInput().getType() != getOutput().getType()) {
    return emitOpError("C1: moves rows as they are, over a channel of its own, got ")
           << getOutput().getType() << " over " << static_cast<int32_t>(getChannel());
  }
  return topo::verifyAxes(*this, getAxes()); // C2
}

LogicalResult ToTensorOp::verify() {
  auto rows = cast<headrace::pipe::RowsType>(getRows().getType().getRows());
  if (getGroups().size() != getBuffers().size()) {
    return emitOpError("C1: needs one group of columns per result, got ") << getGroups().size();
  }
  for (Attribute group : getGroups()) {
    auto names = dyn_cast<ArrayAttr>(group);
    if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>)) {
      return emitOpError("C1: a group is an array of column names, got ") << group;
    }
    for (StringAttr name : names.getAsRange<StringAttr>()) {
      if (!llvm::is_contained(rows.getNames(), name.getValue())) {
        return emitOpError("C1: no such column in the stream: ") << name;
      }
    }
  }
  return pipe::verifyColumnTypes(*this, getLogical(), rows); // C2
}

LogicalResult CollectiveOp::verify() {
  bool reduces = getCollective() == CollectiveKind::AllReduce ||
                 getCollective() == CollectiveKind::ReduceScatter;
  if (reduces != getReduction().has_value()) {
    return emitOpError("C1: exactly what reduces has a reduction, got ")
           << stringifyCollectiveKind(getCollective());
  }
  if (getInput().getType().getShape() != getOutput().getType().getShape()) {
    return emitOpError("C2: input and output are parts of one shape, got ")
           << getOutput().getType();
  }
  auto axes = llvm::to_vector(getAxes().getAsRange<StringAttr>());
  int gathers = 0, scatters = 0, others = 0;
  BufferType from = getInput().getType(), to = getOutput().getType();
  for (int64_t d = 0; d < cast<RankedTensorType>(from.getShape()).getRank(); ++d) {
    ArrayRef<StringAttr> had = from.axesOf(d), has = to.axesOf(d);
    if (had != has) {
      bool gathered = had == ArrayRef(axes) && has.empty();
      bool scattered = has == ArrayRef(axes) && had.empty();
      ++(gathered ? gathers : scattered ? scatters : others);
    }
  }
  CollectiveKind kind = getCollective();
  int gather = kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll;
  int scatter = kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
  if (others > 0 || gathers != gather || scatters != scatter) {
    return emitOpError("C3: ") << stringifyCollectiveKind(kind) << " over " << getAxes()
                               << " does not lead from " << from << " to " << to;
  }
  return topo::verifyAxes(*this, getAxes()); // C4
}

LogicalResult InputOp::verify() {
  return getName().empty() ? emitOpError("has no name") : LogicalResult(success());
}

LogicalResult ReleaseOp::verify() {
  if (!getGranted().getDefiningOp<ReserveOp>()) {
    return emitOpError("gives back what was not reserved");
  }
  return success();
}

LogicalResult ResultOp::verify() {
  auto rows = cast<pipe::RowsType>(getRows().getType().getRows());
  if (static_cast<bool>(getNames()) != static_cast<bool>(getLogical()) ||
      (getNames() && getNames()->size() != rows.size())) {
    return emitOpError("C1: needs a name and a logical type for each of its columns: ") << rows;
  }
  if (getResident() && !pipe::areAmong(*getResident(), getNames())) {
    return emitOpError("C2: is resident by columns that it lacks: ") << *getResident();
  }
  return getLogical() ? pipe::verifyColumnTypes(*this, *getLogical(), rows) : success();
}

LogicalResult ValuesOp::verify() {
  return pipe::verifyColumnTypes(*this, getLogical(),
                                 cast<pipe::RowsType>(getRows().getType().getRows()));
}

LogicalResult TensorResultOp::verify() {
  if (!getResident() && !getBuffer().getType().getSplits().empty()) {
    return emitOpError("C1: the tensor is split, gather it first: ") << getBuffer().getType();
  }
  return success();
}
