// The statistics document of a table made of Parquet files (layout: storage.h).
#pragma once

#include "runtime/storage/parquet/parquet_file.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace headrace::storage {

/// The files must have the columns of the first, of types of which one holds the others, in any
/// order; under union_by_name each may lack any.
Expected<nlohmann::json> parquetStatistics(const std::vector<TableFile> &files);

} // namespace headrace::storage
