// The entry of the import of DuckDB's plans.
#include "passes/import/ImportDuckdb.h"
#include "passes/import/ImportedProgram.h"
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;

/// The error that DuckDB gave instead of a plan.
static LogicalResult failAsBinder(Node document) {
  StringRef message = document.get("error_message").string().value_or("no plan");
  return document.fail(message, ImportError::Kind::kUser);
}

static FailureOr<NamedRelation> importPlan(Node document, ImportContext &context,
                                           RelationBuilder &builder, const ImportOptions &options,
                                           bool mayDraw) {
  if (document.get("error").boolean().value_or(false)) {
    return failAsBinder(document);
  }
  SmallVector<Node> plans = document.get("plans").elements();
  if (plans.size() != 1) {
    return document.fail("expected the plan of one query, got " + Twine(plans.size()));
  }
  RelationImporter importer(context, builder, options, mayDraw);
  MaybeRelation relation = importer.import(plans.front());
  if (failed(relation)) {
    return failure();
  }
  NamedRelation result{std::move(*relation), {}};
  result.names.assign(options.resultNames.begin(), options.resultNames.end());
  for (Node expression : RelationImporter::results(plans.front())) {
    if (options.resultNames.empty()) {
      result.names.push_back(expression.get("alias").string().value_or("").str());
    }
  }
  result.names.resize(result.relation.fields.size());
  for (auto [name, field] : llvm::zip_equal(result.names, result.relation.fields)) {
    if (name.empty()) {
      name = field.str();
    }
  }
  return result;
}

OwningOpRef<ModuleOp> headrace::import::importDuckdb(MLIRContext *context, StringRef json,
                                                     const ImportOptions &options,
                                                     ImportError &error) {
  auto plan = [&](Node document, ImportContext &imported, RelationBuilder &builder) {
    const bool mayDraw = llvm::any_of(
        kRandomFunctions, [&](StringRef name) { return json.contains("\"" + name.str() + "\""); });
    return importPlan(document, imported, builder, options, mayDraw);
  };
  return importDocument(context, json, options, plan, error);
}
