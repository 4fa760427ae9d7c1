// Moves the bodies of imported queries in front of a tensor function's body.
#include "passes/driver/mixed.h"

#include "dialects/frame/FrameOps.h"
#include "dialects/frame/LogicalTypes.h"
#include "passes/driver/phases.h"
#include "passes/import/verify_import.h"

using namespace mlir;

namespace headrace::driver {

namespace {

/// The query's table, its ops moved to before `before`; null if it returns none.
Value moveQuery(func::FuncOp query, Operation *before) {
  auto terminator = cast<func::ReturnOp>(query.getBody().front().getTerminator());
  Value table = terminator.getNumOperands() == 1 ? terminator.getOperand(0) : Value();
  for (Operation &op : llvm::make_early_inc_range(query.getBody().front().without_terminator())) {
    op.moveBefore(before);
  }
  terminator.erase();
  return table;
}

/// The columns of the table that have these names for the user.
FailureOr<ArrayAttr> columnsNamed(ArrayRef<std::string> wanted, frame::TableType table,
                                  ArrayAttr shown, CompileError &error) {
  SmallVector<Attribute> columns;
  for (const std::string &name : wanted) {
    Attribute found;
    for (unsigned index = 0; index < table.getNumColumns(); ++index) {
      StringAttr column = table.getColumns()[index].name;
      StringAttr visible = shown ? cast<StringAttr>(shown[index]) : column;
      if (visible.getValue() == name) {
        found = column;
      }
    }
    if (!found) {
      error = {ErrorKind::kUser, "the query's result has no column: " + name};
      return failure();
    }
    columns.push_back(found);
  }
  return ArrayAttr::get(table.getContext(), columns);
}

/// Whether tensors of that element can be made of the columns; the error says which cannot.
bool fits(Type element, ArrayRef<std::string> names, ArrayAttr columns, frame::TableType table,
          CompileError &error) {
  for (auto [name, column] : llvm::zip_equal(names, columns.getAsRange<StringAttr>())) {
    Type type = frame::dropNullable(table.getColumnType(column));
    const bool whole =
        frame::isInteger(type) || (frame::isDecimal(type) && frame::scaleOf(type) == 0);
    if (!frame::isNumeric(type) || (element.isInteger() && !whole)) {
      llvm::raw_string_ostream out(error.message);
      out << (frame::isNumeric(type) ? "a tensor of i64 needs whole numbers; cast the column"
                                     : "a tensor needs columns of numbers")
          << ": " << name << " is " << logicalType(type).text();
      error.kind = ErrorKind::kUser;
      return false;
    }
  }
  return true;
}

llvm::StringSet<> columnNames(func::FuncOp function) {
  llvm::StringSet<> names;
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (auto table = dyn_cast<frame::TableType>(type)) {
        for (const frame::Column &column : table.getColumns()) {
          names.insert(column.name.getValue());
        }
      }
    }
  });
  return names;
}

bool addQuery(func::FuncOp function, const QueryInput &input, const CompileOptions &options,
              CompileError &error) {
  MLIRContext *context = function.getContext();
  import::ImportError importError;
  OwningOpRef<ModuleOp> module =
      importSql(context, input.query, options, importError, columnNames(function));
  func::FuncOp query = module ? programFunction(*module) : func::FuncOp();
  if (!query) {
    error = compileError(importError);
    return false;
  }
  auto shown = query->getAttrOfType<ArrayAttr>(frame::FrameDialect::getResultNamesAttrName());
  Location location = query.getLoc();
  Operation *before = &function.getBody().front().front();
  Value table = moveQuery(query, before);
  auto type = table ? dyn_cast<frame::TableType>(table.getType()) : frame::TableType();
  if (!type) {
    error.message = "a query in front of a tensor program returns one table";
    return false;
  }
  SmallVector<Attribute> groups;
  SmallVector<Type> tensors;
  for (auto [argument, names] : llvm::zip_equal(input.arguments, input.columns)) {
    FailureOr<ArrayAttr> columns = columnsNamed(names, type, shown, error);
    if (failed(columns)) {
      return false;
    }
    auto tensor = cast<RankedTensorType>(function.getArgument(argument).getType());
    if (!fits(tensor.getElementType(), names, *columns, type, error)) {
      return false;
    }
    groups.push_back(*columns);
    tensors.push_back(tensor);
  }
  OpBuilder builder(before);
  auto made =
      frame::ToTensorOp::create(builder, location, tensors, table, builder.getArrayAttr(groups));
  for (auto [argument, tensor] : llvm::zip_equal(input.arguments, made.getTensors())) {
    function.getArgument(argument).replaceAllUsesWith(tensor);
  }
  return true;
}

} // namespace

OwningOpRef<ModuleOp> importMixed(MLIRContext *context, const std::string &text,
                                  const std::vector<QueryInput> &queries,
                                  const CompileOptions &options, CompileError &error) {
  OwningOpRef<ModuleOp> module = importMlir(context, text, options, error);
  func::FuncOp function = module ? programFunction(*module) : func::FuncOp();
  if (!function) {
    if (module) {
      error = {ErrorKind::kUser, "the program has no function: main"};
    }
    return {};
  }
  if (failed(import::verifyImport(*module))) {
    error.kind = ErrorKind::kUser; // the text is the user's
    return {};
  }
  BitVector replaced(function.getNumArguments());
  for (const QueryInput &query : queries) {
    for (unsigned argument : query.arguments) {
      if (argument >= function.getNumArguments() || replaced.test(argument)) {
        error = {ErrorKind::kUser,
                 "no argument of the function for a query's tensor: " + std::to_string(argument)};
        return {};
      }
      replaced.set(argument);
    }
    if (!addQuery(function, query, options, error)) {
      return {};
    }
  }
  if (failed(function.eraseArguments(replaced))) {
    error.message = "arguments that queries replace cannot be removed";
    return {};
  }
  return module;
}

} // namespace headrace::driver
