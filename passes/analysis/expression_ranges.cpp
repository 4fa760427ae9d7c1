// Interval arithmetic over the scalar ops of `frame`. An operation whose corner overflows 128 bits,
// or that is not known here, has the range of its type: a value outside the type is an error
// anyway.
#include "passes/analysis/expression_ranges.h"
#include "dialects/frame/FrameConstants.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

namespace {

using MaybeRange = std::optional<Range>;

Int128 powerOfTen(unsigned exponent) {
  Int128 result = 1;
  while (exponent-- > 0) {
    result *= 10;
  }
  return result;
}

Int128 toInt128(const APInt &value) {
  APInt wide = value.sextOrTrunc(128);
  return static_cast<Int128>(
      (static_cast<unsigned __int128>(wide.extractBitsAsZExtValue(64, 64)) << 64) |
      wide.extractBitsAsZExtValue(64, 0));
}

MaybeRange literalRange(Attribute value, Type type) {
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer) {
    return rangeOfType(type);
  }
  Int128 point =
      isBoolean(type) ? Int128(integer.getValue().getZExtValue()) : toInt128(integer.getValue());
  return Range{point, point};
}

MaybeRange hull(MaybeRange a, MaybeRange b) {
  if (!a || !b) {
    return std::nullopt;
  }
  return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
}

/// Of the opposites; nothing on overflow.
MaybeRange negated(const Range &range) {
  Int128 low, high;
  return __builtin_sub_overflow(Int128(0), range.high, &low) ||
                 __builtin_sub_overflow(Int128(0), range.low, &high)
             ? std::nullopt
             : MaybeRange(Range{low, high});
}

/// The part of `range` within the type: outside it the op would have failed.
MaybeRange within(MaybeRange range, Type type) {
  MaybeRange all = rangeOfType(type);
  if (!range || !all) {
    return all;
  }
  Range result{std::max(range->low, all->low), std::min(range->high, all->high)};
  return result.low <= result.high ? result : *all;
}

/// `value` * 10^digits; nothing on overflow.
std::optional<Int128> scaledUp(Int128 value, unsigned digits) {
  Int128 result;
  if (digits > 38 || __builtin_mul_overflow(value, powerOfTen(digits), &result)) {
    return std::nullopt;
  }
  return result;
}

MaybeRange scaledUp(const Range &range, unsigned digits) {
  std::optional<Int128> low = scaledUp(range.low, digits);
  std::optional<Int128> high = scaledUp(range.high, digits);
  return low && high ? MaybeRange(Range{*low, *high}) : std::nullopt;
}

using Combine = llvm::function_ref<bool(Int128, Int128, Int128 &)>; // true: overflow
MaybeRange cornersOf(const Range &a, const Range &b, Combine combine) {
  MaybeRange result;
  for (Int128 x : {a.low, a.high}) {
    for (Int128 y : {b.low, b.high}) {
      Int128 corner;
      if (combine(x, y, corner)) {
        return std::nullopt;
      }
      result = result ? Range{std::min(result->low, corner), std::max(result->high, corner)}
                      : Range{corner, corner};
    }
  }
  return result;
}

MaybeRange sumRange(Operation *op, Range a, Range b) {
  unsigned scale = scaleOf(op->getResult(0).getType());
  MaybeRange x = scaledUp(a, scale - scaleOf(op->getOperand(0).getType()));
  MaybeRange y = scaledUp(b, scale - scaleOf(op->getOperand(1).getType()));
  if (!x || !y) {
    return std::nullopt;
  }
  bool adds = isa<AddOp>(op);
  return cornersOf(*x, *y, [&](Int128 u, Int128 v, Int128 &r) {
    return adds ? __builtin_add_overflow(u, v, &r) : __builtin_sub_overflow(u, v, &r);
  });
}

MaybeRange productRange(Range a, Range b) {
  return cornersOf(a, b,
                   [](Int128 u, Int128 v, Int128 &r) { return __builtin_mul_overflow(u, v, &r); });
}

/// The quotient is a * 10^shift / b; the smallest divisors give the largest quotients.
MaybeRange quotientRange(DivideOp op, Range a, Range b) {
  int shift = static_cast<int>(scaleOf(op.getResult().getType())) -
              static_cast<int>(scaleOf(op.getLhs().getType())) +
              static_cast<int>(scaleOf(op.getRhs().getType()));
  MaybeRange numerator = shift >= 0 ? scaledUp(a, shift) : MaybeRange(a);
  if (!numerator) {
    return std::nullopt;
  }
  if (b.low > 0) {
    Range divisors = b;
    return cornersOf(*numerator, divisors, [](Int128 u, Int128 v, Int128 &r) {
      r = u / v;
      return false;
    });
  }
  MaybeRange opposite = negated(*numerator);
  return opposite ? hull(numerator, opposite) : std::nullopt;
}

/// The smallest remainder range: below the divisor in size, with the dividend's sign.
MaybeRange remainderRange(ModulusOp op, Range a, Range b) {
  unsigned scale = scaleOf(op.getResult().getType());
  MaybeRange y = scaledUp(b, scale - scaleOf(op.getRhs().getType()));
  MaybeRange x = scaledUp(a, scale - scaleOf(op.getLhs().getType()));
  MaybeRange opposite = y ? negated(*y) : std::nullopt;
  if (!x || !opposite) {
    return std::nullopt;
  }
  Int128 most = std::max<Int128>(std::max(y->high, opposite->high) - 1, 0);
  return Range{x->low < 0 ? std::max(x->low, -most) : 0, x->high > 0 ? std::min(x->high, most) : 0};
}

/// The range of what is infinite in one range of dates or timestamps, as another type has it.
MaybeRange infiniteRange(const Range &range, Type from, Type to) {
  std::optional<int64_t> infinity = infinityOf(from), result = infinityOf(to);
  if (!infinity || !result) {
    return std::nullopt;
  }
  bool above = range.low <= *infinity && range.high >= *infinity,
       below = range.low <= -*infinity && range.high >= -*infinity;
  return above || below ? MaybeRange(Range{below ? -*result : *result, above ? *result : -*result})
                        : std::nullopt;
}

/// Of what is finite.
MaybeRange finiteCastRange(CastOp op, MaybeRange operand) {
  Type from = op.getOperand().getType();
  Type to = op.getResult().getType();
  if (isDate(from) && isTimestamp(to)) {
    Int128 day = unitsOfDay(to);
    return productRange(*operand, {day, day});
  }
  if (isTimestamp(from) && !isTimestamp(to)) {
    Int128 day = unitsOfDay(from);
    return isDate(to) ? Range{operand->low / day - 1, operand->high / day} : Range{0, day - 1};
  }
  unsigned fromScale = scaleOf(from);
  unsigned toScale = scaleOf(to);
  if (toScale >= fromScale) {
    return scaledUp(*operand, toScale - fromScale);
  }
  Int128 divisor = powerOfTen(fromScale - toScale); // rounding moves at most by one
  return Range{operand->low / divisor - 1, operand->high / divisor + 1};
}

MaybeRange castRange(CastOp op, MaybeRange operand) {
  Type from = op.getOperand().getType();
  Type to = op.getResult().getType();
  if (!operand || isHeldAsText(to) || isFloat(to)) {
    return rangeOfType(to);
  }
  if (isBoolean(to)) {
    return Range{0, 1};
  }
  if (isTemporal(from) != isTemporal(to)) {
    return operand; // the number of its unit
  }
  MaybeRange finite = finiteCastRange(op, operand), infinite = infiniteRange(*operand, from, to);
  return infinite ? hull(finite, infinite) : finite;
}

/// What is months, days and a time later; an infinite date or timestamp stays what it is.
MaybeRange shiftRange(ShiftDateOp op, MaybeRange operand) {
  Type type = op.getOperand().getType();
  if (!operand || infiniteRange(*operand, type, type)) {
    return std::nullopt;
  }
  constexpr Int128 kFar = Int128(1) << 40; // farther than any date from any other
  Int128 months = op.getMonths(), days = op.getDays(), day = isDate(type) ? 1 : unitsOfDay(type);
  if (months < -kFar || months > kFar || days < -kFar || days > kFar) {
    return std::nullopt;
  }
  Range later = daysLater(months, days);
  Int128 time = static_cast<int64_t>(op.getMicroseconds());
  return Range{operand->low + later.low * day + time, operand->high + later.high * day + time};
}

MaybeRange extractRange(ExtractOp op, MaybeRange date) {
  switch (op.getField()) {
  case DateField::Month:
    return Range{1, 12};
  case DateField::Day:
    return Range{1, 31};
  case DateField::Year:
    break;
  }
  constexpr Int128 kDaysMax = 10'000'000; // what std::chrono's years hold
  if (!date || date->low < -kDaysMax || date->high > kDaysMax) {
    return std::nullopt;
  }
  auto year = [](Int128 days) -> Int128 {
    std::chrono::year_month_day day{
        std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
    return static_cast<int>(day.year());
  };
  return Range{year(date->low), year(date->high)};
}

/// -1, 0 or 1 as a is below, overlapping or above b; only for one type's scale.
enum class Truth { kFalse, kTrue, kEither };
Truth decide(CompareKind kind, const Range &a, const Range &b) {
  auto truth = [](bool always, bool never) {
    return always ? Truth::kTrue : never ? Truth::kFalse : Truth::kEither;
  };
  bool apart = a.high < b.low || a.low > b.high;
  bool samePoint = a.low == a.high && a == b;
  switch (kind) {
  case CompareKind::Eq:
    return truth(samePoint, apart);
  case CompareKind::Ne:
    return truth(apart, samePoint);
  case CompareKind::Lt:
    return truth(a.high < b.low, a.low >= b.high);
  case CompareKind::Le:
    return truth(a.high <= b.low, a.low > b.high);
  case CompareKind::Gt:
    return truth(a.low > b.high, a.high <= b.low);
  case CompareKind::Ge:
    return truth(a.low >= b.high, a.high < b.low);
  case CompareKind::IsNotDistinctFrom:
    return Truth::kEither; // NULL against NULL
  }
  return Truth::kEither;
}

/// The argument behind `value`, looking through casts that keep the number as it is.
std::optional<unsigned> plainArgument(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    Type from = cast.getOperand().getType();
    Type to = cast.getResult().getType();
    bool numbers = (isInteger(from) || isDecimal(from)) && (isInteger(to) || isDecimal(to));
    if (!isSameValueType(from, to) && (!numbers || scaleOf(from) != scaleOf(to))) {
      return std::nullopt;
    }
    value = cast.getOperand();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? std::optional(argument.getArgNumber()) : std::nullopt;
}

/// The next number, or the one before; the extremes themselves have none.
Int128 nextOf(Int128 value) { return value == ~(Int128(-1) << 127) ? value : value + 1; }
Int128 previousOf(Int128 value) { return value == Int128(-1) << 127 ? value : value - 1; }

void intersect(MaybeRange &range, Int128 low, Int128 high) {
  if (!range) {
    return;
  }
  Range result{std::max(range->low, low), std::min(range->high, high)};
  if (result.low <= result.high) { // else no row passes: any range is right
    range = result;
  }
}

void refineByCompare(CompareOp compare, ArgumentRanges &arguments, OuterRange outer) {
  MaybeRange lhs = evaluateRange(compare.getLhs(), arguments, outer);
  MaybeRange rhs = evaluateRange(compare.getRhs(), arguments, outer);
  if (!lhs || !rhs) {
    return;
  }
  auto narrow = [&](Value side, CompareKind kind, const Range &limit) {
    std::optional<unsigned> argument = plainArgument(side);
    if (!argument) {
      return;
    }
    MaybeRange &range = arguments[*argument];
    Range all = range.value_or(limit);
    switch (kind) {
    case CompareKind::Eq:
      return intersect(range, limit.low, limit.high);
    case CompareKind::Lt:
      return intersect(range, all.low, previousOf(limit.high));
    case CompareKind::Le:
      return intersect(range, all.low, limit.high);
    case CompareKind::Gt:
      return intersect(range, nextOf(limit.low), all.high);
    case CompareKind::Ge:
      return intersect(range, limit.low, all.high);
    default:
      return;
    }
  };
  narrow(compare.getLhs(), compare.getKind(), *rhs);
  narrow(compare.getRhs(), mirrored(compare.getKind()), *lhs);
}

/// The ranges of values of one region, as far as they are known.
using Known = llvm::DenseMap<Value, MaybeRange>;

/// The range of an op's result from those of its operands.
MaybeRange evaluateOp(Operation *op, const Known &known) {
  auto operand = [&](unsigned index) { return known.lookup(op->getOperand(index)); };
  auto binary = [&](llvm::function_ref<MaybeRange(Range, Range)> combine) -> MaybeRange {
    MaybeRange a = operand(0);
    MaybeRange b = operand(1);
    return a && b ? combine(*a, *b) : std::nullopt;
  };
  auto hullOf = [&](ValueRange values) {
    MaybeRange result = known.lookup(values.front());
    for (Value value : values.drop_front()) {
      result = hull(result, known.lookup(value));
    }
    return result;
  };
  return llvm::TypeSwitch<Operation *, MaybeRange>(op)
      .Case([&](ConstantOp constant) {
        return literalRange(constant.getValue(), constant.getResult().getType());
      })
      .Case<AddOp, SubtractOp>(
          [&](auto) { return binary([&](Range a, Range b) { return sumRange(op, a, b); }); })
      .Case([&](MultiplyOp) { return binary(productRange); })
      .Case([&](DivideOp divide) {
        return binary([&](Range a, Range b) { return quotientRange(divide, a, b); });
      })
      .Case([&](ModulusOp modulus) {
        return binary([&](Range a, Range b) { return remainderRange(modulus, a, b); });
      })
      .Case([&](NegateOp) -> MaybeRange {
        MaybeRange a = operand(0);
        return a ? within(negated(*a), op->getResult(0).getType()) : std::nullopt;
      })
      .Case([&](CastOp cast) { return castRange(cast, operand(0)); })
      .Case([&](ShiftDateOp shift) { return shiftRange(shift, operand(0)); })
      .Case([&](ExtractOp extract) { return extractRange(extract, operand(0)); })
      .Case([&](TextOp text) -> MaybeRange {
        const TextFunction &function = *textFunctionNamed(text.getFunction());
        if (function.givesText()) {
          return std::nullopt;
        }
        auto [low, high] = function.range();
        return Range{low, high};
      })
      .Case([&](CaseOp conditional) {
        MaybeRange result = hullOf(conditional.getValues());
        Value otherwise = conditional.getOtherwise();
        return otherwise ? hull(result, known.lookup(otherwise)) : result;
      })
      .Case([&](CoalesceOp coalesce) { return hullOf(coalesce.getOperands()); })
      .Case([&](CompareOp compare) -> MaybeRange {
        MaybeRange a = operand(0);
        MaybeRange b = operand(1);
        if (!a || !b) {
          return std::nullopt;
        }
        Truth truth = decide(compare.getKind(), *a, *b);
        return truth == Truth::kEither ? Range{0, 1}
                                       : Range{truth == Truth::kTrue, truth == Truth::kTrue};
      })
      .Case([&](AndOp) -> MaybeRange {
        Range result{1, 1};
        for (unsigned index = 0; index < op->getNumOperands(); ++index) {
          Range part = operand(index).value_or(Range{0, 1});
          result = {std::min(result.low, part.low), std::min(result.high, part.high)};
        }
        return result;
      })
      .Case([&](OrOp) -> MaybeRange {
        Range result{0, 0};
        for (unsigned index = 0; index < op->getNumOperands(); ++index) {
          Range part = operand(index).value_or(Range{0, 1});
          result = {std::max(result.low, part.low), std::max(result.high, part.high)};
        }
        return result;
      })
      .Case([&](NotOp) -> MaybeRange {
        Range a = operand(0).value_or(Range{0, 1});
        return Range{1 - a.high, 1 - a.low};
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

Range headrace::analysis::daysLater(Int128 months, Int128 days) {
  bool back = months < 0;
  return {days + months * (back ? 31 : 28), days + months * (back ? 28 : 31)};
}

CompareKind headrace::analysis::mirrored(CompareKind kind) {
  switch (kind) {
  case CompareKind::Lt:
    return CompareKind::Gt;
  case CompareKind::Le:
    return CompareKind::Ge;
  case CompareKind::Gt:
    return CompareKind::Lt;
  case CompareKind::Ge:
    return CompareKind::Le;
  default:
    return kind;
  }
}

MaybeRange headrace::analysis::evaluateRange(Value scalar, ArrayRef<MaybeRange> arguments,
                                             OuterRange outer) {
  // Operands first, each once, however deep the expression is.
  Known known;
  SmallVector<Value> open{scalar};
  while (!open.empty()) {
    Value value = open.back();
    Operation *op = value.getDefiningOp();
    bool inside = op && !isa<ScalarSubqueryOp>(op) && rangeOfType(value.getType());
    size_t before = open.size();
    for (Value operand : inside ? ValueRange(op->getOperands()) : ValueRange()) {
      if (!known.contains(operand)) {
        open.push_back(operand);
      }
    }
    if (open.size() != before) {
      continue;
    }
    open.pop_back();
    MaybeRange range;
    if (!rangeOfType(value.getType())) {
      range = std::nullopt;
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      range = within(arguments[argument.getArgNumber()], value.getType());
    } else {
      range = within(inside ? evaluateOp(op, known) : outer(value), value.getType());
    }
    known[value] = range;
  }
  return known.lookup(scalar);
}

void headrace::analysis::refineByPredicate(Value predicate, ArgumentRanges &arguments,
                                           OuterRange outer) {
  Operation *op = predicate.getDefiningOp();
  if (!op) {
    return;
  }
  if (isa<AndOp>(op)) {
    for (Value operand : flattened<AndOp>(predicate)) {
      refineByPredicate(operand, arguments, outer);
    }
  } else if (isa<OrOp>(op)) {
    ArgumentRanges either;
    for (Value operand : flattened<OrOp>(predicate)) {
      ArgumentRanges branch = arguments;
      refineByPredicate(operand, branch, outer);
      if (either.empty()) {
        either = branch;
        continue;
      }
      for (auto [all, one] : llvm::zip_equal(either, branch)) {
        all = hull(all, one);
      }
    }
    arguments = either;
  } else if (auto compare = dyn_cast<CompareOp>(op)) {
    refineByCompare(compare, arguments, outer);
  } else if (auto in = dyn_cast<InOp>(op)) {
    std::optional<unsigned> argument = plainArgument(in.getOperand());
    MaybeRange values = literalRange(in.getValues()[0], in.getOperand().getType());
    for (Attribute value : in.getValues()) {
      values = hull(values, literalRange(value, in.getOperand().getType()));
    }
    if (argument && values) {
      intersect(arguments[*argument], values->low, values->high);
    }
  }
}
