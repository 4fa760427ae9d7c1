// Frame expressions to scalar arith: NULLs become (value, valid), decimals scaled integers of the
// narrowest type that their range proves safe.
#pragma once

#include "dialects/frame/FrameDialect.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/frame/FrameTypes.h"
#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>
#include <vector>

namespace headrace::form {

/// Closed interval of the (scaled) integer value of a column or expression.
struct Range {
  __int128 low = 0;
  __int128 high = 0;
};

/// The smallest of 32, 64 and 128 bits that holds the range.
unsigned bitsFor(const Range &range);
/// 10^exponent, of at most 38.
__int128 powerOfTen(int exponent);
/// All products of a value of `a` and one of `b`; nothing if a bound leaves 128 bits.
std::optional<Range> multiplyRanges(const Range &a, const Range &b);
/// What holds the values of both; nothing if one has no range.
std::optional<Range> hull(const std::optional<Range> &a, const std::optional<Range> &b);
unsigned widthOf(mlir::Value value);
/// Integers, decimals, dates, times and timestamps: what is an integer in bodies.
bool isIntegral(mlir::Type type);
/// Digits behind the point: of a decimal, and of the second of a time or timestamp.
int scaleOf(mlir::Type type);

/// Range of every value a frame type can hold, if it is integral; floats and strings have none.
std::optional<Range> typeRange(mlir::Type frameType);
/// The body type of a column: integers and decimals as wide as `range` needs, dates i32.
mlir::Type bodyType(mlir::Type frameType, const std::optional<Range> &range);

/// A translated scalar.
struct Scalar {
  mlir::Value value; ///< of bodyType(type, range)
  mlir::Value valid; ///< i1; null: never NULL
  mlir::Type type;   ///< frame type without nullability
  std::optional<Range> range;
};

/// Translates one expression region into the block at `builder`.
class ExpressionTranslator {
public:
  ExpressionTranslator(mlir::OpBuilder &builder, mlir::Location location)
      : b_(builder), loc_(location) {}

  void bind(mlir::Value frameValue, Scalar scalar) { scalars_[frameValue] = scalar; }
  /// Translates the ops of a block up to its terminator, and returns the terminator's operands.
  mlir::FailureOr<llvm::SmallVector<Scalar>> translate(mlir::Block &block);

  /// Sign-extends or truncates to an integer width (truncation must be proven by the range).
  mlir::Value toWidth(mlir::Value value, unsigned bits);
  /// The place of this rank along axes of the mesh, as i64.
  Scalar placeAlong(mlir::ArrayAttr axes);
  /// 1 for a value, 0 for NULL, as i64; 1 if there is no value at all (count of rows).
  Scalar countOf(const Scalar &scalar);
  /// The value at the width of its type; overflow fails the task.
  Scalar checkedToType(const Scalar &scalar);
  /// The same value as a column of `range` has it, with a validity if the column is nullable.
  Scalar asColumn(const Scalar &scalar, const std::optional<Range> &range,
                  frame::Nullability nullability);
  /// NULL as a column of that type and range has it.
  Scalar nullOf(mlir::Type type, const std::optional<Range> &range);
  /// value && valid.
  mlir::Value isTrue(const Scalar &scalar);
  /// Of two values that are not NULL, of one type, in SQL's order.
  mlir::Value compareValues(frame::CompareKind kind, const Scalar &a, const Scalar &b);
  mlir::Value notValue(mlir::Value a);

private:
  mlir::LogicalResult translateOp(mlir::Operation *op);
  mlir::FailureOr<Scalar> constant(mlir::Attribute value, mlir::Type type);
  mlir::FailureOr<Scalar> arithmetic(mlir::Operation *op);
  mlir::FailureOr<Scalar> floatArithmetic(mlir::Operation *op, const Scalar &a, const Scalar &b);
  mlir::FailureOr<Scalar> divide(mlir::Operation *op, Scalar a, Scalar b, mlir::Type type);
  // scalar_functions.cpp
  mlir::FailureOr<Scalar> number(frame::NumberOp op);
  Scalar absolute(const Scalar &input);
  Scalar roundedReal(frame::NumberOp op, const Scalar &input);
  mlir::FailureOr<Scalar> roundedInteger(frame::NumberOp op, const Scalar &input);
  Scalar exactProduct(frame::ExactProductOp op);
  Scalar nearest(frame::NearestOp op);
  Scalar comoment(frame::ComomentOp op);
  Scalar math(frame::MathOp op);
  mlir::Value scrambled(mlir::Value number, mlir::Value seed);
  Scalar text(frame::TextOp op);
  // moments.cpp
  Scalar shiftDate(frame::ShiftDateOp op);
  Scalar shiftFinite(frame::ShiftDateOp op, const Scalar &input);
  Scalar makeDate(frame::MakeDateOp op);
  /// The day of a timestamp.
  Scalar dateOf(const Scalar &timestamp);
  /// Between dates, times, timestamps and the numbers of their units.
  Scalar castTemporal(const Scalar &input, mlir::Type target);
  Scalar midnightOf(const Scalar &date, mlir::Type timestamp);
  /// A time or timestamp of another unit.
  Scalar inUnitOf(const Scalar &input, mlir::Type target);
  /// `convert` of finite dates and timestamps, and what is infinite as such of the type `target`.
  Scalar keepInfinite(const Scalar &input, mlir::Type target,
                      llvm::function_ref<Scalar(const Scalar &finite)> convert);
  /// Where a date or timestamp is infinite and later (or earlier) than all; null: nowhere.
  mlir::Value isInfinite(const Scalar &input, bool later);
  /// What it is with its range, which it has, or failure where it is no finite date.
  Scalar finiteDate(Scalar wide);
  /// The timestamp of the type that `wide` is, or failure if results may not be it.
  Scalar finiteTimestamp(mlir::Value wide, std::optional<Range> range, mlir::Value valid,
                         mlir::Type type);
  // lists.cpp
  Scalar list(frame::ListOp op);
  Scalar element(frame::ElementOp op);
  Scalar structOf(frame::StructOp op);
  Scalar field(frame::FieldOp op);
  /// A list of one element, of the type.
  mlir::Value listOfOne(const Scalar &scalar, mlir::Type type);
  /// The element of a list or struct at a place, from 1 on, where `valid` holds.
  Scalar elementAt(mlir::Value list, mlir::Value place, mlir::Value valid, mlir::Type type);
  mlir::Value callText(llvm::StringRef function, mlir::ValueRange operands);
  // lambdas.cpp
  mlir::FailureOr<Scalar> flatMap(frame::FlatMapOp op);
  mlir::FailureOr<Scalar> reduce(frame::ReduceOp op);
  mlir::FailureOr<Scalar> attempt(frame::TryOp op);
  struct LoopBody;
  /// Begins the body of a loop over a list; the region's arguments are bound, from `next` on.
  void bindElement(LoopBody &loop, const Scalar &list, int64_t first, mlir::Region &region,
                   unsigned next, mlir::ValueRange captures);
  /// The element at a place that there is.
  Scalar elementIn(mlir::Value list, mlir::Value place, mlir::Type type);
  /// A value as a list has it, which is 0 under NULL.
  mlir::Value bitsOf(const Scalar &scalar, mlir::Type type);
  /// What a region gives that yields a list of one element of fixed width, or, where a condition is
  /// not true, an empty one; null: it yields another list.
  struct Collected {
    mlir::Value element, condition;
    uint32_t code = 0;
  };
  static Collected collectedBy(frame::FlatMapOp op);
  /// The loop over the list's elements from `first` on. What its body fails for is asked for as
  /// the op's result is. `collects`: the code of elements that are yielded; null: lists, or none.
  pipe::LoopOp finish(LoopBody &loop, const Scalar &list, int64_t first,
                      llvm::ArrayRef<mlir::Value> yielded, mlir::IntegerAttr collects);
  Scalar toText(const Scalar &input);
  /// A call of a function of texts, and the error where it has no value.
  Scalar textOf(const TextFunction &function, mlir::ValueRange operands, mlir::Value valid,
                mlir::Type type, pipe::DataError error);
  Scalar fromText(const Scalar &input, mlir::Type target);
  mlir::Value real(double value);
  Scalar decimalOf(const Scalar &input, mlir::Type target);
  /// A sum of decimals by a count, as a double.
  Scalar mean(const Scalar &sum, const Scalar &count);
  mlir::Value toReal(mlir::Value integer);
  /// The double nearest to an integer or a decimal.
  mlir::Value nearestReal(const Scalar &number);
  /// Fails for the rows that reach it.
  mlir::FailureOr<Scalar> raise(frame::RaiseOp op);
  /// The nearest whole number of a double, the even one between two.
  mlir::Value nearestEven(mlir::Value value);
  /// The nearest whole number of a double, away from zero between two.
  mlir::Value nearest(mlir::Value value);
  /// The whole number of a float, towards zero.
  mlir::Value truncated(mlir::Value value);
  /// A whole number of less than 2^127 without its sign, as i128.
  mlir::Value wholeOf(mlir::Value value);
  /// Of two floats, with the sign of the first.
  mlir::Value remainder(mlir::Value a, mlir::Value b);
  mlir::Value isInfinite(mlir::Value real);

  mlir::FailureOr<Scalar> cast(const Scalar &input, mlir::Type to, mlir::Operation *op);
  Scalar rescale(const Scalar &input, int fromScale, int toScale, mlir::Type type);
  mlir::FailureOr<Scalar> caseWhen(frame::CaseOp op);
  Scalar conform(const Scalar &input, const std::optional<Range> &range);
  /// Multiplication with a check where the range does not exclude overflow; `valid` as below.
  mlir::Value multiply(mlir::Value a, mlir::Value b, unsigned bits, mlir::Value valid);
  /// a * factor / b of 128 bits.
  pipe::DivideOp divideWide(mlir::Value a, __int128 factor, mlir::Value b);
  /// `valid`: the rows that are not NULL; null: all.
  void failUnlessFits(mlir::Value wide, const Range &bounds, mlir::Value valid);
  // failures.cpp
  /// The op has no value where the condition holds: an error for rows that ask for it.
  void failWhere(mlir::Value condition, pipe::DataError error);
  struct Demand;
  void ask(Demand &demand, mlir::Value rows);
  /// What rows that ask for the op's result ask of its operands; `demandOf` is null for a value of
  /// which it does not matter.
  void askOperands(mlir::Operation *op, const Demand &demand,
                   llvm::function_ref<Demand *(mlir::Value)> demandOf);
  /// Emits the errors of a translated block, each for the rows that ask for its op.
  void raiseFailures(mlir::Block &block);

  mlir::Value selectValue(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value i1(bool value);
  mlir::Value integer(__int128 value, unsigned bits);
  mlir::Value andValues(mlir::Value a, mlir::Value b); ///< either may be null: true

  mlir::OpBuilder &b_;
  mlir::Location loc_;
  mlir::Operation *op_ = nullptr; ///< that is being translated
  /// Rows for which an op has no value.
  struct Failure {
    mlir::Operation *op;
    mlir::Location location;
    mlir::Value condition;
    pipe::DataError error;
  };
  std::vector<Failure> failures_;
  /// In a region of an expression: what fails there, for who asks for the region's value; null
  /// elsewhere.
  std::vector<Failure> *raised_ = nullptr;
  llvm::DenseMap<mlir::Value, Scalar> scalars_;
};

} // namespace headrace::form
