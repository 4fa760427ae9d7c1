// Types of `frame`: text form, checks, look-ups.
#include "dialects/frame/FrameTypes.h"
#include "dialects/frame/FrameDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "runtime/base/moment_text.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;

namespace headrace::frame::detail {

/// Columns in their order, and where each name is among them, by its address: wide tables are asked
/// for all of their columns, op by op.
struct TableTypeStorage : TypeStorage {
  using KeyTy = std::tuple<ArrayRef<StringAttr>, ArrayRef<Type>>;

  TableTypeStorage(const KeyTy &key, ArrayRef<unsigned> byName)
      : names(std::get<0>(key)), columnTypes(std::get<1>(key)), byName(byName) {}
  bool operator==(const KeyTy &key) const { return key == KeyTy(names, columnTypes); }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(std::get<0>(key), std::get<1>(key));
  }
  static TableTypeStorage *construct(TypeStorageAllocator &allocator, const KeyTy &key) {
    ArrayRef<StringAttr> names = allocator.copyInto(std::get<0>(key));
    SmallVector<unsigned> byName = llvm::to_vector(llvm::seq<unsigned>(names.size()));
    llvm::sort(byName, [&](unsigned a, unsigned b) { return isBefore(names[a], names[b]); });
    return new (allocator.allocate<TableTypeStorage>())
        TableTypeStorage({names, allocator.copyInto(std::get<1>(key))},
                         allocator.copyInto(ArrayRef<unsigned>(byName)));
  }
  std::optional<unsigned> find(StringAttr name) const {
    const auto *found = llvm::lower_bound(byName, name, [&](unsigned index, StringAttr other) {
      return isBefore(names[index], other);
    });
    return found != byName.end() && names[*found] == name ? std::optional(*found) : std::nullopt;
  }
  static bool isBefore(StringAttr a, StringAttr b) {
    return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  }

  ArrayRef<StringAttr> names;
  ArrayRef<Type> columnTypes;
  ArrayRef<unsigned> byName;
};

} // namespace headrace::frame::detail

#define GET_TYPEDEF_CLASSES
#include "dialects/frame/FrameTypes.cpp.inc"

void FrameDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/frame/FrameTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TableType
//===----------------------------------------------------------------------===//

ArrayRef<StringAttr> TableType::getNames() const { return getImpl()->names; }
ArrayRef<Type> TableType::getColumnTypes() const { return getImpl()->columnTypes; }

TableType TableType::get(MLIRContext *context, ArrayRef<Column> columns) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  for (const Column &column : columns) {
    names.push_back(column.name);
    types.push_back(column.type);
  }
  return get(context, names, types);
}

SmallVector<Column> TableType::getColumns() const {
  SmallVector<Column> columns;
  for (auto [name, type] : llvm::zip_equal(getNames(), getColumnTypes())) {
    columns.push_back({name, type});
  }
  return columns;
}

std::optional<unsigned> TableType::findColumn(StringAttr name) const {
  return getImpl()->find(name);
}

std::optional<unsigned> TableType::findColumn(StringRef name) const {
  return findColumn(StringAttr::get(getContext(), name));
}

Type TableType::getColumnType(StringAttr name) const {
  std::optional<unsigned> index = findColumn(name);
  return index ? getColumnTypes()[*index] : Type();
}

Type TableType::getColumnType(StringRef name) const {
  return getColumnType(StringAttr::get(getContext(), name));
}

namespace {
struct NamedTypes {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
};
} // namespace

/// `<"name": type, …>`; nothing if it is not there.
static std::optional<NamedTypes> parseNamedTypes(AsmParser &parser, StringRef where) {
  NamedTypes out;
  auto parseOne = [&]() -> ParseResult {
    std::string name; // not parseAttribute: it would take ": type" as the string's own
    if (parser.parseString(&name) || parser.parseColon() ||
        parser.parseType(out.types.emplace_back())) {
      return failure();
    }
    out.names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne, where)) {
    return std::nullopt;
  }
  return out;
}

static void printNamedTypes(AsmPrinter &printer, ArrayRef<StringAttr> names, ArrayRef<Type> types) {
  printer << "<";
  llvm::interleaveComma(llvm::zip_equal(names, types), printer, [&](auto named) {
    printer << std::get<0>(named) << ": " << std::get<1>(named);
  });
  printer << ">";
}

Type TableType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  std::optional<NamedTypes> columns = parseNamedTypes(parser, " in table");
  return columns ? parser.getChecked<TableType>(location, parser.getContext(), columns->names,
                                                columns->types)
                 : TableType();
}

void TableType::print(AsmPrinter &printer) const {
  printNamedTypes(printer, getNames(), getColumnTypes());
}

LogicalResult TableType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<StringAttr> names, ArrayRef<Type> columnTypes) {
  if (names.size() != columnTypes.size()) { // C1
    // no test: the parser reads a name and its type together
    return emitError() << "a table needs one type per column name, got " << names.size()
                       << " names and " << columnTypes.size() << " types";
  }
  llvm::StringSet<> seen;
  for (auto [name, type] : llvm::zip_equal(names, columnTypes)) {
    if (name.empty()) { // C2
      return emitError() << "a column name must not be empty";
    }
    if (!seen.insert(name.getValue()).second) { // C2
      return emitError() << "column names must be unique in a table, got twice: " << name;
    }
    if (!isScalar(type)) { // C3
      return emitError() << "a column must have a scalar type of frame, got " << name << ": "
                         << type;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

LogicalResult DecimalType::verify(function_ref<InFlightDiagnostic()> emitError, unsigned precision,
                                  unsigned scale) {
  if (precision < 1 || precision > 38) { // C1
    return emitError() << "a decimal's precision must be 1 to 38, got " << precision;
  }
  if (scale > precision) { // C1
    return emitError() << "a decimal's scale must be at most its precision " << precision
                       << ", got " << scale;
  }
  return success();
}

/// Whether something nested can be made of values of the type.
static bool canBeIn(Type type) {
  return !isNullable(type) && isScalar(type) && !isDoubleDouble(type);
}

LogicalResult ListType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                               unsigned /*size*/) {
  if (!canBeIn(elementType)) { // C1
    return emitError() << "a list needs elements of a scalar type that is not nullable, got "
                       << elementType;
  }
  return success();
}

LogicalResult StructType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> names, ArrayRef<Type> fieldTypes) {
  if (names.empty() || names.size() != fieldTypes.size()) { // C2
    return emitError() << "a struct needs one type per field name, and a field, got "
                       << names.size() << " names and " << fieldTypes.size() << " types";
  }
  llvm::StringSet<> seen;
  const bool isNamed = !names.front().empty();
  for (auto [name, type] : llvm::zip_equal(names, fieldTypes)) {
    if (!canBeIn(type)) { // C1
      return emitError() << "a struct needs fields of scalar types that are not nullable, got "
                         << name << ": " << type;
    }
    if (name.empty() == isNamed || (isNamed && !seen.insert(name.getValue()).second)) { // C2
      return emitError() << "names of fields must be unique in a struct, or all empty, got: "
                         << name;
    }
  }
  return success();
}

Type StructType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  std::optional<NamedTypes> fields = parseNamedTypes(parser, " in struct");
  return fields ? parser.getChecked<StructType>(location, parser.getContext(), fields->names,
                                                fields->types)
                : StructType();
}

void StructType::print(AsmPrinter &printer) const {
  printNamedTypes(printer, getNames(), getFieldTypes());
}

std::optional<unsigned> StructType::findField(StringRef name) const {
  for (auto [index, candidate] : llvm::enumerate(getNames())) {
    if (candidate.getValue().equals_insensitive(name)) {
      return index;
    }
  }
  return std::nullopt;
}

LogicalResult MapType::verify(function_ref<InFlightDiagnostic()> emitError, Type keyType,
                              Type valueType) {
  for (Type type : {keyType, valueType}) {
    if (!canBeIn(type)) { // C1
      return emitError()
             << "a map needs keys and values of scalar types that are not nullable, got " << type;
    }
  }
  return success();
}

ListType MapType::getEntries() const {
  SmallVector<StringAttr> names{StringAttr::get(getContext(), "key"),
                                StringAttr::get(getContext(), "value")};
  return ListType::get(StructType::get(getContext(), names, {getKeyType(), getValueType()}));
}

LogicalResult EnumType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> values) {
  llvm::StringSet<> seen;
  for (StringAttr value : values) {
    if (!seen.insert(value.getValue()).second) { // C1
      return emitError() << "texts of an enum must be unique, got: " << value;
    }
  }
  return success();
}

LogicalResult NullableType::verify(function_ref<InFlightDiagnostic()> emitError, Type valueType) {
  if (isa<NullableType>(valueType) || !isScalar(valueType)) { // C1
    return emitError() << "nullable needs a scalar type that is not nullable, got " << valueType;
  }
  return success();
}

Type headrace::frame::dropNullable(Type type) {
  auto nullable = dyn_cast<NullableType>(type);
  return nullable ? nullable.getValueType() : type;
}

Type headrace::frame::addNullable(Type type) {
  return isNullable(type) ? type : NullableType::get(type);
}

Type headrace::frame::withNullability(Type type, Nullability nullability) {
  return nullability == Nullability::kMaybe ? addNullable(type) : dropNullable(type);
}

Nullability headrace::frame::nullabilityOf(TypeRange types) {
  return llvm::any_of(types, isNullable) ? Nullability::kMaybe : Nullability::kNever;
}

bool headrace::frame::isBoolean(Type type) { return dropNullable(type).isInteger(1); }

bool headrace::frame::isInteger(Type type) {
  auto value = dyn_cast<IntegerType>(dropNullable(type));
  return value && (value.isSignless() || (value.isUnsigned() && value.getWidth() <= 64)) &&
         llvm::is_contained({8u, 16u, 32u, 64u, 128u}, value.getWidth());
}

bool headrace::frame::isUnsigned(Type type) {
  return isInteger(type) && dropNullable(type).isUnsignedInteger();
}

bool headrace::frame::isUnsigned128(Type type) { return isa<Unsigned128Type>(dropNullable(type)); }

bool headrace::frame::isFloat(Type type) {
  Type value = dropNullable(type);
  return value.isF32() || value.isF64();
}

bool headrace::frame::isDecimal(Type type) { return isa<DecimalType>(dropNullable(type)); }
bool headrace::frame::isString(Type type) { return isa<StringType>(dropNullable(type)); }
bool headrace::frame::isBinary(Type type) { return isa<BinaryType>(dropNullable(type)); }
bool headrace::frame::isUuid(Type type) { return isa<UuidType>(dropNullable(type)); }
bool headrace::frame::isEnum(Type type) { return isa<EnumType>(dropNullable(type)); }
bool headrace::frame::isList(Type type) { return isa<ListType>(dropNullable(type)); }
bool headrace::frame::isStruct(Type type) { return isa<StructType>(dropNullable(type)); }
bool headrace::frame::isMap(Type type) { return isa<MapType>(dropNullable(type)); }
bool headrace::frame::isNested(Type type) { return isList(type) || isStruct(type) || isMap(type); }
bool headrace::frame::isInterval(Type type) { return isa<IntervalType>(dropNullable(type)); }

bool headrace::frame::hasIntervals(Type type) {
  Type value = dropNullable(type);
  if (auto fields = dyn_cast<StructType>(value)) {
    return llvm::any_of(fields.getFieldTypes(), hasIntervals);
  }
  auto map = dyn_cast<MapType>(value);
  auto list = map ? map.getEntries() : dyn_cast<ListType>(value);
  return list ? hasIntervals(list.getElementType()) : isInterval(value);
}

bool headrace::frame::isHeldAsBytes(Type type) {
  return isBinary(type) || isUuid(type) || isEnum(type) || isInterval(type) || isUnsigned128(type);
}
bool headrace::frame::isHeldAsText(Type type) {
  return isString(type) || isHeldAsBytes(type) || isNested(type);
}
bool headrace::frame::isDate(Type type) { return isa<DateType>(dropNullable(type)); }
bool headrace::frame::isTime(Type type) { return isa<TimeType>(dropNullable(type)); }
bool headrace::frame::isTimestamp(Type type) { return isa<TimestampType>(dropNullable(type)); }
bool headrace::frame::isTemporal(Type type) {
  return isDate(type) || isTime(type) || isTimestamp(type);
}
bool headrace::frame::isDoubleDouble(Type type) {
  return isa<DoubleDoubleType>(dropNullable(type));
}

bool headrace::frame::isNumeric(Type type) {
  return isInteger(type) || isFloat(type) || isDecimal(type);
}

bool headrace::frame::isScalar(Type type) {
  return isBoolean(type) || isNumeric(type) || isHeldAsText(type) || isTemporal(type) ||
         isDoubleDouble(type);
}

unsigned headrace::frame::integerBits(Type type) {
  Type value = dropNullable(type);
  return isInteger(value)                      ? value.getIntOrFloatBitWidth()
         : isDate(value)                       ? 32
         : isTime(value) || isTimestamp(value) ? 64
                                               : 0;
}

unsigned headrace::frame::signedBits(Type type) {
  return integerBits(type) + (isUnsigned(type) ? 1 : 0);
}

/// Of a time or timestamp.
static std::optional<TimeUnit> unitOf(Type type) {
  Type value = dropNullable(type);
  if (auto time = dyn_cast<TimeType>(value)) {
    return time.getUnit();
  }
  auto timestamp = dyn_cast<TimestampType>(value);
  return timestamp ? std::optional(timestamp.getUnit()) : std::nullopt;
}

unsigned headrace::frame::scaleOf(Type type) {
  if (auto decimal = dyn_cast<DecimalType>(dropNullable(type))) {
    return decimal.getScale();
  }
  std::optional<TimeUnit> unit = unitOf(type);
  return unit ? digitsOf(*unit) : 0;
}

int64_t headrace::frame::unitsOfDay(Type type) { return headrace::unitsOfDay(*unitOf(type)); }

std::pair<int64_t, int64_t> headrace::frame::finiteTimestamps(Type type) {
  return headrace::finiteTimestamps(*unitOf(type));
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// A unit by its name, of which microseconds go without saying.
static ParseResult parseUnit(AsmParser &parser, TimeUnit &unit) {
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name)) {
    return failure();
  }
  for (const TimeUnitName &entry : kTimeUnitNames) {
    if (name == entry.name) {
      unit = entry.value;
      return success();
    }
  }
  return parser.emitError(location, "expected s, ms, us or ns, got ") << name;
}

Type TimeType::parse(AsmParser &parser) {
  TimeUnit unit = TimeUnit::kMicrosecond;
  if (succeeded(parser.parseOptionalLess()) && (parseUnit(parser, unit) || parser.parseGreater())) {
    return {};
  }
  return TimeType::get(parser.getContext(), unit);
}

void TimeType::print(AsmPrinter &printer) const {
  if (getUnit() != TimeUnit::kMicrosecond) {
    printer << "<" << kTimeUnitNames[static_cast<int>(getUnit())].name << ">";
  }
}

Type TimestampType::parse(AsmParser &parser) {
  TimeUnit unit = TimeUnit::kMicrosecond;
  bool zoned = false;
  if (succeeded(parser.parseOptionalLess())) {
    if (parseUnit(parser, unit)) {
      return {};
    }
    zoned = succeeded(parser.parseOptionalComma());
    if ((zoned && parser.parseKeyword("zoned")) || parser.parseGreater()) {
      return {};
    }
  }
  return TimestampType::get(parser.getContext(), unit, zoned);
}

void TimestampType::print(AsmPrinter &printer) const {
  if (getUnit() != TimeUnit::kMicrosecond || getZoned()) {
    printer << "<" << kTimeUnitNames[static_cast<int>(getUnit())].name
            << (getZoned() ? ", zoned>" : ">");
  }
}

bool headrace::frame::isSameValueType(Type a, Type b) { return dropNullable(a) == dropNullable(b); }

bool headrace::frame::isHeldAlike(Type a, Type b) {
  a = dropNullable(a), b = dropNullable(b);
  a = isMap(a) ? cast<MapType>(a).getEntries() : a;
  b = isMap(b) ? cast<MapType>(b).getEntries() : b;
  if (isList(a) && isList(b)) {
    return isHeldAlike(cast<ListType>(a).getElementType(), cast<ListType>(b).getElementType());
  }
  if (isStruct(a) && isStruct(b)) {
    ArrayRef<Type> fields = cast<StructType>(a).getFieldTypes();
    ArrayRef<Type> others = cast<StructType>(b).getFieldTypes();
    return fields.size() == others.size() &&
           llvm::all_of(llvm::zip_equal(fields, others), [](auto pair) {
             return isHeldAlike(std::get<0>(pair), std::get<1>(pair));
           });
  }
  return a == b;
}
