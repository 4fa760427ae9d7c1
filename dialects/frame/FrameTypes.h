// The types of `frame` and questions about scalar types (nullability, kind).
#ifndef HEADRACE_DIALECTS_FRAME_FRAMETYPES_H
#define HEADRACE_DIALECTS_FRAME_FRAMETYPES_H

#include "runtime/base/logical_type.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace headrace::frame {

/// A named column of a table type.
struct Column {
  mlir::StringAttr name;
  mlir::Type type;
};

} // namespace headrace::frame

namespace headrace::frame::detail {
struct TableTypeStorage;
} // namespace headrace::frame::detail

#define GET_TYPEDEF_CLASSES
#include "dialects/frame/FrameTypes.h.inc"

namespace headrace::frame {

/// Whether `type` can be a column: i1, i8 to i128, ui8 to ui64, f32, f64, decimal, ui128, date,
/// time, timestamp, interval, string, binary, uuid, enum, list, struct, map, or one of them
/// nullable.
bool isScalar(mlir::Type type);

inline bool isNullable(mlir::Type type) { return mlir::isa<NullableType>(type); }
/// The type without nullability; the type itself if it has none.
mlir::Type dropNullable(mlir::Type type);
/// The nullable type of `type`; the type itself if it is nullable.
mlir::Type addNullable(mlir::Type type);

enum class Nullability { kNever, kMaybe };
/// The value type of `type` with the nullability asked for.
mlir::Type withNullability(mlir::Type type, Nullability nullability);
/// kMaybe if any of the types is nullable.
Nullability nullabilityOf(mlir::TypeRange types);

/// These look through nullability.
bool isBoolean(mlir::Type type);
bool isInteger(mlir::Type type);     // i8 to i128 and ui8 to ui64, without i1
bool isUnsigned(mlir::Type type);    // ui8 to ui64
bool isUnsigned128(mlir::Type type); // which is no integer inside
bool isFloat(mlir::Type type);
bool isDecimal(mlir::Type type);
bool isNumeric(mlir::Type type); // integer, float or decimal
bool isString(mlir::Type type);
bool isBinary(mlir::Type type);
bool isUuid(mlir::Type type);
bool isEnum(mlir::Type type);
bool isList(mlir::Type type);
bool isStruct(mlir::Type type);
bool isMap(mlir::Type type);
bool isNested(mlir::Type type); // list, struct or map
bool isInterval(mlir::Type type);
/// Whether it is an interval or something nested that has some: then bytes that differ may be equal
/// values.
bool hasIntervals(mlir::Type type);
/// Whether values are bytes that a cast to a text writes otherwise: binaries, UUIDs, enums,
/// intervals, ui128.
bool isHeldAsBytes(mlir::Type type);
/// Whether values are kept as texts: strings, such bytes, and what is nested.
bool isHeldAsText(mlir::Type type);
bool isDate(mlir::Type type);
bool isTime(mlir::Type type);
bool isTimestamp(mlir::Type type);
bool isTemporal(mlir::Type type); // date, time or timestamp
bool isDoubleDouble(mlir::Type type);

/// Bits of the integer that a value of the type is inside: of integers, dates, times and
/// timestamps; 0 of others.
unsigned integerBits(mlir::Type type);
/// The least number of that integer's bits that count its sign too: one more than an unsigned
/// integer has.
unsigned signedBits(mlir::Type type);
/// Digits of that integer behind the point: of a decimal, and of the second of a time or timestamp.
unsigned scaleOf(mlir::Type type);
/// How many of a timestamp's or time's unit a day has.
int64_t unitsOfDay(mlir::Type type);
/// The least and the greatest timestamp of the type that DuckDB calls finite; results are among
/// them.
std::pair<int64_t, int64_t> finiteTimestamps(mlir::Type type);

/// Whether the types are equal but for nullability.
bool isSameValueType(mlir::Type a, mlir::Type b);
/// Whether a value of one type is also one of the other: they are equal, or nested types that
/// differ in the names of fields, or in that one says map where the other says list of entries.
bool isHeldAlike(mlir::Type a, mlir::Type b);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_FRAMETYPES_H
