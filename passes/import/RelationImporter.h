// Substrait relations as ops of `frame`.
#ifndef HEADRACE_PASSES_IMPORT_RELATIONIMPORTER_H
#define HEADRACE_PASSES_IMPORT_RELATIONIMPORTER_H

#include "passes/import/ExpressionImporter.h"
#include "passes/import/ImportSubstrait.h"
#include "llvm/ADT/StringSet.h"

namespace headrace::import::substrait {

/// An imported relation. Substrait counts columns and may list one twice; a table names each once.
struct Relation {
  mlir::Value table;
  /// The column of `table` behind each Substrait field.
  llvm::SmallVector<mlir::StringAttr> fields;

  frame::TableType type() const { return mlir::cast<frame::TableType>(table.getType()); }
  mlir::Type typeOf(mlir::StringAttr name) const { return type().getColumnType(name); }
  /// The fields with their types.
  llvm::SmallVector<frame::Column> columns() const;
};

/// Imports one plan into the body of a function. Use once.
class RelationImporter {
public:
  /// Ops go to `builder`'s insertion point.
  RelationImporter(mlir::OpBuilder &builder, const ImportOptions &options,
                   llvm::DenseMap<int64_t, std::string> functions);

  mlir::FailureOr<Relation> importRelation(Node relation);

  /// A relation whose table has exactly the fields of `relation`, in order, each its own column.
  Relation withExactColumns(Relation relation, mlir::Location location);

private:
  /// The equal columns of a join, pair by pair.
  struct JoinKeys {
    llvm::SmallVector<mlir::Attribute> left;
    llvm::SmallVector<mlir::Attribute> right;
  };

  mlir::FailureOr<Relation> importByKind(Node relation, llvm::StringRef kind, Node body);
  mlir::FailureOr<Relation> importInput(Node body, llvm::StringRef key);
  mlir::FailureOr<Relation> importRead(Node read);
  mlir::FailureOr<Relation> importVirtualTable(Node read, Node table);
  mlir::FailureOr<Relation> importFilter(Node filter);
  mlir::FailureOr<Relation> importProject(Node project);
  mlir::FailureOr<Relation> importJoin(Node join);
  mlir::FailureOr<Relation> importCross(Node cross);
  mlir::FailureOr<Relation> importAggregate(Node aggregate);
  mlir::FailureOr<Relation> importSort(Node sort);
  mlir::FailureOr<Relation> importFetch(Node fetch);
  mlir::FailureOr<Relation> importSet(Node set);
  mlir::FailureOr<mlir::Value> importScalarSubquery(Node relation);
  mlir::FailureOr<mlir::Value> importRowCount(Node relation);

  /// Adds computed columns to `input` for those of `expressions` that are no plain fields. `fields`
  /// is what their field indices mean. `names` gets the column of each expression. `conditions`, if
  /// not empty, is parallel to `expressions`: where one is present, the value counts only where it
  /// is true and is NULL elsewhere (an absent expression counts as 1).
  mlir::FailureOr<Relation> addColumns(Relation input, llvm::ArrayRef<frame::Column> fields,
                                       llvm::ArrayRef<Node> expressions, Node where,
                                       llvm::SmallVectorImpl<mlir::StringAttr> &names,
                                       llvm::ArrayRef<Node> conditions = {});
  /// Splits the condition of a join: key columns go to `keys` (added to the sides where they are
  /// computed), the rest to `residual`.
  mlir::LogicalResult splitCondition(Node join, Relation &left, Relation &right, JoinKeys &keys,
                                     llvm::SmallVectorImpl<Node> &residual);
  /// Adds, per column, a flag for NULL and the value with 0 or '' for NULL; both go to `keys`.
  Relation addNullSafeKeys(Relation input, llvm::ArrayRef<mlir::StringAttr> columns,
                           mlir::Location location, llvm::SmallVectorImpl<mlir::Attribute> &keys);
  mlir::FailureOr<Relation> applyEmit(Node body, Relation relation);
  /// Drops columns that no field names.
  Relation prune(Relation relation, mlir::Location location);

  mlir::StringAttr uniqueName(llvm::StringRef wanted);
  mlir::Location locate(Node node, llvm::StringRef text) const;
  mlir::DictionaryAttr statisticsOf(llvm::StringRef table, llvm::ArrayRef<mlir::Attribute> columns,
                                    frame::TableType type);

  mlir::OpBuilder &builder;
  const ImportOptions &options;
  ExpressionEnvironment environment;
  llvm::StringSet<> usedNames;
};

} // namespace headrace::import::substrait

#endif // HEADRACE_PASSES_IMPORT_RELATIONIMPORTER_H
