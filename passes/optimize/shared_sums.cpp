// sum(x + c) = sum(x) + c * count(x), as long as no x + c overflows.
#include "passes/optimize/shared_sums.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::optimize {

namespace {

/// Bits of an integer; 0 of other types.
unsigned bitsOf(Type type) {
  auto integer = dyn_cast<IntegerType>(dropNullable(type));
  return integer && integer.getWidth() >= 8 && integer.getWidth() <= 64 ? integer.getWidth() : 0;
}

/// The value before casts that keep it.
Value withoutWidening(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    const unsigned from = bitsOf(cast.getOperand().getType()), to = bitsOf(value.getType());
    if (from == 0 || to < from) {
      break;
    }
    value = cast.getOperand();
  }
  return value;
}

std::optional<int64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto integer = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return integer && bitsOf(value.getType()) != 0 ? std::optional(integer.getInt()) : std::nullopt;
}

/// Whether any integer of so many bits plus the constant has `sumBits`.
bool fits(unsigned bits, int64_t plus, unsigned sumBits) {
  const auto least = static_cast<__int128>(llvm::minIntN(bits)) + plus;
  const auto greatest = static_cast<__int128>(llvm::maxIntN(bits)) + plus;
  return least >= llvm::minIntN(sumBits) && greatest <= llvm::maxIntN(sumBits);
}

/// An argument of the project's region plus a constant.
struct Shifted {
  BlockArgument argument;
  int64_t plus;
};

std::optional<Shifted> shiftedArgument(Value value) {
  value = withoutWidening(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return bitsOf(argument.getType()) != 0 ? std::optional(Shifted{argument, 0}) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (!isa<AddOp, SubtractOp>(op) || bitsOf(value.getType()) == 0) {
    return std::nullopt;
  }
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (isa<AddOp>(op) && constantOf(left)) {
    std::swap(left, right);
  }
  std::optional<int64_t> plus = constantOf(right);
  auto argument = dyn_cast<BlockArgument>(withoutWidening(left));
  if (!plus || !argument || *plus == std::numeric_limits<int64_t>::min()) {
    return std::nullopt;
  }
  const int64_t shift = isa<AddOp>(op) ? *plus : -*plus;
  const unsigned bits = bitsOf(argument.getType());
  return bits != 0 && fits(bits, shift, bitsOf(value.getType()))
             ? std::optional(Shifted{argument, shift})
             : std::nullopt;
}

std::optional<ShiftedColumn> shiftedColumn(ProjectOp project, StringAttr name) {
  auto computed = llvm::to_vector(project.getComputed().getAsRange<StringAttr>());
  auto *found = llvm::find(computed, name);
  if (found == computed.end()) {
    const bool isInteger = bitsOf(project.getResult().getType().getColumnType(name)) != 0;
    return isInteger ? std::optional(ShiftedColumn{name, 0}) : std::nullopt;
  }
  Block &body = project.getExpressions().front();
  std::optional<Shifted> shifted =
      shiftedArgument(body.getTerminator()->getOperand(found - computed.begin()));
  if (!shifted) {
    return std::nullopt;
  }
  auto column = cast<StringAttr>(project.getColumns()[shifted->argument.getArgNumber()]);
  if (llvm::is_contained(computed, column)) { // another column has its name
    return std::nullopt;
  }
  return ShiftedColumn{column, shifted->plus};
}

} // namespace

std::map<std::string, ShiftedColumn> findSharedSums(AggregateOp aggregate) {
  std::map<std::string, ShiftedColumn> sums;
  auto project = aggregate.getInput().getDefiningOp<ProjectOp>();
  if (!project) {
    return sums;
  }
  llvm::DenseMap<StringAttr, llvm::SmallSet<int64_t, 4>> constants;
  for (MeasureAttr measure : aggregate.getMeasureRange()) {
    Type type = aggregate.getResult().getType().getColumnType(measure.getName());
    if (measure.getFunction() != AggregateFunction::Sum || !dropNullable(type).isInteger(128)) {
      continue;
    }
    if (std::optional<ShiftedColumn> sum = shiftedColumn(project, measure.getInput())) {
      constants[sum->column].insert(sum->plus);
      sums.emplace(measure.getInput().str(), *sum);
    }
  }
  std::erase_if(sums, [&](const auto &sum) { return constants[sum.second.column].size() < 2; });
  return sums;
}

void passColumns(OpBuilder &builder, AggregateOp aggregate,
                 const std::map<std::string, ShiftedColumn> &sums) {
  auto project = aggregate.getInput().getDefiningOp<ProjectOp>();
  SmallVector<Attribute> kept(project.getKept().getValue());
  SmallVector<Column> columns(project.getResult().getType().getColumns());
  for (const auto &[name, sum] : sums) {
    if (!llvm::is_contained(kept, sum.column)) {
      kept.push_back(sum.column);
      columns.push_back({sum.column, project.getInput().getType().getColumnType(sum.column)});
    }
  }
  if (kept.size() == project.getKept().size()) {
    return;
  }
  builder.setInsertionPoint(aggregate);
  auto wider = cast<ProjectOp>(builder.clone(*project));
  wider.setKeptAttr(builder.getArrayAttr(kept));
  wider.getResult().setType(TableType::get(builder.getContext(), columns));
  aggregate.getInputMutable().assign(wider.getResult());
  if (project.use_empty()) {
    project.erase();
  }
}

Value createShiftedSum(OpBuilder &builder, Location location, Value sum, Value count,
                       int64_t times) {
  Type wide = dropNullable(sum.getType());
  Value factor = ConstantOp::create(
      builder, location, wide,
      IntegerAttr::get(wide, APInt(128, static_cast<uint64_t>(times), /*isSigned=*/true)));
  Value all = MultiplyOp::create(builder, location, wide,
                                 CastOp::create(builder, location, wide, count), factor);
  return AddOp::create(builder, location, sum.getType(), sum, all);
}

} // namespace headrace::optimize
