// The entry of the import of Substrait's plans.
#include "passes/import/ImportSubstrait.h"
#include "passes/import/ImportedProgram.h"
#include "passes/import/substrait/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;

static FailureOr<Functions> declaredFunctions(Node document) {
  Functions functions;
  for (Node extension : document.get("extensions").elements()) {
    Node function = extension.get("extensionFunction");
    if (!function) {
      continue; // extension types matter only where they are used, and fail there
    }
    FailureOr<int64_t> anchor = function.get("functionAnchor").integerOr(0);
    std::optional<StringRef> name = function.get("name").string();
    if (failed(anchor)) {
      return failure();
    }
    if (!name || *anchor < 0) {
      return function.fail("expected an extension function with a name and an anchor");
    }
    functions[*anchor] = name->take_until([](char c) { return c == ':'; }).str();
  }
  return functions;
}

static FailureOr<NamedRelation> importPlan(Node document, ImportContext &context,
                                           RelationBuilder &builder) {
  SmallVector<Node> relations = document.get("relations").elements();
  if (relations.size() != 1) {
    return document.fail("expected a plan with one entry in relations");
  }
  Node root = relations.front().get("root");
  Node input = root.get("input");
  if (!input) {
    return relations.front().fail("expected a root with an input");
  }
  FailureOr<Functions> functions = declaredFunctions(document);
  if (failed(functions)) {
    return failure();
  }
  RelationImporter importer(context, builder, std::move(*functions));
  MaybeRelation relation = importer.import(input);
  if (failed(relation)) {
    return failure();
  }
  NamedRelation result{std::move(*relation), {}};
  for (Node name : root.get("names").elements()) {
    std::optional<StringRef> text = name.string();
    if (!text) {
      return name.fail("expected a name");
    }
    result.names.push_back(text->str());
  }
  if (result.names.size() != result.relation.fields.size()) {
    return root.fail("expected one name per result column, got " + Twine(result.names.size()) +
                     " for " + Twine(result.relation.fields.size()));
  }
  return result;
}

OwningOpRef<ModuleOp> headrace::import::importSubstrait(MLIRContext *context, StringRef json,
                                                        const ImportOptions &options,
                                                        ImportError &error) {
  return importDocument(context, json, options, importPlan, error);
}
