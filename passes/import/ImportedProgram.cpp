// The module that an import makes.
#include "passes/import/ImportedProgram.h"

#include "dialects/frame/FrameDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// The columns of the result that the user calls so; missing: what is said of one that is not
/// there.
static FailureOr<SmallVector<StringAttr>> columnsNamed(ImportContext &context,
                                                       ArrayRef<std::string> keys,
                                                       ArrayRef<std::string> names,
                                                       const Relation &rows, StringRef missing) {
  SmallVector<StringAttr> columns;
  for (const std::string &key : keys) {
    auto *found = llvm::find(names, key);
    if (found == names.end()) {
      return context.fail(UnknownLoc::get(context.getContext()), missing + key,
                          ImportError::Kind::kUser);
    }
    columns.push_back(rows.fields[found - names.begin()]);
  }
  return columns;
}

/// The keys of the query's own order, as far as the result has their columns.
static SmallVector<Attribute> ownOrder(const Relation &rows) {
  SmallVector<Attribute> keys;
  Operation *op = rows.table.getDefiningOp();
  while (isa_and_nonnull<frame::ProjectOp>(op)) {
    op = op->getOperand(0).getDefiningOp();
  }
  if (auto sort = dyn_cast_or_null<frame::SortOp>(op)) {
    for (auto key : sort.getKeys().getAsRange<frame::SortKeyAttr>()) {
      if (!rows.type().hasColumn(key.getColumn())) {
        break;
      }
      keys.push_back(key);
    }
  }
  return keys;
}

/// Rows with equal keys one after another.
static Relation withAdjacentKeys(OpBuilder &builder, Relation rows, ArrayRef<StringAttr> columns) {
  SmallVector<Attribute> keys;
  llvm::SmallPtrSet<Attribute, 4> seen;
  for (StringAttr column : columns) {
    if (seen.insert(column).second) {
      keys.push_back(frame::SortKeyAttr::get(builder.getContext(), column,
                                             frame::SortDirection::Asc, frame::NullsOrder::Last));
    }
  }
  for (Attribute key : ownOrder(rows)) {
    if (seen.insert(cast<frame::SortKeyAttr>(key).getColumn()).second) {
      keys.push_back(key);
    }
  }
  rows.table = frame::SortOp::create(builder, NameLoc::get(builder.getStringAttr("partitions")),
                                     rows.type(), rows.table, builder.getArrayAttr(keys));
  return rows;
}

/// Null, and an error in `context`, if the import fails or the module does not verify.
static OwningOpRef<ModuleOp> buildProgram(ImportContext &context, const ImportOptions &options,
                                          Node document, ImportPlan importPlan) {
  MLIRContext *mlirContext = context.getContext();
  mlirContext->loadDialect<frame::FrameDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(mlirContext));
  OpBuilder builder(mlirContext);
  builder.setInsertionPointToEnd(module->getBody());
  Location location = NameLoc::get(builder.getStringAttr("query"));
  auto function = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  RelationBuilder relations(context, builder, options);
  FailureOr<NamedRelation> result = importPlan(document, context, relations);
  if (failed(result)) {
    return {};
  }
  Relation rows = std::move(result->relation);
  if (rows.shown) {
    rows = relations.putInOrder(std::move(rows), location);
  }
  MaybeRelation exact = relations.withExactColumns(std::move(rows), location);
  if (failed(exact)) {
    return {};
  }
  if (result->names.size() != exact->fields.size()) {
    (void)context.fail(UnknownLoc::get(mlirContext),
                       "expected one name per result column, got " + Twine(result->names.size()) +
                           " for " + Twine(exact->fields.size()),
                       ImportError::Kind::kMalformed);
    return {};
  }
  if (!options.adjacentKeys.empty()) {
    FailureOr<SmallVector<StringAttr>> keys =
        columnsNamed(context, options.adjacentKeys, result->names, *exact,
                     "partition_by: the result has no column: ");
    if (failed(keys)) {
      return {};
    }
    *exact = withAdjacentKeys(builder, std::move(*exact), *keys);
  }
  func::ReturnOp::create(builder, location, exact->table);
  function.setType(builder.getFunctionType({}, {exact->type()}));
  SmallVector<Attribute> names;
  for (const std::string &name : result->names) {
    names.push_back(builder.getStringAttr(name));
  }
  function->setAttr(frame::FrameDialect::getResultNamesAttrName(), builder.getArrayAttr(names));
  if (options.residentKeys) {
    FailureOr<SmallVector<StringAttr>> keys =
        columnsNamed(context, *options.residentKeys, result->names, *exact,
                     "the result has no column to divide its rows by: ");
    if (failed(keys)) {
      return {};
    }
    function->setAttr(frame::FrameDialect::getResultResidentAttrName(),
                      builder.getArrayAttr(SmallVector<Attribute>(keys->begin(), keys->end())));
  }
  // Types that do not fit together pass the builders and fail here.
  ScopedDiagnosticHandler handler(mlirContext, [&](Diagnostic &diagnostic) {
    (void)context.fail(diagnostic.getLocation(), diagnostic.str());
    return success();
  });
  if (failed(verify(*module))) {
    return {};
  }
  return module;
}

OwningOpRef<ModuleOp> headrace::import::importDocument(MLIRContext *mlirContext, StringRef json,
                                                       const ImportOptions &options,
                                                       ImportPlan importPlan, ImportError &error) {
  ImportContext context(mlirContext, Zones(options.zoneFolder, options.timeZone));
  JsonPaths paths(context);
  OwningOpRef<ModuleOp> module;
  if (std::optional<nlohmann::json> document = parseJson(context, json)) {
    module = buildProgram(context, options, Node(paths, &*document), importPlan);
  }
  error = context.error();
  return module;
}
