// Builds the expression region of a relational op of `frame`, whatever the front end: types follow
// from operands, nullability too. What can be wrong fails with the place that the caller gives.
#ifndef HEADRACE_PASSES_IMPORT_EXPRESSIONBUILDER_H
#define HEADRACE_PASSES_IMPORT_EXPRESSIONBUILDER_H

#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"
#include "passes/import/ImportContext.h"
#include "llvm/ADT/MapVector.h"

#include <functional>
#include <optional>

namespace headrace::import {

/// An expression: the value, and how it reads.
struct Expression {
  mlir::Value value;
  std::string text;

  mlir::Type type() const { return value.getType(); }
};

using MaybeExpression = mlir::FailureOr<Expression>;

/// Builds one region. Columns become block arguments when first used.
class ExpressionBuilder {
public:
  /// `fields`: the columns that positions mean, of `tables`, if they are of any. `identity`: those
  /// that tell a row from all others.
  ExpressionBuilder(ImportContext &context, llvm::ArrayRef<frame::Column> fields,
                    llvm::ArrayRef<mlir::Value> tables = {},
                    llvm::ArrayRef<frame::Column> identity = {});

  /// Ends the region. The caller moves it into its op.
  std::unique_ptr<mlir::Region> finish(mlir::ValueRange yielded, mlir::Location location);
  /// The columns of the block arguments.
  mlir::ArrayAttr columns() const;
  mlir::MLIRContext *getContext() const { return context.getContext(); }

  MaybeExpression field(int64_t index, mlir::Location at);
  /// What `use` makes, to which positions mean these values.
  MaybeExpression inPlaceOfFields(llvm::ArrayRef<Expression> values,
                                  llvm::function_ref<MaybeExpression()> use);
  /// `value` as `frame.constant` keeps it; a UnitAttr is NULL.
  Expression constant(mlir::Attribute value, mlir::Type type, mlir::Location at);
  Expression null(mlir::Type type, mlir::Location at);
  Expression integer(int64_t value, mlir::Type type, mlir::Location at);
  /// The constant that `expression` is; null if it is none.
  static mlir::Attribute constantOf(const Expression &expression);
  /// The integer constant that `expression` is.
  static std::optional<int64_t> integerOf(const Expression &expression);
  /// The string constant that `expression` is.
  static std::optional<llvm::StringRef> stringOf(const Expression &expression);
  static bool isNullConstant(const Expression &expression);
  /// Whether a date or timestamp may be infinite, by what is known of the tables.
  bool mayBeInfinite(const Expression &moment);

  /// What a value that cannot be converted does: raises an error, or becomes NULL.
  enum class Misfit { kRaises, kNull };
  /// Converts to `type` (its nullability does not count); a constant becomes a constant if that is
  /// exact.
  MaybeExpression cast(const Expression &operand, mlir::Type type, mlir::Location at,
                       Misfit misfit = Misfit::kRaises);

  enum class Arithmetic { kAdd, kSubtract, kMultiply, kDivide, kModulus };
  /// `type`: of the result; its nullability does not count.
  MaybeExpression arithmetic(Arithmetic op, const Expression &lhs, const Expression &rhs,
                             mlir::Type type, mlir::Location at);
  MaybeExpression negate(const Expression &operand, mlir::Location at);
  MaybeExpression number(frame::NumberFunction function, const Expression &operand,
                         std::optional<int64_t> digits, mlir::Type type, mlir::Location at);

  /// A function of doubles or integers; arguments become such, and what it gives a `type`.
  MaybeExpression math(const MathFunction &function, llvm::ArrayRef<Expression> arguments,
                       mlir::Type type, mlir::Location at);

  /// A product of two doubles with all its digits.
  Expression exactProduct(const Expression &lhs, const Expression &rhs, mlir::Location at);
  /// The double nearest to a sum of such products.
  Expression nearest(const Expression &sum, mlir::Location at);
  /// What is left of the exact sum of products without the means, of which these are the sums.
  Expression comoment(const Expression &sum, const Expression &other, const Expression &products,
                      const Expression &count, mlir::Location at);

  MaybeExpression compare(frame::CompareKind kind, const Expression &lhs, const Expression &rhs,
                          mlir::Location at);
  MaybeExpression isDistinct(const Expression &lhs, const Expression &rhs, mlir::Location at);
  MaybeExpression oneOf(const Expression &operand, llvm::ArrayRef<Expression> options,
                        mlir::Location at);
  enum class Connective { kAnd, kOr };
  MaybeExpression connect(Connective connective, llvm::ArrayRef<Expression> operands,
                          mlir::Location at);
  MaybeExpression negation(const Expression &operand, mlir::Location at);
  Expression isNull(const Expression &operand, mlir::Location at);
  MaybeExpression isNotNull(const Expression &operand, mlir::Location at);

  /// Without `otherwise` it is NULL.
  MaybeExpression choose(llvm::ArrayRef<Expression> conditions, llvm::ArrayRef<Expression> values,
                         const Expression *otherwise, mlir::Location at);
  MaybeExpression coalesce(llvm::ArrayRef<Expression> operands, mlir::Location at);
  MaybeExpression nullIf(const Expression &operand, const Expression &other, mlir::Location at);
  enum class Extreme { kGreatest, kLeast };
  /// A NULL is passed over.
  MaybeExpression extreme(Extreme which, llvm::ArrayRef<Expression> operands, mlir::Location at);

  MaybeExpression like(const Expression &operand, llvm::StringRef pattern,
                       std::optional<llvm::StringRef> escape, mlir::Location at);
  /// LIKE without regard to case; letters of the pattern must be ASCII.
  MaybeExpression likeAnyCase(const Expression &operand, llvm::StringRef pattern,
                              std::optional<llvm::StringRef> escape, mlir::Location at);
  enum class Part { kStart, kEnd, kAnywhere };
  /// Whether `part` of the string is `text`, in which nothing has a meaning of its own.
  MaybeExpression contains(Part part, const Expression &operand, llvm::StringRef text,
                           mlir::Location at);
  /// The characters from `start` (1 is the first), to the end without a length; integers both.
  MaybeExpression substring(const Expression &operand, const Expression &start,
                            const std::optional<Expression> &length, mlir::Location at);
  /// How many characters a string has, as an i64.
  MaybeExpression lengthOf(const Expression &operand, mlir::Location at);
  /// A function of strings; what it gives becomes a `type`.
  MaybeExpression text(const TextFunction &function, llvm::ArrayRef<Expression> arguments,
                       mlir::Type type, mlir::Location at);
  /// What a function gives that makes a list of one, as those that give a double do.
  MaybeExpression onlyElement(const TextFunction &function, llvm::ArrayRef<Expression> arguments,
                              mlir::Type type, mlir::Location at);

  /// A list of values, which become elements of this type.
  MaybeExpression list(mlir::Type element, llvm::ArrayRef<Expression> elements, mlir::Location at);
  MaybeExpression listOfOne(const Expression &element, mlir::Location at);
  /// An element of a list; NULL where there is none.
  MaybeExpression element(const Expression &list, const Expression &position, mlir::Location at);
  /// `value`; NULL where a list has nothing but NULL.
  MaybeExpression ofAny(const Expression &list, const MaybeExpression &value, mlir::Location at);
  /// The map, of this type, of the elements that are not NULL to how many there are of each.
  MaybeExpression countsOf(const Expression &list, mlir::Type map, mlir::Location at);
  /// A function of an element of a list.
  struct Lambda {
    std::string text;                        ///< how it reads
    llvm::SmallVector<frame::Column> fields; ///< what positions mean in its body, all named apart
    std::optional<int64_t> soFar, place;     ///< of the value so far, and of the element's place
    int64_t element = 0;                     ///< of the element
    int64_t firstCapture = 0;                ///< of what is captured, the last fields
    llvm::SmallVector<Expression> captures;
    std::function<MaybeExpression(ExpressionBuilder &)> body;
  };
  /// The lists that the function makes of a list's elements as one list, of this type.
  MaybeExpression flatMap(const Expression &list, const Lambda &lambda, frame::ListType type,
                          mlir::Location at);
  /// What the function makes of a value and the list's elements from the place `first` on.
  MaybeExpression reduce(const Expression &list, const Expression &initial, const Lambda &lambda,
                         int64_t first, mlir::Type type, mlir::Location at);
  /// What `body` makes over the same fields; NULL where it fails.
  MaybeExpression attempt(llvm::function_ref<MaybeExpression(ExpressionBuilder &)> body,
                          mlir::Location at);
  /// A struct of values, which become fields of these types.
  MaybeExpression structOf(frame::StructType type, llvm::ArrayRef<Expression> fields,
                           mlir::Location at);
  /// A field of a struct, by its place.
  Expression fieldOf(const Expression &operand, unsigned index, mlir::Location at);
  /// What is nested, as a string.
  MaybeExpression printed(const Expression &operand, mlir::Location at);
  /// Likewise in a shape (list_functions.h).
  MaybeExpression printed(const Expression &operand, llvm::StringRef shape, mlir::Location at);
  /// What orders values as the operand does: of what is nested a string, of intervals a binary, of
  /// others themselves.
  MaybeExpression orderOf(const Expression &operand, mlir::Location at);
  /// Of what is nested, or an interval, a text with it, in the same order; and what is in such a
  /// text.
  MaybeExpression keyed(const Expression &operand, mlir::Location at);
  MaybeExpression valueOfKeyed(const Expression &text, mlir::Type type, mlir::Location at);
  /// What is equal where values are: likewise of intervals, and of what is nested and has some.
  MaybeExpression equalityOf(const Expression &operand, mlir::Location at);

  /// Of a date or timestamp of microseconds; only a timestamp is moved by microseconds.
  MaybeExpression shiftDate(const Expression &operand, int64_t months, int64_t days,
                            int64_t microseconds, mlir::Location at);
  /// A number, an i64, that tells the row from all others; of one row, or none that is known, 0.
  Expression rowNumber(mlir::Location at);
  /// The numbers, i64s, that together tell the row from all others.
  llvm::SmallVector<Expression> rowNumbers(mlir::Location at);
  /// A double from 0 to below 1 that follows from the row, the run, and the number of the call.
  MaybeExpression random(int64_t call, mlir::Location at);
  /// A UUID of version 4 that follows from the same; it takes kDrawsOfUuid calls from this one on.
  MaybeExpression randomUuid(int64_t call, mlir::Location at);
  static constexpr int64_t kDrawsOfUuid = 3;
  /// Likewise one of version 7, with that moment.
  MaybeExpression timedUuid(int64_t call, int64_t millis, mlir::Location at);
  /// Fails the query for the rows that reach it.
  MaybeExpression raise(frame::RaiseKind kind, llvm::StringRef message, mlir::Type type,
                        mlir::Location at);
  /// Of i64s.
  Expression makeDate(const Expression &year, const Expression &month, const Expression &day,
                      mlir::Location at);
  /// Of a date, an i64.
  Expression dateField(frame::DateField field, const Expression &date, mlir::Location at);

  /// Fails unless the value is boolean.
  mlir::LogicalResult expectBoolean(const Expression &expression, llvm::StringRef what,
                                    mlir::Location at);
  mlir::LogicalResult fail(mlir::Location at, const llvm::Twine &message) {
    return context.fail(at, message);
  }
  Zones &zones() { return context.zones(); }

private:
  /// The region of a function, and the captures that it needs.
  std::unique_ptr<mlir::Region> finishLambda(const Lambda &lambda, mlir::Type type,
                                             llvm::SmallVectorImpl<mlir::Value> &captures,
                                             mlir::Location at);
  /// The argument that is this column.
  mlir::Value argument(const frame::Column &column, mlir::Location at);
  /// What random functions follow from.
  Expression runSeed(mlir::Location at);
  /// A value with its rendering, which is cut where it gets long.
  Expression made(mlir::Value value, std::string text) const;
  mlir::Type booleanFor(mlir::TypeRange operands) const;
  mlir::Location locate(llvm::StringRef text, mlir::Location at) const {
    return context.named(text, at);
  }

  ImportContext &context;
  llvm::SmallVector<frame::Column> fields, identity;
  std::optional<llvm::ArrayRef<Expression>> inPlace; ///< of the fields
  llvm::SmallVector<mlir::Value> tables;
  std::unique_ptr<mlir::Region> region;
  llvm::MapVector<mlir::StringAttr, mlir::Value> arguments;
  mlir::OpBuilder builder;
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_EXPRESSIONBUILDER_H
