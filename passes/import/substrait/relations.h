// Substrait's relations.
#ifndef HEADRACE_PASSES_IMPORT_SUBSTRAIT_RELATIONS_H
#define HEADRACE_PASSES_IMPORT_SUBSTRAIT_RELATIONS_H

#include "passes/import/substrait/expressions.h"

namespace headrace::import::substrait {

/// Imports one plan through a RelationBuilder. Use once.
class RelationImporter {
public:
  RelationImporter(ImportContext &context, RelationBuilder &builder, Functions functions);

  MaybeRelation import(Node relation);

private:
  MaybeRelation importByKind(llvm::StringRef kind, Node body);
  MaybeRelation importInput(Node body, llvm::StringRef key);
  MaybeRelation importRead(Node read);
  MaybeRelation importVirtualTable(Node read, Node table);
  MaybeRelation importFilter(Node filter);
  MaybeRelation importProject(Node project);
  MaybeRelation importSort(Node sort);
  MaybeRelation importFetch(Node fetch);
  MaybeRelation importSet(Node set);
  mlir::FailureOr<mlir::Value> importScalarSubquery(Node relation);
  mlir::FailureOr<mlir::Value> importRowCount(Node relation);
  // joins.cpp
  MaybeRelation importJoin(Node join);
  MaybeRelation importCross(Node cross);
  // aggregates.cpp
  MaybeRelation importAggregate(Node aggregate);
  mlir::FailureOr<MeasureRequest> importMeasure(Node measure);

  ImportContext &context;
  RelationBuilder &builder;
  ExpressionImporter expressions;
  unsigned depth = 0;
};

} // namespace headrace::import::substrait

#endif // HEADRACE_PASSES_IMPORT_SUBSTRAIT_RELATIONS_H
