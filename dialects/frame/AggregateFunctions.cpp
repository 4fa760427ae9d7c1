// The table of aggregate functions, and the types of their results.
#include "dialects/frame/AggregateFunctions.h"
#include "dialects/frame/FrameTypes.h"

using namespace mlir;
using namespace headrace::frame;

using Function = AggregateFunction;
using Result = AggregateResult;

// In the order of the enum.
static constexpr AggregateRule kRules[] = {
    {Function::Sum, Result::kSum, Function::Sum, Function::Sum},
    {Function::Count, Result::kCount, Function::Sum, Function::Count},
    {Function::CountStar, Result::kCount, Function::Sum, Function::CountStar},
    {Function::CountDistinct, Result::kCount, std::nullopt, Function::Count},
    {Function::Min, Result::kOne, Function::Min, Function::Min},
    {Function::Max, Result::kOne, Function::Max, Function::Max},
    {Function::Avg, Result::kMean, std::nullopt, Function::Avg},
    {Function::SumDistinct, Result::kSum, std::nullopt, Function::Sum},
    {Function::AvgDistinct, Result::kMean, std::nullopt, Function::Avg},
    {Function::BitAnd, Result::kBits, Function::BitAnd, Function::BitAnd},
    {Function::BitOr, Result::kBits, Function::BitOr, Function::BitOr},
    {Function::BitXor, Result::kBits, Function::BitXor, Function::BitXor},
    {Function::Product, Result::kProduct, Function::Product, Function::Product},
};

static constexpr bool isInOrder() {
  for (size_t index = 0; index < std::size(kRules); ++index) {
    if (static_cast<size_t>(kRules[index].function) != index) {
      return false;
    }
  }
  return std::size(kRules) == getMaxEnumValForAggregateFunction() + 1;
}
static_assert(isInOrder());

const AggregateRule &headrace::frame::ruleOf(AggregateFunction function) {
  return kRules[static_cast<size_t>(function)];
}

/// Null if the function does not apply to the type.
static Type typeOfValues(const AggregateRule &rule, Type value, MLIRContext *context) {
  auto decimal = dyn_cast_or_null<DecimalType>(value);
  switch (rule.result) {
  case Result::kCount:
    return IntegerType::get(context, 64);
  case Result::kOne:
    return value;
  case Result::kSum:
    if (decimal) {
      return DecimalType::get(context, std::min(38u, decimal.getPrecision() + 10),
                              decimal.getScale());
    }
    if (isFloat(value)) {
      return Float64Type::get(context);
    }
    if (isDoubleDouble(value) && !rule.isDistinct()) {
      return value;
    }
    return isInteger(value) ? Type(IntegerType::get(context, std::max(64u, integerBits(value))))
                            : Type();
  case Result::kMean:
    if (decimal) {
      return DecimalType::get(context, std::min(38u, decimal.getPrecision() + 4),
                              std::min(38u, decimal.getScale() + 4));
    }
    return isNumeric(value) ? Float64Type::get(context) : Type();
  case Result::kBits:
    return isInteger(value) ? value : Type();
  case Result::kProduct:
    return value.isF64() ? value : Type();
  }
  llvm_unreachable("unknown kind of result");
}

Type headrace::frame::measureType(AggregateFunction function, Type input, Grouping grouping,
                                  MLIRContext *context) {
  const AggregateRule &rule = ruleOf(function);
  Type type = typeOfValues(rule, input ? dropNullable(input) : Type(), context);
  if (!type || rule.result == Result::kCount) {
    return type;
  }
  bool nullable = grouping == Grouping::kGlobal || isNullable(input);
  return withNullability(type, nullable ? Nullability::kMaybe : Nullability::kNever);
}
