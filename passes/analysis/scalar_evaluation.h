// The value of one scalar op of `frame` on known operands: for constant folding and for the
// reference interpreter. Written to be obviously right, not fast.
#ifndef HEADRACE_PASSES_ANALYSIS_SCALAREVALUATION_H
#define HEADRACE_PASSES_ANALYSIS_SCALAREVALUATION_H

#include "dialects/frame/FrameOps.h"

#include <string>
#include <variant>

namespace headrace::analysis {

using Int128 = __int128;

/// A value of a `frame` scalar type, or NULL. Booleans (0, 1), integers, decimals (scaled), dates
/// (days) and timestamps (microseconds) are Int128; floats are double (an f32 is rounded to it).
struct Scalar {
  std::variant<std::monostate, Int128, double, std::string> value;

  static Scalar null() { return {}; }
  static Scalar boolean(bool truth) { return {Int128(truth ? 1 : 0)}; }
  bool isNull() const { return std::holds_alternative<std::monostate>(value); }
  bool isTrue() const { return !isNull() && std::get<Int128>(value) == 1; }
  Int128 integer() const { return std::get<Int128>(value); }
  double real() const { return std::get<double>(value); }
  const std::string &text() const { return std::get<std::string>(value); }
  bool operator==(const Scalar &) const = default;
};

/// A value, or what went wrong (a lower-case fragment).
struct Evaluated {
  Scalar value;
  std::string error;
  bool isTooLarge = false; ///< there is a value, but it is not computed here
  bool failed() const { return !error.empty(); }
};

/// The value of `op` (a scalar op of `frame` without a region, and not `case`: see evaluateCase) on
/// its operands' values.
Evaluated evaluateOp(mlir::Operation *op, llvm::ArrayRef<Scalar> operands);

/// Evaluates `case` by demand: `operand` is asked only for the conditions up to the first true one
/// and for the branch taken.
Evaluated evaluateCase(frame::CaseOp op, llvm::function_ref<Evaluated(mlir::Value)> operand);

/// Order of two values of one type, neither NULL: below, equal, above as -1, 0, 1. Strings
/// bytewise; NaN equals itself and is the largest.
int compareScalars(const Scalar &a, const Scalar &b);

/// The value that an attribute of frame.constant keeps, and back (null if it does not fit the
/// type).
Scalar scalarOf(mlir::Attribute literal, mlir::Type type);
mlir::Attribute literalOf(const Scalar &value, mlir::Type type);

/// `value` as a number of `type`, or an error if it does not fit: overflow of integers and
/// decimals.
Evaluated fitted(Int128 value, mlir::Type type);

/// A number, date or boolean from its text, as a cast from string does it.
Evaluated parseText(llvm::StringRef text, mlir::Type type);
/// A number, date or boolean (not NULL) as text, as a cast to string does it: exactly, with all
/// digits of a scale.
std::string textOf(const Scalar &value, mlir::Type type);

/// The nth element of a list, neither NULL, from 1 on, of a negative n from the end; NULL where
/// there is none.
Scalar elementOf(const Scalar &list, Int128 position, mlir::Type type);
/// The list of values of its elements' type, or NULLs.
Scalar packedList(frame::ListType type, llvm::ArrayRef<Scalar> elements);
/// The elements of all of these lists, none of them NULL, as one.
Scalar joinedLists(llvm::ArrayRef<Scalar> lists);
/// The struct of values of its fields' types, or NULLs.
Scalar packedFields(frame::StructType type, llvm::ArrayRef<Scalar> fields);
/// A list, struct or map (not NULL) as a cast to string prints it.
std::string printedNested(const Scalar &value, mlir::Type type);

/// Decimal digits of a 128-bit integer.
std::string integerText(Int128 value);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_SCALAREVALUATION_H
