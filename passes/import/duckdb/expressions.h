// Bound expressions of DuckDB's plans.
#ifndef HEADRACE_PASSES_IMPORT_DUCKDB_EXPRESSIONS_H
#define HEADRACE_PASSES_IMPORT_DUCKDB_EXPRESSIONS_H

#include "passes/import/Moments.h"
#include "passes/import/RelationBuilder.h"
#include "passes/import/duckdb/plan.h"

namespace headrace::import::duckdb {

/// Functions without arguments whose values are drawn, other ones for each row, call and run.
inline constexpr llvm::StringLiteral kRandomFunctions[] = {"random", "uuid", "gen_random_uuid",
                                                           "uuidv4", "uuidv7"};
inline bool isRandomFunction(llvm::StringRef name) {
  return llvm::is_contained(kRandomFunctions, name);
}

/// Imports expressions into the regions of ExpressionBuilders. One for a query.
class ExpressionImporter {
public:
  ExpressionImporter(ImportContext &context, const ImportOptions &options);

  /// `fieldsBefore` is added to the positions of columns: those of a right side count behind the
  /// left side's. `at`: the place of what the expression is part of.
  MaybeExpression import(ExpressionBuilder &b, Node expression, mlir::Location at,
                         int64_t fieldsBefore = 0);
  /// The same for later.
  Computed computed(Node expression, mlir::Location at, int64_t fieldsBefore = 0);

  /// Of the first fields of what is computed from: numbers or timestamps from one to another.
  Computed computedSeries(size_t bounds, bool withStop, mlir::Type element, mlir::Location at);

  /// DuckDB's binder compares normalized intervals: the expression inside of such a call, or of one
  /// that does the same to what is nested; the expression itself if it is another.
  static Node beforeNormalized(Node expression);

  /// The error of one that texts have no function for.
  mlir::LogicalResult unsupportedCollation(llvm::StringRef name, mlir::Location at);

  /// Has calls of random functions that are imported once more draw other numbers.
  void drawAnew() { randomCalls.clear(); }

  /// The number of the table that expressions name columns of where they do not count them.
  std::optional<int64_t> inputTable;

  mlir::Location locate(Node expression, mlir::Location otherwise) const {
    return text.locate(expression, otherwise);
  }

private:
  using Arguments = llvm::ArrayRef<Expression>;
  using Misfit = ExpressionBuilder::Misfit;
  /// A call that is being imported.
  struct Call {
    Node node;
    llvm::StringRef name;
    mlir::Type type; ///< of the result
    mlir::Location at;
  };

  MaybeExpression importByType(ExpressionBuilder &b, Node expression, llvm::StringRef type,
                               mlir::Location at, int64_t fieldsBefore);
  MaybeExpression importCast(ExpressionBuilder &b, Node expression, mlir::Location at,
                             int64_t fieldsBefore);
  MaybeExpression importTry(ExpressionBuilder &b, Node expression, mlir::Location at,
                            int64_t fieldsBefore);
  MaybeExpression importBetween(ExpressionBuilder &b, Node expression, mlir::Location at,
                                int64_t fieldsBefore);
  MaybeExpression importCase(ExpressionBuilder &b, Node expression, mlir::Location at,
                             int64_t fieldsBefore);
  mlir::FailureOr<llvm::SmallVector<Expression>> importAll(ExpressionBuilder &b,
                                                           llvm::ArrayRef<Node> nodes,
                                                           mlir::Location at, int64_t fieldsBefore);
  /// A value as another type, whatever it is.
  MaybeExpression castValue(ExpressionBuilder &b, const Expression &operand, mlir::Type type,
                            Misfit misfit, mlir::Location at);
  /// To or from a UUID, which is no text's cast.
  MaybeExpression castUuid(ExpressionBuilder &b, const Expression &operand, mlir::Type type,
                           Misfit misfit, mlir::Location at);
  // nested_casts.cpp
  /// To or from an ENUM.
  MaybeExpression castEnum(ExpressionBuilder &b, const Expression &operand, mlir::Type type,
                           Misfit misfit, mlir::Location at);
  MaybeExpression castMoment(ExpressionBuilder &b, const Expression &operand, mlir::Type type,
                             Misfit misfit, mlir::Location at);
  /// Likewise, where a moment with a zone is what clocks show.
  MaybeExpression castShown(ExpressionBuilder &b, const Expression &operand, mlir::Type type,
                            Misfit misfit, mlir::Location at);
  // functions.cpp
  MaybeExpression importCall(ExpressionBuilder &b, Node expression, mlir::Location at,
                             int64_t fieldsBefore);
  std::optional<MaybeExpression> importOfAnyType(ExpressionBuilder &b, const Call &call,
                                                 Arguments arguments);
  std::optional<MaybeExpression> importOperator(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments);
  MaybeExpression importByColumn(ExpressionBuilder &b, frame::NumberFunction function,
                                 const Call &call, Arguments arguments);
  MaybeExpression importTruncated(ExpressionBuilder &b, const Call &call, const Expression &value,
                                  int64_t digits);
  MaybeExpression importFactorial(ExpressionBuilder &b, const Call &call, const Expression &value);
  std::optional<MaybeExpression> importRandom(ExpressionBuilder &b, const Call &call,
                                              Arguments arguments);
  std::optional<MaybeExpression> importNumberFunction(ExpressionBuilder &b, const Call &call,
                                                      Arguments arguments);
  MaybeExpression importDateOperator(ExpressionBuilder &b, const Call &call, const Expression &lhs,
                                     const Expression &rhs, ExpressionBuilder::Arithmetic op);
  // bits.cpp
  MaybeExpression importBits(ExpressionBuilder &b, const Call &call, const MathFunction &function,
                             Arguments arguments);
  MaybeExpression importBitCount(ExpressionBuilder &b, const Call &call, const Expression &value);
  // unsigned128.cpp
  /// Nothing if no argument is an unsigned integer of 128 bits, or the function is as of others.
  std::optional<MaybeExpression> importUnsigned128(ExpressionBuilder &b, const Call &call,
                                                   Arguments arguments);
  /// To or from one, which has casts to and from texts alone.
  MaybeExpression castUnsigned128(ExpressionBuilder &b, const Expression &operand, mlir::Type type,
                                  ExpressionBuilder::Misfit misfit, mlir::Location at);
  // intervals.cpp
  static bool isInterval(Node expression);
  /// Whether an expression of an interval is a call that `importInterval` makes of parts.
  static bool makesInterval(Node expression);
  /// The operands of a comparison of intervals that are made here, as what they are compared by;
  /// of others themselves.
  mlir::FailureOr<llvm::SmallVector<Expression>> importComparable(ExpressionBuilder &b,
                                                                  llvm::ArrayRef<Node> nodes,
                                                                  mlir::Location at,
                                                                  int64_t fieldsBefore);
  mlir::FailureOr<Interval> importInterval(ExpressionBuilder &b, Node expression,
                                           mlir::Location otherwise, int64_t fieldsBefore);
  /// The sum or difference of two.
  mlir::FailureOr<Interval> importSum(ExpressionBuilder &b, Node expression, mlir::Location at,
                                      int64_t fieldsBefore);
  mlir::FailureOr<Interval> importMultiple(ExpressionBuilder &b, Node expression, mlir::Location at,
                                           int64_t fieldsBefore);
  mlir::FailureOr<Interval> importTruncated(ExpressionBuilder &b, Node expression,
                                            mlir::Location at, int64_t fieldsBefore);
  /// An interval that is made of timestamps or numbers.
  mlir::FailureOr<Interval> importMade(ExpressionBuilder &b, Node expression, mlir::Location at,
                                       int64_t fieldsBefore);
  /// How many microseconds one timestamp is later than another.
  Expression importDifference(ExpressionBuilder &b, Arguments timestamps, mlir::Location at);
  /// What is made of timestamps; an error where one of them is infinite.
  Expression finiteOrError(ExpressionBuilder &b, Arguments timestamps, const Expression &micros,
                           mlir::Location at);
  mlir::FailureOr<Interval> importAge(ExpressionBuilder &b, Arguments arguments, mlir::Location at);
  /// Microseconds, with 30 days a month, as a number of the type: what intervals are compared by.
  Expression totalOf(ExpressionBuilder &b, const Interval &interval, mlir::Type type,
                     mlir::Location at);
  MaybeExpression moveBy(ExpressionBuilder &b, const Expression &moment, const Interval &interval,
                         mlir::Location at);
  MaybeExpression moveAtOnce(ExpressionBuilder &b, const Expression &moment,
                             const Interval &interval, mlir::Location at);
  MaybeExpression importPartOfInterval(ExpressionBuilder &b, const Call &call,
                                       const Interval &interval);
  MaybeExpression importBucket(ExpressionBuilder &b, const Call &call, int64_t fieldsBefore);
  /// Nothing if no argument is an interval.
  std::optional<MaybeExpression> importWithInterval(ExpressionBuilder &b, const Call &call,
                                                    int64_t fieldsBefore);
  // formats.cpp
  std::optional<MaybeExpression> importFormat(ExpressionBuilder &b, const Call &call,
                                              Arguments arguments);
  mlir::LogicalResult unsupportedForm(const Call &call, llvm::StringRef form,
                                      const Expression &value);
  MaybeExpression importFormatted(ExpressionBuilder &b, const Call &call, llvm::StringRef form,
                                  const Expression &given);
  std::optional<MaybeExpression> importBar(ExpressionBuilder &b, const Call &call,
                                           Arguments arguments);
  // moments.cpp
  MaybeExpression importParts(ExpressionBuilder &b, const Call &call, const Expression &moment);
  MaybeExpression importStrptime(ExpressionBuilder &b, const Call &call, Arguments arguments);
  std::optional<MaybeExpression> importDateFunction(ExpressionBuilder &b, const Call &call,
                                                    Arguments arguments);
  std::optional<MaybeExpression> importPart(ExpressionBuilder &b, const Call &call,
                                            Arguments arguments);
  std::optional<MaybeExpression> importClock(ExpressionBuilder &b, const Call &call);
  /// Microseconds since 1970.
  mlir::FailureOr<int64_t> momentOfQuery(llvm::StringRef function, mlir::Location at);
  // text_functions.cpp
  std::optional<MaybeExpression> importPattern(ExpressionBuilder &b, const Call &call,
                                               Arguments arguments);
  /// Parts of a text by positions: substring, left, right.
  std::optional<MaybeExpression> importCut(ExpressionBuilder &b, const Call &call,
                                           Arguments arguments);
  /// The call of string_split in `COALESCE(string_split(x, by)[n], '')`, which DuckDB makes of
  /// split_part; null for every other expression.
  static Node splitList(Node expression);
  MaybeExpression importSplitPart(ExpressionBuilder &b, Node expression, Node list,
                                  mlir::Location at, int64_t fieldsBefore);
  // list_functions.cpp
  std::optional<MaybeExpression> importListFunction(ExpressionBuilder &b, const Call &call,
                                                    Arguments arguments);
  MaybeExpression importListOfLists(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importSlice(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importPlace(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importChosen(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importCommon(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importSplit(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importGroups(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importZip(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importSortedList(ExpressionBuilder &b, const Call &call, Arguments arguments);
  /// Numbers or timestamps from one or two bounds on, the last perhaps with them; the third is the
  /// step.
  MaybeExpression seriesOf(ExpressionBuilder &b, Arguments bounds, bool withStop, mlir::Type list,
                           mlir::Location at);
  MaybeExpression importRange(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importResized(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importListAggregate(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importListQuantiles(ExpressionBuilder &b, const Call &call, llvm::StringRef name,
                                      const Expression &list, llvm::ArrayRef<Quantile> quantiles);
  // lambdas.cpp
  /// Whether the call of a function has a lambda.
  static bool isLambda(Node call);
  /// The body of a lambda, which is called with values.
  MaybeExpression importInvoked(ExpressionBuilder &b, Node expression, mlir::Location at,
                                int64_t fieldsBefore);
  MaybeExpression importLambda(ExpressionBuilder &b, Node expression, mlir::Location at,
                               int64_t fieldsBefore);
  /// What a lambda says but for its body; of a reduce with the type of the value so far.
  ExpressionBuilder::Lambda makeLambda(const Call &call, const Expression &list, Arguments captures,
                                       mlir::Type soFar);
  MaybeExpression importMapped(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importReduced(ExpressionBuilder &b, const Call &call, Arguments arguments);
  // json_functions.cpp
  /// What JSON must be to be cast to a struct: anything, with NULL where it does not fit; an object
  /// with all of the keys; or with these alone. A transform is as the first, and reads strings as
  /// casts of texts do.
  enum class JsonCast : int64_t { kNull, kAllKeys, kExactKeys, kTransform };
  static Misfit misfitOf(JsonCast how);
  /// The type of an expression in the plan.
  static Node typeOf(Node expression);
  std::optional<MaybeExpression> importJsonFunction(ExpressionBuilder &b, const Call &call,
                                                    Arguments arguments);
  MaybeExpression importJsonPath(ExpressionBuilder &b, const Call &call,
                                 const headrace::TextFunction &of, Arguments arguments);
  MaybeExpression importToJson(ExpressionBuilder &b, const Call &call, Arguments arguments);
  /// JSON of a value of a type of the plan; NULL where that is NULL.
  MaybeExpression toJson(ExpressionBuilder &b, const Expression &value, Node type,
                         mlir::Location at);
  MaybeExpression toJsonOrNull(ExpressionBuilder &b, const Expression &value, Node type,
                               mlir::Location at);
  MaybeExpression structToJson(ExpressionBuilder &b, const Expression &value, Node type,
                               mlir::Location at);
  /// A value of a type of the plan from JSON.
  MaybeExpression fromJson(ExpressionBuilder &b, const Expression &value, Node type, JsonCast how,
                           mlir::Location at);
  MaybeExpression jsonToStruct(ExpressionBuilder &b, const Expression &value, Node type,
                               frame::StructType to, JsonCast how, mlir::Location at);
  MaybeExpression jsonToMap(ExpressionBuilder &b, const Expression &value, Node type,
                            frame::MapType to, JsonCast how, mlir::Location at);
  MaybeExpression jsonToScalar(ExpressionBuilder &b, const Expression &value, mlir::Type to,
                               JsonCast how, mlir::Location at);
  /// What of a text is JSON in a type of the plan is read as such.
  MaybeExpression textToJson(ExpressionBuilder &b, const Expression &value, Node type,
                             Misfit misfit, mlir::Location at);
  MaybeExpression textToJsonList(ExpressionBuilder &b, const Expression &value, Node element,
                                 frame::ListType to, Misfit misfit, mlir::Location at);
  MaybeExpression textToJsonMap(ExpressionBuilder &b, const Expression &value, Node type,
                                frame::MapType to, Misfit misfit, mlir::Location at);
  static MaybeExpression apart(ExpressionBuilder &b, llvm::StringRef name,
                               llvm::ArrayRef<Expression> of, mlir::Type type, JsonCast how,
                               mlir::Location at);
  /// Nothing if JSON has no part in a cast.
  std::optional<MaybeExpression> importJsonCast(ExpressionBuilder &b, const Expression &operand,
                                                Node from, Node to, Misfit misfit,
                                                mlir::Location at);
  // nested_casts.cpp
  /// A call of a function of texts; NULL where it fails, if a misfit is NULL.
  static MaybeExpression callOrNull(ExpressionBuilder &b, llvm::StringRef function,
                                    llvm::ArrayRef<Expression> of, mlir::Type type, Misfit misfit,
                                    mlir::Location at);
  MaybeExpression castNested(ExpressionBuilder &b, const Expression &value, mlir::Type type,
                             Misfit misfit, mlir::Location at);
  MaybeExpression castStruct(ExpressionBuilder &b, const Expression &value, frame::StructType type,
                             Misfit misfit, mlir::Location at);
  MaybeExpression castMap(ExpressionBuilder &b, const Expression &value, frame::MapType type,
                          Misfit misfit, mlir::Location at);
  /// Of a text to what is nested.
  MaybeExpression castText(ExpressionBuilder &b, const Expression &value, mlir::Type type,
                           Misfit misfit, mlir::Location at);
  MaybeExpression castTextToStruct(ExpressionBuilder &b, const Expression &value,
                                   frame::StructType type, Misfit misfit, mlir::Location at);
  /// The names of a struct's fields, as a list.
  static MaybeExpression namesOf(ExpressionBuilder &b, frame::StructType type, mlir::Location at);
  /// Of a list with a text for each field, which `make` makes a field of; NULL where the list is.
  static MaybeExpression
  structOfTexts(ExpressionBuilder &b, const MaybeExpression &texts, frame::StructType type,
                mlir::Location at,
                llvm::function_ref<MaybeExpression(const Expression &text, size_t field)> make);
  MaybeExpression castList(ExpressionBuilder &b, const Expression &list, mlir::Type type,
                           Misfit misfit, mlir::Location at);
  MaybeExpression castArray(ExpressionBuilder &b, const Expression &value, frame::ListType type,
                            Misfit misfit, mlir::Location at);
  MaybeExpression castElements(ExpressionBuilder &b, const Expression &list, frame::ListType type,
                               Misfit misfit, mlir::Location at);
  MaybeExpression castStructs(ExpressionBuilder &b, const Expression &list, frame::ListType type,
                              Misfit misfit, mlir::Location at);
  // untyped_nulls.cpp
  /// A value of the type `given` of the plan, whose NULLs without a type get that which is wanted.
  static MaybeExpression withTypedNulls(ExpressionBuilder &b, const Expression &value, Node given,
                                        mlir::Type wanted, mlir::Location at);
  // struct_functions.cpp
  /// Whether a function's arguments may be of any type: none of structs or of maps alone.
  static bool takesAnyType(llvm::StringRef function);
  std::optional<MaybeExpression> importStructFunction(ExpressionBuilder &b, const Call &call,
                                                      Arguments arguments);
  MaybeExpression importPlaceOfField(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importKeysOrValues(ExpressionBuilder &b, const Call &call,
                                     const Expression &value);
  MaybeExpression importExtract(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importWithFields(ExpressionBuilder &b, const Call &call, Arguments arguments);
  // map_functions.cpp
  std::optional<MaybeExpression> importMapFunction(ExpressionBuilder &b, const Call &call,
                                                   Arguments arguments);
  MaybeExpression importMap(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importMerge(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importPathPart(ExpressionBuilder &b, const Call &call, Arguments arguments);
  MaybeExpression importSimilarity(ExpressionBuilder &b, const Call &call, Arguments arguments);
  std::optional<MaybeExpression> importTextFunction(ExpressionBuilder &b, const Call &call,
                                                    Arguments arguments);
  mlir::LogicalResult unsupported(const Call &call, const llvm::Twine &why);

  ImportContext &context;
  const ImportOptions &options;
  QueryText text;
  unsigned depth = 0;
  /// The first draws of random functions' calls: one that is imported again, for the same row,
  /// draws the same number.
  llvm::DenseMap<const void *, int64_t> randomCalls;
  int64_t randomCallCount = 0;
};

/// What computes an aggregate of a list, as the only element of another; null if nothing does.
const headrace::TextFunction *aggregateOfLists(llvm::StringRef name);

} // namespace headrace::import::duckdb

#endif // HEADRACE_PASSES_IMPORT_DUCKDB_EXPRESSIONS_H
