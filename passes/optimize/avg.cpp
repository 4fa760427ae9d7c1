// optimize-avg: avg as sum and count, sums of a column plus constants as its sum and count,
// distinct measures as two aggregates (several: joined), equal measures once.
#include "passes/optimize/avg.h"

#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/FreshNames.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/null_safe.h"
#include "passes/optimize/shared_sums.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEAVG
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Collects the measures of a new aggregate; equal ones become one column.
class Measures {
public:
  Measures(AggregateOp op, OpBuilder &builder)
      : op_(op), builder_(builder), names_(builder.getContext()) {
    grouping_ = op.getKeys().empty() ? Grouping::kGlobal : Grouping::kByKeys;
    names_.take(op.getResult().getType().getNames());
    names_.take(op.getInput().getType().getNames());
  }

  /// The column of a measure that is wanted under `name`, of its SQL type or `type`.
  StringAttr add(AggregateFunction function, StringAttr input, StringAttr name, Type type = {}) {
    Type inputType = input ? op_.getInput().getType().getColumnType(input) : Type();
    if (function == AggregateFunction::Count && !isNullable(inputType)) {
      function = AggregateFunction::CountStar; // no value is missing
      input = {};
    }
    if (!type) {
      type = measureType(function, inputType, grouping_, builder_.getContext());
    }
    for (auto [measure, column] : llvm::zip_equal(measures_, columns_)) {
      if (measure.getFunction() == function && measure.getInput() == input && column.type == type) {
        return column.name;
      }
    }
    measures_.push_back(MeasureAttr::get(builder_.getContext(), function, input, name));
    columns_.push_back({name, type});
    return name;
  }

  /// A name that neither the aggregate's input nor its result has.
  StringAttr fresh(const Twine &stem) { return names_.make(stem); }

  AggregateOp create() {
    SmallVector<Column> columns = llvm::to_vector(
        ArrayRef(op_.getResult().getType().getColumns()).take_front(op_.getKeys().size()));
    llvm::append_range(columns, columns_);
    return AggregateOp::create(
        builder_, op_.getLoc(), TableType::get(builder_.getContext(), columns), op_.getInput(),
        op_.getKeys(), builder_.getArrayAttr(llvm::to_vector_of<Attribute>(measures_)));
  }

private:
  AggregateOp op_;
  OpBuilder &builder_;
  Grouping grouping_;
  FreshNames names_;
  SmallVector<MeasureAttr> measures_;
  SmallVector<Column> columns_;
};

/// What stands for one result column of the old aggregate: a column, sum over count, or a sum plus
/// so many times a count.
struct Replacement {
  StringAttr name;
  Type type;
  StringAttr value; // the column, or the sum
  StringAttr count; // null: the column
  std::optional<int64_t> times;
};

bool isMean(MeasureAttr measure) {
  return ruleOf(measure.getFunction()).result == AggregateResult::kMean;
}

/// The project that turns the new aggregate's columns into those of the old one.
ProjectOp finish(OpBuilder &builder, AggregateOp old, AggregateOp aggregate,
                 ArrayRef<Replacement> replacements) {
  SmallVector<StringAttr> computed;
  llvm::DenseMap<StringAttr, const Replacement *> byName;
  for (const Replacement &replacement : replacements) {
    bool same = !replacement.count && replacement.value == replacement.name &&
                aggregate.getResult().getType().getColumnType(replacement.name) == replacement.type;
    if (!same) {
      computed.push_back(replacement.name);
      byName[replacement.name] = &replacement;
    }
  }
  auto compute = [&](RegionBuilder &inside, StringAttr name) -> Value {
    const Replacement &replacement = *byName.lookup(name);
    Value value = inside.column(replacement.value);
    if (replacement.count) {
      Value count = inside.column(replacement.count);
      if (replacement.times) {
        return createShiftedSum(inside.builder(), old.getLoc(), value, count, *replacement.times);
      }
      return createQuotient(inside.builder(), old.getLoc(), value, count, replacement.type);
    }
    return value.getType() == replacement.type
               ? value
               : createCountOfParts(inside.builder(), old.getLoc(), value, replacement.type);
  };
  return createProject(builder, old.getLoc(), aggregate, old.getResult().getType(), computed,
                       compute);
}

void decomposeMeasures(OpBuilder &builder, AggregateOp op,
                       const std::map<std::string, ShiftedColumn> &shared) {
  if (!shared.empty()) {
    passColumns(builder, op, shared);
  }
  auto sharedSum = [&](MeasureAttr measure) {
    const bool isSum = measure.getFunction() == AggregateFunction::Sum;
    auto found = isSum ? shared.find(measure.getInput().str()) : shared.end();
    return found == shared.end() ? nullptr : &found->second;
  };
  builder.setInsertionPoint(op);
  Measures measures(op, builder);
  SmallVector<Replacement> replacements;
  ArrayRef<Type> types = op.getResult().getType().getColumnTypes().drop_front(op.getKeys().size());
  // Plain measures first, so that others share them under the names that the query gave.
  for (auto [measure, type] : llvm::zip_equal(op.getMeasureRange(), types)) {
    Replacement &replacement =
        replacements.emplace_back(Replacement{measure.getName(), type, {}, {}, {}});
    const ShiftedColumn *sum = sharedSum(measure);
    if (!isMean(measure) && (!sum || sum->plus == 0)) {
      StringAttr input = sum ? sum->column : measure.getInput();
      replacement.value = measures.add(measure.getFunction(), input, measure.getName(), type);
    }
  }
  for (auto [measure, replacement] : llvm::zip_equal(op.getMeasureRange(), replacements)) {
    if (replacement.value) {
      continue;
    }
    if (const ShiftedColumn *sum = sharedSum(measure)) {
      StringRef column = sum->column.getValue();
      replacement.value = measures.add(AggregateFunction::Sum, sum->column,
                                       measures.fresh("sum_" + column), replacement.type);
      replacement.count =
          measures.add(AggregateFunction::Count, sum->column, measures.fresh("count_" + column));
      replacement.times = sum->plus;
      continue;
    }
    StringAttr input = measure.getInput();
    MeanParts parts = partsOfMean(measure.getFunction());
    replacement.value =
        measures.add(parts.sum, input, measures.fresh("sum_" + input.getValue()),
                     sumTypeOf(op.getInput().getType().getColumnType(input), replacement.type));
    replacement.count =
        measures.add(parts.count, input, measures.fresh("count_" + input.getValue()));
  }
  AggregateOp aggregate = measures.create();
  Value result = finish(builder, op, aggregate, replacements).getResult();
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

bool isDistinct(MeasureAttr measure) { return ruleOf(measure.getFunction()).isDistinct(); }

/// Two aggregates: by keys and the distinct column, then by keys. All distinct measures of `op` are
/// of one column.
void splitDistinct(OpBuilder &builder, AggregateOp op) {
  StringAttr distinct;
  for (MeasureAttr measure : op.getMeasureRange()) {
    if (isDistinct(measure)) {
      distinct = measure.getInput();
    }
  }
  builder.setInsertionPoint(op);
  TableType input = op.getInput().getType();
  SmallVector<Attribute> innerKeys(op.getKeys().getValue());
  if (!llvm::is_contained(innerKeys, Attribute(distinct))) {
    innerKeys.push_back(distinct);
  }
  SmallVector<Column> innerColumns;
  for (Attribute key : innerKeys) {
    innerColumns.push_back({cast<StringAttr>(key), input.getColumnType(cast<StringAttr>(key))});
  }
  SmallVector<Column> outerColumns = llvm::to_vector(
      ArrayRef(op.getResult().getType().getColumns()).take_front(op.getKeys().size()));
  SmallVector<Attribute> innerMeasures;
  SmallVector<Attribute> outerMeasures;
  SmallVector<Replacement> replacements;
  MLIRContext *context = builder.getContext();
  Grouping grouping = op.getKeys().empty() ? Grouping::kGlobal : Grouping::kByKeys;
  ArrayRef<Type> types = op.getResult().getType().getColumnTypes().drop_front(op.getKeys().size());
  for (auto [measure, type] : llvm::zip_equal(op.getMeasureRange(), types)) {
    StringAttr name = measure.getName();
    replacements.push_back({name, type, name, {}, {}});
    if (isDistinct(measure)) {
      outerMeasures.push_back(
          MeasureAttr::get(context, ruleOf(measure.getFunction()).ofAll, distinct, name));
      outerColumns.push_back({name, type});
      continue;
    }
    StringAttr inputName = measure.getInput();
    bool exactSum = measure.getFunction() == AggregateFunction::Sum && !isFloat(type);
    Type inputType = inputName ? input.getColumnType(inputName) : Type();
    Type partial = measureType(measure.getFunction(), inputType, Grouping::kByKeys, context);
    if (exactSum) {
      partial = withNullability(type, nullabilityOf(partial));
    }
    auto partialName = builder.getStringAttr("partial_" + name.getValue());
    innerMeasures.push_back(
        MeasureAttr::get(context, measure.getFunction(), inputName, partialName));
    innerColumns.push_back({partialName, partial});
    AggregateFunction combine = *ruleOf(measure.getFunction()).combine;
    outerMeasures.push_back(MeasureAttr::get(context, combine, partialName, name));
    outerColumns.push_back(
        {name, exactSum ? type : measureType(combine, partial, grouping, context)});
  }
  auto inner = AggregateOp::create(builder, op.getLoc(), TableType::get(context, innerColumns),
                                   op.getInput(), builder.getArrayAttr(innerKeys),
                                   builder.getArrayAttr(innerMeasures));
  auto outer = AggregateOp::create(builder, op.getLoc(), TableType::get(context, outerColumns),
                                   inner, op.getKeys(), builder.getArrayAttr(outerMeasures));
  Value result = finish(builder, op, outer, replacements).getResult();
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

/// The columns that distinct measures are of.
SmallVector<StringAttr> distinctColumns(AggregateOp op) {
  llvm::SetVector<StringAttr> columns;
  for (MeasureAttr measure : op.getMeasureRange()) {
    if (isDistinct(measure)) {
      columns.insert(measure.getInput());
    }
  }
  return columns.takeVector();
}

/// An aggregate per distinct column (the plain measures go with the first), joined on the keys.
void separateDistinct(OpBuilder &builder, AggregateOp op, ArrayRef<StringAttr> distinct) {
  builder.setInsertionPoint(op);
  MLIRContext *context = builder.getContext();
  Location location = op.getLoc();
  auto keys = llvm::to_vector(op.getKeys().getAsRange<StringAttr>());
  SmallVector<Column> all(op.getType().getColumns());
  Value joined;
  for (auto [index, column] : llvm::enumerate(distinct)) {
    SmallVector<Attribute> measures;
    SmallVector<Column> columns(all.begin(), all.begin() + static_cast<ptrdiff_t>(keys.size()));
    for (auto [measure, result] :
         llvm::zip_equal(op.getMeasureRange(), ArrayRef(all).drop_front(keys.size()))) {
      if (isDistinct(measure) ? measure.getInput() == column : index == 0) {
        measures.push_back(measure);
        columns.push_back(result);
      }
    }
    Value part = AggregateOp::create(builder, location, TableType::get(context, columns),
                                     op.getInput(), op.getKeys(), builder.getArrayAttr(measures));
    if (index == 0) {
      joined = part;
      continue;
    }
    // The keys are in both: the other part's get their own names.
    std::string suffix = "." + std::to_string(index);
    SmallVector<StringAttr> renamed;
    for (auto [position, key] : llvm::enumerate(keys)) {
      renamed.push_back(builder.getStringAttr(key.getValue() + suffix));
      columns[position].name = renamed.back();
    }
    if (!keys.empty()) {
      part = RenameOp::create(builder, location, TableType::get(context, columns), part);
    }
    SmallVector<bool> nullable;
    for (StringAttr key : keys) {
      nullable.push_back(isNullable(op.getType().getColumnType(key)));
    }
    TableType type = JoinOp::inferResultType(JoinKind::Inner, cast<TableType>(joined.getType()),
                                             cast<TableType>(part.getType()));
    joined = JoinOp::create(builder, location, type, JoinKind::Inner, joined, part, op.getKeys(),
                            builder.getArrayAttr(llvm::to_vector_of<Attribute>(renamed)),
                            nullSafeAttr(context, nullable), ArrayAttr(), /*null_aware=*/false);
  }
  Value result = createKeep(builder, location, joined, op.getType().getNames()).getResult();
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

/// Whether measures are to be made of others, or may be, as counts of what is never NULL.
bool hasComposed(AggregateOp op) {
  return llvm::any_of(op.getMeasureRange(), [&](MeasureAttr measure) {
    return isMean(measure) || measure.getFunction() == AggregateFunction::Count;
  });
}

/// Whether a measure is there twice but for its name.
bool repeatsMeasures(AggregateOp op) {
  llvm::DenseSet<std::pair<unsigned, Attribute>> seen;
  return llvm::any_of(op.getMeasureRange(), [&](MeasureAttr measure) {
    auto key =
        std::pair(static_cast<unsigned>(measure.getFunction()), Attribute(measure.getInput()));
    return !seen.insert(key).second;
  });
}

/// The aggregates below `op` that have a distinct measure, with the columns that these are of.
SmallVector<std::pair<AggregateOp, SmallVector<StringAttr>>> findDistinct(Operation *op) {
  SmallVector<std::pair<AggregateOp, SmallVector<StringAttr>>> found;
  op->walk([&](AggregateOp aggregate) {
    if (SmallVector<StringAttr> columns = distinctColumns(aggregate); !columns.empty()) {
      found.emplace_back(aggregate, std::move(columns));
    }
  });
  return found;
}

struct AvgPass : optimize::impl::OptimizeAvgBase<AvgPass> {
  void runOnOperation() override { makeMeasuresCombine(getOperation()); }
};

} // namespace

MeanParts headrace::optimize::partsOfMean(AggregateFunction mean) {
  return ruleOf(mean).isDistinct()
             ? MeanParts{AggregateFunction::SumDistinct, AggregateFunction::CountDistinct}
             : MeanParts{AggregateFunction::Sum, AggregateFunction::Count};
}

Value headrace::optimize::createCountOfParts(OpBuilder &builder, Location location, Value sum,
                                             Type type) {
  Value zero = ConstantOp::create(builder, location, type, builder.getIntegerAttr(type, 0));
  return CoalesceOp::create(builder, location, type, ValueRange{sum, zero});
}

Value headrace::optimize::createQuotient(OpBuilder &builder, Location location, Value sum,
                                         Value count, Type type) {
  Type valueType = dropNullable(type);
  Nullability nullability = nullabilityOf(sum.getType());
  Value divisor;
  if (!isFloat(sum.getType()) && isFloat(valueType)) {
    divisor = count; // the mean of exact numbers
  } else if (isa<DecimalType>(valueType)) {
    // 19 digits hold any i64.
    auto countType = DecimalType::get(builder.getContext(), 19, 0);
    divisor = CastOp::create(builder, location, countType, count);
  } else {
    divisor = CastOp::create(builder, location, valueType, count);
    if (dropNullable(sum.getType()) != valueType) {
      sum = CastOp::create(builder, location, withNullability(valueType, nullability), sum);
    }
  }
  Type quotientType = withNullability(valueType, nullability);
  if (nullability == Nullability::kNever || isFloat(valueType)) { // a NULL sum by 0 is NULL
    return DivideOp::create(builder, location, quotientType, sum, divisor);
  }
  // A group of NULLs only has count 0: the branch with the division is not taken.
  Value zero = ConstantOp::create(builder, location, count.getType(),
                                  builder.getIntegerAttr(count.getType(), 0));
  Value present =
      CompareOp::create(builder, location, builder.getI1Type(), CompareKind::Gt, count, zero);
  Value quotient = DivideOp::create(builder, location, quotientType, sum, divisor);
  return CaseOp::create(builder, location, type, present, quotient, Value());
}

Type headrace::optimize::sumTypeOf(Type input, Type average) {
  if (!isFloat(average) || isFloat(input)) {
    return {};
  }
  auto decimal = dyn_cast<DecimalType>(dropNullable(input));
  Type sum = decimal ? Type(DecimalType::get(input.getContext(), 38, decimal.getScale()))
                     : IntegerType::get(input.getContext(), 128);
  return withNullability(sum, nullabilityOf(average));
}

void headrace::optimize::makeMeasuresCombine(Operation *op) {
  op->walk([](WindowOp window) { decomposeWindowAverages(window); });
  OpBuilder builder(op->getContext());
  SmallVector<AggregateOp> aggregates;
  op->walk([&](AggregateOp aggregate) { aggregates.push_back(aggregate); });
  for (AggregateOp aggregate : aggregates) {
    const auto shared = findSharedSums(aggregate);
    if (hasComposed(aggregate) || repeatsMeasures(aggregate) || !shared.empty()) {
      decomposeMeasures(builder, aggregate, shared);
    }
  }
  for (auto &[aggregate, columns] : findDistinct(op)) {
    if (columns.size() > 1) {
      separateDistinct(builder, aggregate, columns);
    }
  }
  for (auto &[aggregate, columns] : findDistinct(op)) {
    splitDistinct(builder, aggregate);
  }
}
