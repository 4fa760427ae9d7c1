// Arrow's own translation, but for intervals, which it does not write.
#include "runtime/storage/parquet/write/table_schema.h"

#include <arrow/ipc/writer.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>

#include <exception>
#include <utility>
#include <vector>

namespace headrace::storage {
namespace {

/// Months, days and milliseconds, of 32 bits each.
constexpr int kIntervalBytes = 12;

/// By leaf, in the order of the schema.
void findIntervals(const arrow::DataType &type, std::vector<bool> &intervals) {
  if (type.num_fields() == 0) {
    intervals.push_back(type.id() == arrow::Type::INTERVAL_MONTH_DAY_NANO);
  }
  for (const auto &field : type.fields()) {
    findIntervals(*field->type(), intervals);
  }
}

std::shared_ptr<arrow::DataType> withBytes(const std::shared_ptr<arrow::DataType> &type);

std::shared_ptr<arrow::Field> withBytes(const std::shared_ptr<arrow::Field> &field) {
  return field->WithType(withBytes(field->type()));
}

/// With bytes in place of intervals.
std::shared_ptr<arrow::DataType> withBytes(const std::shared_ptr<arrow::DataType> &type) {
  switch (type->id()) {
  case arrow::Type::INTERVAL_MONTH_DAY_NANO:
    return arrow::fixed_size_binary(kIntervalBytes);
  case arrow::Type::LIST:
    return arrow::list(withBytes(type->field(0)));
  case arrow::Type::LARGE_LIST:
    return arrow::large_list(withBytes(type->field(0)));
  case arrow::Type::FIXED_SIZE_LIST:
    return arrow::fixed_size_list(withBytes(type->field(0)),
                                  static_cast<const arrow::FixedSizeListType &>(*type).list_size());
  case arrow::Type::MAP: {
    const auto &map = static_cast<const arrow::MapType &>(*type);
    return std::make_shared<arrow::MapType>(withBytes(map.key_field()), withBytes(map.item_field()),
                                            map.keys_sorted());
  }
  case arrow::Type::STRUCT: {
    arrow::FieldVector fields;
    for (const auto &field : type->fields()) {
      fields.push_back(withBytes(field));
    }
    return arrow::struct_(std::move(fields));
  }
  default:
    return type;
  }
}

/// The same node, its leaves of `intervals` declared as such; `leaf` counts them.
parquet::schema::NodePtr withIntervals(const parquet::schema::NodePtr &node,
                                       const std::vector<bool> &intervals, size_t &leaf) {
  if (node->is_primitive()) {
    return !intervals[leaf++]
               ? node
               : parquet::schema::PrimitiveNode::Make(
                     node->name(), node->repetition(), parquet::LogicalType::Interval(),
                     parquet::Type::FIXED_LEN_BYTE_ARRAY, kIntervalBytes, node->field_id());
  }
  const auto &group = static_cast<const parquet::schema::GroupNode &>(*node);
  parquet::schema::NodeVector parts;
  for (int i = 0; i < group.field_count(); ++i) {
    parts.push_back(withIntervals(group.field(i), intervals, leaf));
  }
  const auto kind = node->logical_type()->is_none() ? nullptr : node->logical_type();
  return parquet::schema::GroupNode::Make(node->name(), node->repetition(), parts, kind,
                                          node->field_id());
}

arrow::Result<TableSchema> translated(const arrow::Schema &schema,
                                      const parquet::WriterProperties &properties) {
  TableSchema made;
  const auto arrowProperties = parquet::default_arrow_writer_properties();
  std::vector<bool> intervals;
  bool hasIntervals = false;
  for (const auto &field : schema.fields()) {
    findIntervals(*field->type(), intervals);
  }
  for (bool isOne : intervals) {
    hasIntervals |= isOne;
  }
  if (!hasIntervals) {
    ARROW_RETURN_NOT_OK(
        parquet::arrow::ToParquetSchema(&schema, properties, *arrowProperties, &made.parquet));
    ARROW_ASSIGN_OR_RAISE(auto bytes, arrow::ipc::SerializeSchema(schema));
    const std::string text = arrow::util::base64_encode(std::string_view(*bytes));
    made.metadata = arrow::key_value_metadata({"ARROW:schema"}, {text});
    return made;
  }
  arrow::FieldVector fields;
  for (const auto &field : schema.fields()) {
    fields.push_back(withBytes(field));
  }
  const arrow::Schema plain(fields);
  std::shared_ptr<parquet::SchemaDescriptor> descriptor;
  ARROW_RETURN_NOT_OK(
      parquet::arrow::ToParquetSchema(&plain, properties, *arrowProperties, &descriptor));
  size_t leaf = 0;
  made.parquet = std::make_shared<parquet::SchemaDescriptor>();
  made.parquet->Init(withIntervals(descriptor->schema_root(), intervals, leaf));
  return made;
}

} // namespace

Expected<TableSchema> tableSchema(const arrow::Schema &schema,
                                  const parquet::WriterProperties &properties) {
  try {
    arrow::Result<TableSchema> made = translated(schema, properties);
    if (made.ok()) {
      return *std::move(made);
    }
    return makeError(ErrorKind::kUnsupported, "cannot write Parquet: ", made.status().message());
  } catch (const std::exception &error) {
    return makeError(ErrorKind::kUnsupported, "cannot write Parquet: ", error.what());
  }
}

} // namespace headrace::storage
