// What the types and attributes of frame refuse, by the constraint's number.
// RUN: headrace-opt %s -split-input-file -verify-diagnostics

// TableType (C2)
// expected-error @+1 {{column names must be unique in a table, got twice: "a"}}
func.func private @table_c2() -> !frame.table<"a": i64, "a": i32>

// -----

// TableType (C2)
// expected-error @+1 {{a column name must not be empty}}
func.func private @table_c2_empty() -> !frame.table<"": i64>

// -----

// TableType (C3)
// expected-error @+1 {{a column must have a scalar type of frame, got "a": 'tensor<2xi64>'}}
func.func private @table_c3() -> !frame.table<"a": tensor<2xi64>>

// -----

// TableType (C3)
// expected-error @+1 {{a column must have a scalar type of frame, got "a": 'si32'}}
func.func private @table_c3_signed() -> !frame.table<"a": si32>

// -----

// DecimalType (C1)
// expected-error @+1 {{a decimal's precision must be 1 to 38, got 39}}
func.func private @decimal_c1() -> !frame.decimal<39, 2>

// -----

// DecimalType (C1)
// expected-error @+1 {{a decimal's scale must be at most its precision 4, got 5}}
func.func private @decimal_c1_scale() -> !frame.decimal<4, 5>

// -----

// NullableType (C1)
// expected-error @+1 {{nullable needs a scalar type that is not nullable, got '!frame.nullable<i64>'}}
func.func private @nullable_c1() -> !frame.nullable<!frame.nullable<i64>>

// -----

// NullableType (C1)
// expected-error @+1 {{nullable needs a scalar type that is not nullable, got 'index'}}
func.func private @nullable_c1_index() -> !frame.nullable<index>

// -----

// expected-error @+1 {{a measure needs an input column exactly if it is not count_star, got sum}}
func.func private @measure_input() attributes {m = #frame.measure<sum -> "s">}

// -----

// expected-error @+1 {{a measure needs a result name}}
func.func private @measure_name() attributes {m = #frame.measure<count_star -> "">}

// -----

// ContractAttr (C1)
// expected-error @+1 {{no partial states that combine exist for avg}}
func.func private @contract_c1() attributes {c = #frame.contract<[avg]>}

// -----

// expected-error @+1 {{unknown function in contract: median}}
func.func private @contract_unknown() attributes {c = #frame.contract<[median]>}

// -----

// expected-error @+1 {{frame.result_names must have one name per result column, got 1 names for 2 columns}}
func.func private @result_names_count() -> !frame.table<"a": i64, "b": i64>
    attributes {frame.result_names = ["a"]}

// -----

// expected-error @+1 {{frame.result_names needs a function that returns a table}}
func.func private @result_names_nothing() attributes {frame.result_names = ["a"]}

// -----

// expected-error @+1 {{frame.result_names needs a function that returns a table}}
"func.func"() <{sym_name = "result_names_without_a_type"}> ({
}) {frame.result_names = ["a"]} : () -> ()

// -----

// expected-error @+1 {{frame.result_names needs a function whose first result is a table, got 'i64'}}
func.func private @result_names_scalar() -> i64 attributes {frame.result_names = ["a"]}

// -----

// expected-error @+1 {{frame.result_names must be an array of strings}}
func.func private @result_names_kind() -> !frame.table<"a": i64> attributes {frame.result_names = [1]}

// -----

// expected-error @+1 {{frame.result_resident needs a function that returns one table, or tensors}}
func.func private @result_resident_scalar() -> (tensor<4xf32>, i64) attributes {frame.result_resident = []}

// -----

// expected-error @+1 {{frame.result_resident names columns of the result, got ["b"]}}
func.func private @result_resident_column() -> !frame.table<"a": i64> attributes {frame.result_resident = ["b"]}

// -----

// expected-error @+1 {{frame.result_resident names columns of the result, got unit}}
func.func private @result_resident_kind() -> !frame.table<"a": i64> attributes {frame.result_resident}

// -----

// expected-error @+1 {{frame.result_resident names columns of the result, got ["a"]}}
func.func private @result_resident_tensor() -> tensor<4xf32> attributes {frame.result_resident = ["a"]}

// -----

// expected-error @+1 {{has an unknown attribute of dialect frame: "frame.unheard_of"}}
func.func private @unknown_attribute() attributes {frame.unheard_of = 1}

// -----

// expected-error @+1 {{a list needs elements of a scalar type that is not nullable, got '!frame.nullable<i64>'}}
func.func private @list_c1() -> !frame.list<!frame.nullable<i64>>

// -----

// expected-error @+1 {{a struct needs one type per field name, and a field, got 0 names and 0 types}}
func.func private @struct_c2_none() -> !frame.struct<>

// -----

// expected-error @+1 {{a struct needs fields of scalar types that are not nullable, got "a": '!frame.nullable<i64>'}}
func.func private @struct_c1() -> !frame.struct<"a": !frame.nullable<i64>>

// -----

// expected-error @+1 {{names of fields must be unique in a struct, or all empty, got: "a"}}
func.func private @struct_c2() -> !frame.struct<"a": i64, "a": i32>

// -----

// expected-error @+1 {{a map needs keys and values of scalar types that are not nullable, got '!frame.double_double'}}
func.func private @map_c1() -> !frame.map<i64, !frame.double_double>

// -----

// expected-error @+1 {{texts of an enum must be unique, got: "a"}}
func.func private @enum_c1(!frame.enum<"a", "b", "a">)

// -----

// expected-error @+1 {{expected s, ms, us or ns, got min}}
func.func private @unit() -> !frame.timestamp<min>
