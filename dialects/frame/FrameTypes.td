// The types of `frame`: table, decimal, ui128, date, time, timestamp, interval, double_double, string, binary, uuid, enum, list, struct, map, nullable,
// and the constraints on scalars.
#ifndef HEADRACE_FRAME_TYPES_TD
#define HEADRACE_FRAME_TYPES_TD

include "dialects/frame/FrameDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Frame_Type<string name, string typeMnemonic> : TypeDef<Frame_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Frame_TableType : Frame_Type<"Table", "table"> {
  let summary = "an ordered list of named, typed columns; the rows are a multiset";
  let description = [{
    Column names are unique in the table (and, by the importer, in the query).

    ```mlir
    func.func private @table() -> !frame.table<"key": i64, "name": !frame.nullable<!frame.string>>
    ```

    **Constraints:**
    - (C1) there are as many names as types (by construction).
    - (C2) column names are unique and not empty.
    - (C3) column types are scalar types of `frame`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"::mlir::Type">:$columnTypes);
  let genStorageClass = 0;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<::headrace::frame::Column>":$columns)>];
  let extraClassDeclaration = [{
    unsigned getNumColumns() const { return getNames().size(); }
    /// The columns as (name, type) pairs.
    ::llvm::SmallVector<Column> getColumns() const;
    /// The position of the column `name`, or nothing.
    std::optional<unsigned> findColumn(::mlir::StringAttr name) const;
    std::optional<unsigned> findColumn(::llvm::StringRef name) const;
    bool hasColumn(::mlir::StringAttr name) const { return findColumn(name).has_value(); }
    bool hasColumn(::llvm::StringRef name) const { return findColumn(name).has_value(); }
    /// The type of the column `name`; null if there is none.
    ::mlir::Type getColumnType(::mlir::StringAttr name) const;
    ::mlir::Type getColumnType(::llvm::StringRef name) const;
  }];
}

def Frame_DecimalType : Frame_Type<"Decimal", "decimal"> {
  let summary = "an exact decimal number of `precision` digits, `scale` of them after the point";
  let description = [{
    Its value is an integer scaled by 10^scale.

    ```mlir
    func.func private @price() -> !frame.decimal<15, 2>
    ```

    **Constraints:**
    - (C1) 1 <= precision <= 38 and 0 <= scale <= precision.
  }];
  let parameters = (ins "unsigned":$precision, "unsigned":$scale);
  let assemblyFormat = "`<` $precision `,` $scale `>`";
  let genVerifyDecl = 1;
}

def Frame_Unsigned128Type : Frame_Type<"Unsigned128", "ui128"> {
  let summary = "an unsigned integer of 128 bits";
  let description = [{
    Other integers are a number of at most 128 bits with a sign inside, which does not hold these: they are held as the
    bytes that `runtime/base/unsigned128.h` says, in order as these are. A literal is such a string, written as a number.

    ```mlir
    func.func @most() {
      %0 = frame.constant 340282366920938463463374607431768211455 : !frame.ui128
      return
    }
    ```
  }];
}

def Frame_DateType : Frame_Type<"Date", "date"> {
  let summary = "a calendar day: days since 1970-01-01";
}

def Frame_TimeType : Frame_Type<"Time", "time"> {
  let summary = "a time of day: microseconds, or another unit, since midnight";
  let description = [{
    From 00:00:00 to 24:00:00.

    ```mlir
    func.func private @times() -> (!frame.time, !frame.time<ns>)
    ```
  }];
  let parameters = (ins "::headrace::TimeUnit":$unit);
  let hasCustomAssemblyFormat = 1;
}

def Frame_TimestampType : Frame_Type<"Timestamp", "timestamp"> {
  let summary = "a moment: microseconds, or another unit, since 1970-01-01 00:00:00";
  let description = [{
    A zoned one is a moment of UTC, which other zones call otherwise; one that is not is what a clock shows, wherever it
    hangs.

    ```mlir
    func.func private @moments() -> (!frame.timestamp, !frame.timestamp<ns>, !frame.timestamp<us, zoned>)
    ```
  }];
  let parameters = (ins "::headrace::TimeUnit":$unit, "bool":$zoned);
  let hasCustomAssemblyFormat = 1;
}

def Frame_IntervalType : Frame_Type<"Interval", "interval"> {
  let summary = "a length of time: months, days and microseconds";
  let description = [{
    None of the three follows from another, and each has its own sign. Intervals are equal and in order as the
    microseconds that they have with months of 30 days; so they are neither compared nor keys themselves, but
    what `interval_key` makes of them is. A literal is a string of their bytes (`runtime/base/interval_values.h`).

    ```mlir
    func.func private @lengths() -> (!frame.interval, !frame.nullable<!frame.interval>)
    ```
  }];
}

def Frame_DoubleDoubleType : Frame_Type<"DoubleDouble", "double_double"> {
  let summary = "the exact sum of two doubles, about 106 bits: a running sum that loses nothing that matters";
  let description = [{
    Made by `frame.exact_product`, added up by the aggregate `sum`, read by `frame.squared_deviations`. It is neither a
    key nor compared, and no column of a result has it.

    ```mlir
    func.func private @sum_of_squares() -> !frame.double_double
    ```
  }];
}

def Frame_StringType : Frame_Type<"String", "string"> {
  let summary = "a UTF-8 string";
}

def Frame_BinaryType : Frame_Type<"Binary", "binary"> {
  let summary = "bytes, which need be no text";
  let description = [{
    In order as their bytes are, without signs. A literal is a string whose other characters are escaped.

    ```mlir
    func.func @bytes() {
      %0 = frame.constant "a\00\FF" : !frame.binary
      return
    }
    ```
  }];
}

def Frame_UuidType : Frame_Type<"Uuid", "uuid"> {
  let summary = "a UUID: 128 bits that name something";
  let description = [{
    It is its 16 bytes, as its text writes them, and in order as that. A literal is a string of them
    (`runtime/base/uuid.h`).

    ```mlir
    func.func private @names() -> (!frame.uuid, !frame.nullable<!frame.uuid>)
    ```
  }];
}

def Frame_EnumType : Frame_Type<"Enum", "enum"> {
  let summary = "one of several texts, in the order in which they are listed";
  let description = [{
    It is bytes: its place in the list, and the text (`runtime/base/enum_values.h`). A literal is a string of them.

    ```mlir
    func.func private @moods() -> (!frame.enum<"sad", "glad">, !frame.nullable<!frame.enum<"a">>)
    ```

    **Constraints:**
    - (C1) no two of its texts are equal.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$values);
  let assemblyFormat = "`<` $values `>`";
  let genVerifyDecl = 1;
}

def Frame_ListType : Frame_Type<"List", "list"> {
  let summary = "values of one type, in order";
  let description = [{
    Each element may be NULL. Lists are equal if their elements are, where NULL equals NULL. An array is a list whose
    type says how many elements each has; it is held as any other.

    ```mlir
    func.func private @lists() -> (!frame.list<i64>, !frame.nullable<!frame.list<!frame.list<!frame.string>>>)
    func.func private @arrays() -> !frame.list<f32, 3>
    ```

    **Constraints:**
    - (C1) the element type is a scalar type, not nullable, and no `double_double`.
  }];
  // The size is 0 of lists of any length.
  let parameters = (ins "::mlir::Type":$elementType, DefaultValuedParameter<"unsigned", "0">:$size);
  let assemblyFormat = "`<` $elementType (`,` $size^)? `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType, CArg<"unsigned", "0">:$size), [{
    return $_get(elementType.getContext(), elementType, size);
  }]>];
}

def Frame_StructType : Frame_Type<"Struct", "struct"> {
  let summary = "values of several types under names: fields, in order";
  let description = [{
    Each field may be NULL. Structs are equal if their fields are, where NULL equals NULL, and in order by the first
    fields that differ, of which NULL is the largest. Fields without names have empty ones.

    ```mlir
    func.func private @structs() -> (!frame.struct<"a": i64, "b": !frame.list<!frame.string>>,
                                     !frame.nullable<!frame.struct<"": i1, "": f64>>)
    ```

    **Constraints:**
    - (C1) a field has a scalar type that is not nullable, and no `double_double`.
    - (C2) there is a field; either all names are empty, or none, and no two of them are equal.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, ArrayRefParameter<"::mlir::Type">:$fieldTypes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The place of the field of this name, in capitals or not; nothing if there is none.
    std::optional<unsigned> findField(::llvm::StringRef name) const;
  }];
}

def Frame_MapType : Frame_Type<"Map", "map"> {
  let summary = "values under keys, in the order in which they were given";
  let description = [{
    A map is held as the list of its entries, structs of key and value; it is equal to another, and in order, as that is.
    No key is NULL or there twice; each value may be NULL.

    ```mlir
    func.func private @map() -> !frame.map<!frame.string, !frame.list<i64>>
    ```

    **Constraints:**
    - (C1) keys and values have scalar types that are not nullable, and no `double_double`.
  }];
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $keyType `,` $valueType `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$keyType, "::mlir::Type":$valueType), [{
    return $_get(keyType.getContext(), keyType, valueType);
  }]>];
  let extraClassDeclaration = [{
    /// The list of structs that it is held as.
    ListType getEntries() const;
  }];
}

def Frame_NullableType : Frame_Type<"Nullable", "nullable"> {
  let summary = "a scalar that may be NULL";
  let description = [{
    ```mlir
    func.func private @maybe() -> !frame.nullable<!frame.date>
    ```

    **Constraints:**
    - (C1) the value type is a scalar type and not itself nullable.
  }];
  let parameters = (ins "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $valueType `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$valueType), [{
    return $_get(valueType.getContext(), valueType);
  }]>];
}

// A scalar of `frame`: i1, i8, i16, i32, i64, i128, f32, f64, decimal, ui128, date, time, timestamp, interval,
// double_double, string, binary, uuid, enum, list, struct, map, or one of them nullable.
def Frame_Scalar : Type<CPred<"::headrace::frame::isScalar($_self)">, "frame scalar">;
def Frame_Boolean : Type<CPred<"::headrace::frame::isBoolean($_self)">, "i1 or nullable i1">;
def Frame_Numeric : Type<CPred<"::headrace::frame::isNumeric($_self)">,
                         "integer, float or decimal, possibly nullable">;
def Frame_Float64 : Type<CPred<"::headrace::frame::dropNullable($_self).isF64()">, "f64, possibly nullable">;
def Frame_Integer64 : Type<CPred<"::headrace::frame::dropNullable($_self).isSignlessInteger(64)">,
                           "i64, possibly nullable">;
def Frame_DoubleDouble : Type<CPred<"::headrace::frame::isDoubleDouble($_self)">,
                              "double_double, possibly nullable">;
def Frame_StringLike : Type<CPred<"::headrace::frame::isString($_self)">,
                            "string, possibly nullable">;
def Frame_ListLike : Type<CPred<"::headrace::frame::isList($_self)">, "list, possibly nullable">;
def Frame_StructLike : Type<CPred<"::headrace::frame::isStruct($_self)">, "struct, possibly nullable">;
def Frame_DateLike : Type<CPred<"::headrace::frame::isDate($_self)">, "date, possibly nullable">;
def Frame_DateOrTimestamp
    : Type<CPred<"::headrace::frame::isDate($_self) || ::headrace::frame::isTimestamp($_self)">,
           "date or timestamp, possibly nullable">;

#endif // HEADRACE_FRAME_TYPES_TD
