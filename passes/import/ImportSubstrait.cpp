// The entry of the import phase for SQL: from the document to a verified module.
#include "passes/import/ImportSubstrait.h"

#include "dialects/frame/FrameDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/RelationImporter.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

static FailureOr<llvm::DenseMap<int64_t, std::string>> declaredFunctions(Node document) {
  llvm::DenseMap<int64_t, std::string> functions;
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

/// Fills `module` with the function @main of the plan.
static LogicalResult importPlan(Node document, const ImportOptions &options, ModuleOp module) {
  SmallVector<Node> relations = document.get("relations").elements();
  if (relations.size() != 1) {
    return document.fail("expected a plan with one entry in relations");
  }
  Node root = relations.front().get("root");
  Node input = root.get("input");
  if (!input) {
    return relations.front().fail("expected a root with an input");
  }
  FailureOr<llvm::DenseMap<int64_t, std::string>> functions = declaredFunctions(document);
  if (failed(functions)) {
    return failure();
  }
  MLIRContext *context = module.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module.getBody());
  Location location = NameLoc::get(builder.getStringAttr("query"));
  auto function = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  RelationImporter importer(builder, options, std::move(*functions));
  FailureOr<Relation> imported = importer.importRelation(input);
  if (failed(imported)) {
    return failure();
  }
  Relation result = importer.withExactColumns(*imported, location);
  func::ReturnOp::create(builder, location, result.table);
  function.setType(builder.getFunctionType({}, {result.type()}));
  SmallVector<Attribute> names;
  for (Node name : root.get("names").elements()) {
    std::optional<StringRef> text = name.string();
    if (!text) {
      return name.fail("expected a name");
    }
    names.push_back(builder.getStringAttr(*text));
  }
  if (names.size() != result.fields.size()) {
    return root.fail("expected one name per result column, got " + Twine(names.size()) + " for " +
                     Twine(result.fields.size()));
  }
  function->setAttr(frame::FrameDialect::getResultNamesAttrName(), builder.getArrayAttr(names));
  return success();
}

static OwningOpRef<ModuleOp> importDocument(MLIRContext *context, StringRef json,
                                            const ImportOptions &options, std::string &error) {
  context->loadDialect<frame::FrameDialect, func::FuncDialect>();
  SubstraitContext importContext;
  std::optional<nlohmann::json> document = parseJson(importContext, json);
  if (!document) {
    error = importContext.error();
    return {};
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  if (failed(importPlan(Node(importContext, &*document), options, *module))) {
    error = importContext.error();
    return {};
  }
  // Types that do not fit together pass the importer and fail here.
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (error.empty()) {
      llvm::raw_string_ostream(error) << diagnostic << ", at " << diagnostic.getLocation();
    }
    return success();
  });
  if (failed(verify(*module))) {
    return {};
  }
  error.clear();
  return module;
}

OwningOpRef<ModuleOp> headrace::import::importSubstrait(MLIRContext *context, StringRef json,
                                                        const ImportOptions &options,
                                                        ImportError &error) {
  std::string message;
  OwningOpRef<ModuleOp> module = importDocument(context, json, options, message);
  error = {};
  if (!module) {
    error.kind = ImportError::Kind::kUnsupported;
    error.message = message;
  }
  return module;
}
