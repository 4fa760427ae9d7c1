// Registration, types and attributes of the pipe dialect.
#include "dialects/pipe/PipeDialect.h"

#include "dialects/frame/FrameDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::pipe;
namespace frame = headrace::frame;

#include "dialects/pipe/PipeDialect.cpp.inc"
#include "dialects/pipe/PipeEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/pipe/PipeTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/pipe/PipeAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/pipe/PipeTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/pipe/PipeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

LogicalResult PipeDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return op->emitOpError("has an attribute that pipe does not have: ") << attribute.getName();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// A type of which a kernel holds values.
static bool isPhysical(Type type) {
  if (isa<StringType>(type) || type.isF32() || type.isF64()) {
    return true;
  }
  return type.isSignlessInteger() &&
         llvm::is_contained({1, 8, 16, 32, 64, 128}, type.getIntOrFloatBitWidth());
}

Type RowsType::parse(AsmParser &parser) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  SmallVector<bool> nullable;
  SMLoc start = parser.getCurrentLocation();
  auto parseColumn = [&]() -> ParseResult {
    std::string name;
    Type type;
    if (parser.parseString(&name) || parser.parseColon() || parser.parseType(type)) {
      return failure();
    }
    names.push_back(StringAttr::get(parser.getContext(), name));
    types.push_back(type);
    nullable.push_back(succeeded(parser.parseOptionalQuestion()));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseColumn)) {
    return {};
  }
  return RowsType::getChecked([&] { return parser.emitError(start); }, parser.getContext(), names,
                              types, nullable);
}

void RowsType::print(AsmPrinter &printer) const {
  printer << '<';
  for (size_t index = 0; index < size(); ++index) {
    printer << (index ? ", " : "");
    printer.printString(getNames()[index].getValue());
    printer << ": " << getTypes()[index] << (getNullable()[index] ? "?" : "");
  }
  printer << '>';
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names, ArrayRef<Type> types,
                               ArrayRef<bool> nullable) {
  if (names.size() != types.size() || names.size() != nullable.size()) {
    // no test: the parser reads the three together
    return emitError() << "a name, a type and a nullability are needed for every column";
  }
  llvm::StringSet<> seen;
  for (StringAttr name : names) {
    if (!seen.insert(name.getValue()).second) {
      return emitError() << "C1: duplicate column: " << name;
    }
  }
  for (Type type : types) {
    if (!isPhysical(type)) {
      return emitError() << "C2: rows have no such type: " << type;
    }
  }
  return success();
}

int64_t RowsType::indexOf(StringRef name) const {
  for (auto [index, column] : llvm::enumerate(getNames())) {
    if (column.getValue() == name) {
      return index;
    }
  }
  return -1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult FieldAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                                Type type, Combine combine, bool, IntegerAttr min,
                                IntegerAttr max) {
  if (!isPhysical(type)) {
    return emitError() << "C1: a field has no such type: " << type;
  }
  bool adds = isa<FloatType>(type) || (type.isInteger() && type.getIntOrFloatBitWidth() >= 32);
  bool hasBits =
      combine == Combine::BitAnd || combine == Combine::BitOr || combine == Combine::BitXor;
  bool fits = combine == Combine::Sum               ? adds
              : combine == Combine::SumDoubleDouble ? type.isInteger(128)
              : combine == Combine::Product         ? type.isF64()
              : hasBits                             ? type.isInteger()
                                                    : true;
  if (!fits) {
    return emitError() << "C2: values of this type have no " << stringifyCombine(combine) << ": "
                       << type;
  }
  if (!min && !max) {
    return success();
  }
  auto isBound = [](IntegerAttr bound) { return bound && bound.getType().isInteger(64); };
  if (combine != Combine::Key || !type.isInteger() || !isBound(min) || !isBound(max) ||
      min.getInt() > max.getInt()) {
    return emitError() << "C3: expected the bounds, as i64, of a key that is an integer";
  }
  return success();
}

LogicalResult CardinalityAttr::verify(function_ref<InFlightDiagnostic()> emitError, uint64_t min,
                                      uint64_t expected, uint64_t p95, uint64_t max) {
  if (min > expected || expected > max || min > p95 || p95 > max) {
    return emitError() << "C1: an estimate lies between its bounds, got " << min << " to " << max
                       << " around " << expected << " and " << p95;
  }
  return success();
}

LogicalResult DirectAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t base,
                                 int64_t extent, bool) {
  int64_t end;
  if (extent < 1 || __builtin_add_overflow(base, extent - 1, &end)) {
    return emitError() << "C1: the keys of a directory are i64, one or more, got " << extent
                       << " from " << base;
  }
  return success();
}

LogicalResult ScanColumnAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr file,
                                     StringAttr column, Type logical, IntegerAttr min,
                                     IntegerAttr max, PageForm, FloatAttr pageBytes,
                                     FloatAttr fileBytes, FloatAttr textBytes, FloatAttr entries,
                                     bool) {
  bool bounded = min && max && min.getType().isInteger(64) && max.getType().isInteger(64) &&
                 min.getInt() <= max.getInt();
  if ((min || max) && !bounded) {
    return emitError() << "C1: statistics are a least and a greatest i64, of the column " << column;
  }
  for (FloatAttr figure : {pageBytes, fileBytes, textBytes, entries}) {
    if (figure && !(figure.getValueAsDouble() >= 0)) {
      return emitError() << "C2: a figure of the column " << column << " is negative: " << figure;
    }
  }
  if (logical && (!frame::isScalar(logical) || frame::isNullable(logical))) {
    return emitError() << "C3: a column has a scalar type of frame that is not nullable, got "
                       << logical;
  }
  if (!file && (min || !logical || !logical.isInteger(64))) {
    return emitError() << "C4: ordinals are i64 without statistics, got those of " << column;
  }
  return success();
}

/// Whether a column of `logical` can have values of the type `physical` in memory.
static bool canHold(Type physical, Type logical) {
  if (frame::isHeldAsText(logical)) {
    return isa<StringType>(physical);
  }
  if (frame::isFloat(logical) || frame::isBoolean(logical)) {
    return physical == logical;
  }
  return physical.isSignlessInteger() && !physical.isInteger(1);
}

bool headrace::pipe::areAmong(ArrayAttr columns, std::optional<ArrayAttr> names) {
  return llvm::all_of(
      columns, [&](Attribute column) { return names && llvm::is_contained(*names, column); });
}

LogicalResult headrace::pipe::verifyColumnTypes(Operation *op, ArrayAttr logical, RowsType rows) {
  if (logical.size() != rows.size()) {
    return op->emitOpError("has a type for each column of its rows, got ") << logical;
  }
  for (auto [type, physical, name] :
       llvm::zip(logical.getAsValueRange<TypeAttr>(), rows.getTypes(), rows.getNames())) {
    if (!canHold(physical, type)) {
      return op->emitOpError("the values of ")
             << name << " are " << physical << ", which no column is of type " << type;
    }
  }
  return success();
}

static double figure(FloatAttr value) { return value ? value.getValueAsDouble() : 0; }
double ScanColumnAttr::pageBytes() const { return figure(getPageBytes()); }
double ScanColumnAttr::fileBytes() const { return figure(getFileBytes()); }
double ScanColumnAttr::textBytes() const { return figure(getTextBytes()); }
double ScanColumnAttr::triedEntries() const { return figure(getTriedEntries()); }

LogicalResult BoundAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr column,
                                BoundKind, Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!(integer && integer.getType().isInteger(64)) && !isa<FloatAttr, StringAttr>(value)) {
    return emitError() << "a bound of the column " << column
                       << " is an i64, a float or a string, got " << value;
  }
  return success();
}
