// How a table's columns are declared in a Parquet file.
#pragma once

#include "runtime/base/status.h"

#include <arrow/type.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <memory>

namespace headrace::storage {

struct TableSchema {
  std::shared_ptr<parquet::SchemaDescriptor> parquet;
  /// What Arrow's readers make columns of the same types from; null: they go by the file's.
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
};

/// kUnsupported: a type that Parquet does not have.
Expected<TableSchema> tableSchema(const arrow::Schema &schema,
                                  const parquet::WriterProperties &properties);

} // namespace headrace::storage
