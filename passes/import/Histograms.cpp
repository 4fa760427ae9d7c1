// Histograms over bins that a call gives, as DuckDB counts them.
#include "passes/import/Histograms.h"

#include "dialects/frame/FrameConstants.h"
#include "passes/import/ConstantCasts.h"
#include "passes/import/Moments.h"
#include "runtime/base/text_functions.h"

#include <limits>

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// The greatest integer that a value of the type may be.
static llvm::APInt greatestOf(Type type) {
  if (auto decimal = dyn_cast<frame::DecimalType>(type)) {
    return powerOfTen(decimal.getPrecision(), frame::kLiteralBits) - 1;
  }
  if (frame::isTime(type)) {
    return {frame::kLiteralBits, static_cast<uint64_t>(frame::unitsOfDay(type))};
  }
  const unsigned bits = frame::isUnsigned128(type) ? 128 : frame::integerBits(type);
  return frame::isUnsigned(type) || frame::isUnsigned128(type)
             ? llvm::APInt::getMaxValue(bits).zext(frame::kLiteralBits)
             : llvm::APInt::getSignedMaxValue(bits).zext(frame::kLiteralBits);
}

/// The key of all that is in no bin; nothing of types that have none.
static std::optional<MaybeExpression> otherBin(ExpressionBuilder &b, Type key, Location at) {
  Type type = frame::dropNullable(key);
  if (auto fields = dyn_cast<frame::StructType>(type)) {
    SmallVector<Expression> nulls;
    for (Type field : fields.getFieldTypes()) {
      nulls.push_back(b.null(field, at));
    }
    return b.structOf(fields, nulls, at);
  }
  if (auto list = dyn_cast<frame::ListType>(type)) {
    return list.getSize() == 0 ? std::optional(MaybeExpression(
                                     b.constant(StringAttr::get(b.getContext(), ""), type, at)))
                               : std::nullopt;
  }
  const bool isNanoseconds = isa<frame::TimeType>(type) && cast<frame::TimeType>(type).getUnit() ==
                                                               headrace::TimeUnit::kNanosecond;
  if (frame::isMap(type) || frame::isBoolean(type) || frame::isInterval(type) ||
      frame::isUuid(type) || frame::isEnum(type) || isNanoseconds) {
    return std::nullopt;
  }
  if (frame::isFloat(type)) {
    return MaybeExpression(
        b.constant(FloatAttr::get(type, std::numeric_limits<double>::infinity()), type, at));
  }
  if (std::optional<int64_t> infinity = frame::infinityOf(type)) {
    return MaybeExpression(b.integer(*infinity, type, at));
  }
  if (frame::isHeldAsText(type) && !frame::isUnsigned128(type)) {
    return MaybeExpression(b.constant(StringAttr::get(b.getContext(), ""), type, at));
  }
  return MaybeExpression(b.constant(frame::literalAttr(greatestOf(type), type), type, at));
}

MaybeExpression headrace::import::binnedCounts(ExpressionBuilder &b, const Expression &list,
                                               const Expression &bins, Binning binning, Type map,
                                               Location at) {
  auto type = cast<frame::MapType>(frame::dropNullable(map));
  Type key = type.getKeyType();
  std::optional<MaybeExpression> other = otherBin(b, key, at);
  SmallVector<Expression> others;
  if (other && failed(*other)) {
    return failure();
  }
  if (other) {
    others.push_back(**other);
  }
  MaybeExpression otherKey = b.list(key, others, at);
  MaybeExpression unknown = b.list(key, b.null(key, at), at); // in place of bins that are NULL
  if (failed(otherKey) || failed(unknown)) {
    return failure();
  }
  MaybeExpression known = b.coalesce({bins, *unknown}, at);
  Type i64 = IntegerType::get(b.getContext(), 64);
  MaybeExpression counted =
      failed(known)
          ? known
          : b.text(*headrace::textFunctionNamed("map_bins"),
                   {list, *known, *otherKey, b.integer(binning == Binning::kExact, i64, at)},
                   type.getEntries(), at);
  return b.ofAny(list, failed(counted) ? counted : b.cast(*counted, map, at), at);
}

MaybeExpression headrace::import::isOtherBin(ExpressionBuilder &b, const Expression &key,
                                             Location at) {
  std::optional<MaybeExpression> other = otherBin(b, key.type(), at);
  if (!other) {
    return b.constant(BoolAttr::get(b.getContext(), false), IntegerType::get(b.getContext(), 1),
                      at);
  }
  MaybeExpression same =
      failed(*other) ? *other : b.compare(frame::CompareKind::IsNotDistinctFrom, key, **other, at);
  return failed(same) ? same : Moments(b, at).unlessNull(key, *same);
}

MaybeExpression headrace::import::equalBins(ExpressionBuilder &b, ArrayRef<Expression> arguments,
                                            Type bins, Location at) {
  Type type = frame::dropNullable(arguments.front().type());
  Type i64 = IntegerType::get(b.getContext(), 64);
  if (type != i64 && !type.isF64() && type != Moments(b, at).timestampType()) {
    return b.raise(frame::RaiseKind::User,
                   "equi_width_bins of what is no number, date or timestamp", bins, at);
  }
  MaybeExpression ends = b.list(type, arguments.take_front(2), at);
  MaybeExpression nice = b.cast(arguments[3], i64, at);
  MaybeExpression made = failed(ends) || failed(nice)
                             ? MaybeExpression(failure())
                             : b.text(*headrace::textFunctionNamed("equi_width_bins"),
                                      {*ends, arguments[2], *nice}, frame::ListType::get(type), at);
  return failed(made) ? made : Moments(b, at).unlessNull(arguments.take_front(2), *made);
}
