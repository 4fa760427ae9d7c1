// A rank's part of an Arrow table that is whole nowhere: of one that a driver has scattered.
#pragma once

#include "runtime/storage/storage.h"

#include <memory>
#include <string>

namespace headrace::storage {

/// Which rows of a table a part has.
struct TablePart {
  Share share;           ///< whose rows these are
  uint64_t firstRow = 0; ///< the number of the first of them in the whole table
  std::string identity;  ///< of the whole table: the same on all ranks
};

/// The table of which `rows` are a part, for scans by exactly that share; any other is refused
/// (kInternal). Its morsels are numbered within the part, whatever reach is asked for. Its
/// statistics say only which table it is of.
std::shared_ptr<const ArrowTable> partOfTable(std::shared_ptr<const ArrowTable> rows,
                                              TablePart part);

} // namespace headrace::storage
