// A plan as DuckDB's json_serialize_plan writes it: where things stand in the query, which fields
// are known, types and constants.
#ifndef HEADRACE_PASSES_IMPORT_DUCKDB_PLAN_H
#define HEADRACE_PASSES_IMPORT_DUCKDB_PLAN_H

#include "dialects/frame/FrameTypes.h"
#include "passes/import/ImportOptions.h"
#include "passes/import/Json.h"
#include "runtime/base/interval_values.h"

namespace headrace::import::duckdb {

/// The positions of a query's text as lines and columns.
class QueryText {
public:
  QueryText(ImportContext &context, llvm::StringRef text);

  /// Where the expression `node` stands; `otherwise` if it does not say.
  mlir::Location locate(Node node, mlir::Location otherwise) const;

private:
  ImportContext &context;
  llvm::StringRef text;                 ///< empty: not known
  llvm::SmallVector<size_t> lineStarts; ///< in bytes
  /// In front of each block of kBlockBytes, as a line may be very long.
  llvm::SmallVector<size_t> charactersBefore;

  size_t charactersTo(size_t position) const;
};

/// A field of an object that its reader knows.
struct Field {
  llvm::StringRef name;
  enum class Use {
    kRead,     ///< by the importer
    kHarmless, ///< whatever it says, it changes nothing here
    kEmpty,    ///< only null, false, 0, "", [] and {} are understood
    kDefault,  ///< only `value` (or what kEmpty takes) is understood
  } use;
  llvm::StringRef value = {};
};

/// Fails for the first field of `object` that is not known, or says what is not understood. `what`
/// names the object for the message.
mlir::LogicalResult expectFields(Node object, llvm::StringRef what, llvm::ArrayRef<Field> fields,
                                 ImportContext &context, mlir::Location at);

/// The fields that every bound expression may have.
inline constexpr Field kExpressionFields[] = {{"expression_class", Field::Use::kHarmless},
                                              {"type", Field::Use::kRead},
                                              {"alias", Field::Use::kRead},
                                              {"query_location", Field::Use::kRead},
                                              {"query_location_length", Field::Use::kHarmless},
                                              {"return_type", Field::Use::kRead}};

/// expectFields for a bound expression, which has `fields` beside kExpressionFields.
mlir::LogicalResult expectExpression(Node expression, llvm::StringRef what,
                                     llvm::ArrayRef<Field> fields, ImportContext &context,
                                     mlir::Location at);

/// expectExpression for a call, cast or operator, which have their operands and function beside
/// `fields`.
mlir::LogicalResult expectCall(Node call, llvm::StringRef what, llvm::ArrayRef<Field> fields,
                               ImportContext &context, mlir::Location at);

/// The type of values (never nullable); null (and an error) if there is none.
mlir::Type importType(ImportContext &context, Node type, mlir::Location at);

/// Whether it is the type of lists, structs or maps.
bool isNestedType(Node type);
bool isIntervalType(Node type);
/// Whether it is JSON, which is imported as a text.
bool isJsonType(Node type);

/// The months, days and microseconds of an interval's value; nothing if it has none.
std::optional<IntervalParts> intervalIn(Node content);

/// A value as `frame.constant` keeps it.
struct Constant {
  mlir::Attribute value;
  mlir::Type type;
};
mlir::FailureOr<Constant> importConstant(ImportContext &context, Node value, mlir::Location at);

/// How many numbers there are from `start` in steps up to `stop`, or down to it.
__int128 numbersIn(__int128 start, __int128 stop, __int128 step, bool withStop);

/// The last part of an object's `qname`: of a function with several names the usual one.
llvm::StringRef nameOf(Node call);

} // namespace headrace::import::duckdb

#endif // HEADRACE_PASSES_IMPORT_DUCKDB_PLAN_H
