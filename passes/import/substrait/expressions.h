// Substrait's expressions.
#ifndef HEADRACE_PASSES_IMPORT_SUBSTRAIT_EXPRESSIONS_H
#define HEADRACE_PASSES_IMPORT_SUBSTRAIT_EXPRESSIONS_H

#include "passes/import/Json.h"
#include "passes/import/RelationBuilder.h"

#include <map>

namespace headrace::import::substrait {

/// Substrait's function names, by anchor.
using Functions = std::map<int64_t, std::string>;

/// How field indices become those of the builder: of a join whose sides change places.
struct FieldShift {
  int64_t boundary = 0; ///< the first index that is not below
  int64_t below = 0, above = 0;

  int64_t operator()(int64_t index) const { return index + (index < boundary ? below : above); }
};

/// The position of a plain reference to an input column; nothing if `expression` is anything else.
std::optional<int64_t> fieldIndex(Node expression);
/// The values of a call's arguments.
llvm::SmallVector<Node> callArguments(Node call);

/// Imports expressions into the regions of ExpressionBuilders. One for a plan.
class ExpressionImporter {
public:
  /// Makes the value of a subquery (given its relation), outside of any region.
  using ImportSubquery = std::function<mlir::FailureOr<mlir::Value>(Node)>;

  ExpressionImporter(ImportContext &context, Functions functions, ImportSubquery scalar,
                     ImportSubquery rowCount)
      : context(context), functions(std::move(functions)), scalar(std::move(scalar)),
        rowCount(std::move(rowCount)) {}

  MaybeExpression import(ExpressionBuilder &b, Node expression, FieldShift shift = {});
  /// The same for later.
  Computed computed(Node expression, FieldShift shift = {});

  /// The name of a scalar or aggregate function call; fails if its anchor is unknown.
  mlir::FailureOr<llvm::StringRef> functionName(Node call) const;
  /// The parts of nested calls of `and` or `or`, left to right; the expression itself if it is
  /// none.
  mlir::FailureOr<llvm::SmallVector<Node>> flatten(Node expression,
                                                   llvm::StringRef connective) const;

private:
  using Arguments = llvm::ArrayRef<Expression>;
  /// A scalar function call that is being imported.
  struct Call {
    Node expression;
    llvm::StringRef name;
    mlir::Location at;
    FieldShift shift;
  };

  mlir::FailureOr<llvm::SmallVector<Expression>>
  importAll(ExpressionBuilder &b, llvm::ArrayRef<Node> nodes, FieldShift shift);
  MaybeExpression importCast(ExpressionBuilder &b, Node expression, Node cast, FieldShift shift);
  MaybeExpression importIfThen(ExpressionBuilder &b, Node expression, Node ifThen,
                               FieldShift shift);
  MaybeExpression importOneOf(ExpressionBuilder &b, Node expression, Node list, FieldShift shift);
  MaybeExpression importSubquery(ExpressionBuilder &b, Node expression, Node subquery);
  // functions.cpp
  MaybeExpression importFunction(ExpressionBuilder &b, Node expression, Node function,
                                 FieldShift shift);
  MaybeExpression importLogic(ExpressionBuilder &b, const Call &call);
  /// A date plus or minus an interval; nothing if there is no interval among the arguments.
  std::optional<MaybeExpression> importInterval(ExpressionBuilder &b, const Call &call,
                                                llvm::ArrayRef<Node> nodes);
  std::optional<MaybeExpression> importArithmetic(ExpressionBuilder &b, const Call &call,
                                                  Arguments arguments);
  std::optional<MaybeExpression> importTruth(ExpressionBuilder &b, const Call &call,
                                             Arguments arguments);
  std::optional<MaybeExpression> importNumber(ExpressionBuilder &b, const Call &call,
                                              Arguments arguments);
  std::optional<MaybeExpression> importPattern(ExpressionBuilder &b, const Call &call,
                                               Arguments arguments);
  std::optional<MaybeExpression> importText(ExpressionBuilder &b, const Call &call,
                                            Arguments arguments);
  std::optional<MaybeExpression> importDatePart(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments);
  /// The type that the plan states, or `otherwise`; null (and an error) if it has none in `frame`.
  mlir::Type outputType(const Call &call, mlir::Type otherwise) const;
  mlir::LogicalResult refuse(const Call &call, const llvm::Twine &message) const {
    return context.fail(call.at, message);
  }

  ImportContext &context;
  Functions functions;
  ImportSubquery scalar, rowCount;
  unsigned depth = 0;
};

} // namespace headrace::import::substrait

#endif // HEADRACE_PASSES_IMPORT_SUBSTRAIT_EXPRESSIONS_H
