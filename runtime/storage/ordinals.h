// The column of a slot that no file has: ordinals, the numbers of the rows in their table.
#pragma once

#include "runtime/storage/columns/source.h"

#include <functional>

namespace headrace::storage {

/// Opens the rows of a slot without such a column.
using OpenSource =
    std::function<Expected<std::unique_ptr<MorselSource>>(const plan::Slot &, Share)>;

/// The rows of any slot: `open` is asked for the columns that are in files.
Expected<std::unique_ptr<MorselSource>> openWithOrdinals(const plan::Slot &slot, Share share,
                                                         const OpenSource &open);

} // namespace headrace::storage
