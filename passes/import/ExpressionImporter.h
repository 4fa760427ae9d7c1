// Substrait expressions as the region of a relational op of `frame`.
#ifndef HEADRACE_PASSES_IMPORT_EXPRESSIONIMPORTER_H
#define HEADRACE_PASSES_IMPORT_EXPRESSIONIMPORTER_H

#include "dialects/frame/FrameOps.h"
#include "passes/import/SubstraitJson.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <functional>

namespace headrace::import::substrait {

/// What expressions need of the whole import.
struct ExpressionEnvironment {
  mlir::MLIRContext *context;
  /// Substrait's function anchors.
  llvm::DenseMap<int64_t, std::string> functions;
  /// Makes the value of a scalar subquery (given its relation), outside of any region.
  std::function<mlir::FailureOr<mlir::Value>(Node)> importScalarSubquery;
  /// Makes the number of rows of a relation, at most one, outside of any region.
  std::function<mlir::FailureOr<mlir::Value>(Node)> importRowCount;
  /// Relations and expressions that are open; bounded so that no document exhausts the stack.
  unsigned depth = 0;
};

/// Counts one level of nesting while it lives.
class SubstraitNestingGuard {
public:
  static constexpr unsigned kDepthMax = 500;
  explicit SubstraitNestingGuard(ExpressionEnvironment &environment) : depth(environment.depth) {
    ++depth;
  }
  ~SubstraitNestingGuard() { --depth; }
  mlir::LogicalResult check(Node node) const;

private:
  unsigned &depth;
};

/// An imported expression: the value, and how it reads.
struct Expression {
  mlir::Value value;
  std::string text;
};

/// The position of a plain reference to an input column; nothing if `expression` is anything else.
std::optional<int64_t> fieldIndex(Node expression);

/// Builds one expression region. Columns become block arguments when first used.
class ExpressionImporter {
public:
  /// `fields`: the columns that Substrait's field indices mean.
  ExpressionImporter(ExpressionEnvironment &environment, llvm::ArrayRef<frame::Column> fields);

  mlir::FailureOr<Expression> importExpression(Node expression);

  /// CASE WHEN `condition` THEN `value` END; an absent value is 1.
  mlir::FailureOr<Expression> importGuarded(Node condition, Node value);

  /// Ends the region. The caller moves it into its op.
  std::unique_ptr<mlir::Region> finish(mlir::ValueRange yielded, mlir::Location location);

  /// The columns of the block arguments.
  mlir::ArrayAttr columns() const;
  mlir::Location locate(Node node, llvm::StringRef text) const;
  /// For conjunctions that are put together again from their parts; null for none.
  mlir::Value conjunction(llvm::ArrayRef<mlir::Value> parts, mlir::Location location);

private:
  mlir::FailureOr<Expression> importField(Node expression, int64_t index);
  mlir::FailureOr<Expression> importLiteral(Node expression, Node literal);
  mlir::FailureOr<Expression> importCast(Node expression, Node cast);
  mlir::FailureOr<Expression> importIfThen(Node expression, Node ifThen);
  mlir::FailureOr<Expression> importOneOf(Node expression, Node list);
  mlir::FailureOr<Expression> importSubquery(Node expression, Node subquery);
  mlir::FailureOr<Expression> importExists(Node expression, Node predicate);
  mlir::FailureOr<Expression> importFunction(Node expression, Node function);

  mlir::FailureOr<Expression> importComparison(Node expression, frame::CompareKind kind,
                                               llvm::ArrayRef<Expression> arguments);
  mlir::FailureOr<Expression> importArithmetic(Node expression, llvm::StringRef name,
                                               llvm::ArrayRef<Expression> arguments);
  mlir::FailureOr<Expression> importLogic(Node expression, llvm::StringRef name, Node function);
  mlir::FailureOr<Expression> importLike(Node expression, llvm::StringRef name,
                                         llvm::ArrayRef<Node> arguments);
  mlir::FailureOr<Expression> importLeft(Node expression, llvm::ArrayRef<Node> arguments);
  mlir::FailureOr<Expression> importSubstring(Node expression, llvm::ArrayRef<Node> arguments);
  mlir::FailureOr<Expression> importDatePart(Node expression, llvm::ArrayRef<Node> arguments);
  mlir::FailureOr<Expression> importComputedDatePart(Node expression, llvm::StringRef part,
                                                     Node operand);
  // ScalarFunctionImporter.cpp
  /// A function of numbers, strings or dates; nothing if the name is none of them.
  std::optional<mlir::FailureOr<Expression>>
  importScalarFunction(Node expression, llvm::StringRef name, llvm::ArrayRef<Node> nodes);
  mlir::FailureOr<Expression> importNumberFunction(Node expression, frame::NumberFunction function,
                                                   llvm::ArrayRef<Node> nodes);
  mlir::FailureOr<Expression> importTextFunction(Node expression, frame::TextFunction function,
                                                 llvm::StringRef name, llvm::ArrayRef<Node> nodes);
  mlir::FailureOr<Expression> importDateArithmetic(Node expression, llvm::StringRef name,
                                                   llvm::ArrayRef<Node> nodes);
  mlir::FailureOr<Expression> importTruthTest(Node expression, llvm::StringRef name,
                                              llvm::ArrayRef<Node> nodes);
  mlir::FailureOr<Expression> importChoice(Node expression, llvm::StringRef name,
                                           llvm::ArrayRef<Node> nodes);
  mlir::FailureOr<Expression> importUnary(Node expression, llvm::StringRef name,
                                          llvm::ArrayRef<Expression> arguments);
  mlir::FailureOr<Expression> importCoalesce(Node expression, llvm::ArrayRef<Expression> arguments);

  mlir::FailureOr<llvm::SmallVector<Expression>> importAll(llvm::ArrayRef<Node> nodes);
  mlir::Type booleanFor(mlir::TypeRange operands) const;

  ExpressionEnvironment &environment;
  llvm::SmallVector<frame::Column> fields;
  std::unique_ptr<mlir::Region> region;
  llvm::MapVector<mlir::StringAttr, mlir::Value> arguments;
  mlir::OpBuilder builder;
};

/// The name of a scalar or aggregate function call; fails if its anchor is unknown.
mlir::FailureOr<llvm::StringRef> functionName(const ExpressionEnvironment &environment, Node call);

/// The values of a call's arguments.
llvm::SmallVector<Node> callArguments(Node call);

/// The parts of nested calls of `and`, left to right; the expression itself if it is none.
void flattenConjunction(const ExpressionEnvironment &environment, Node expression,
                        llvm::SmallVectorImpl<Node> &parts);

} // namespace headrace::import::substrait

#endif // HEADRACE_PASSES_IMPORT_EXPRESSIONIMPORTER_H
