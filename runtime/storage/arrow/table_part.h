// Arrow tables that lie in parts on ranks: those that a driver has scattered, and rows that stayed
// where a query made them.
#pragma once

#include "runtime/storage/arrow/arrow_table.h"

#include <memory>
#include <string>
#include <vector>

namespace headrace::storage {

/// What one rank has of a table.
struct TablePart {
  uint32_t rank = 0;
  uint64_t firstRow = 0; ///< the number of the first of its rows in the whole table
  std::shared_ptr<const ArrowTable> rows;
};

/// A table in parts of so many ranks, of which some are here; `identity` is that of the whole, the
/// same on all ranks. For scans by exactly the share of one of these ranks; any other is refused
/// (kUser). Morsels are numbered within a part, whatever reach is asked for. The statistics say
/// only which table it is.
std::shared_ptr<const ArrowTable> partedTable(std::vector<TablePart> parts, uint32_t ranks,
                                              std::string identity);

} // namespace headrace::storage
