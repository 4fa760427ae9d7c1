// The morsels of a slot that is bound to CSV files, and the statistics document of such files.
#pragma once

#include "runtime/storage/columns/source.h"
#include "runtime/storage/csv/csv_file.h"

#include <memory>
#include <vector>

namespace headrace::storage {

using CsvFiles = std::vector<std::shared_ptr<const CsvFile>>;

/// As Storage::statistics. Rows are counted; of values nothing is known. The columns are those of
/// the first file, in any order in the others; under union_by_name those of all.
nlohmann::json csvStatistics(const CsvFiles &files);

/// A morsel is a piece of a file. Values are read as the types of the slot's columns; other columns
/// are skipped.
Expected<std::unique_ptr<MorselSource>> makeCsvSource(const plan::Slot &slot, CsvFiles files,
                                                      Share share, uint64_t aheadBytesMax = 0);

} // namespace headrace::storage
