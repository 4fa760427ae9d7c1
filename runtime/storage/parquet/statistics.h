// The statistics document of a table made of Parquet files (layout: storage.h).
#pragma once

#include "runtime/storage/parquet/parquet_file.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace headrace::storage {

/// The files must have one schema (same columns and types in the same order).
Expected<nlohmann::json>
parquetStatistics(const std::vector<std::shared_ptr<const ParquetFile>> &files);

} // namespace headrace::storage
