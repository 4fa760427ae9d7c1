// The morsels of a slot that is bound to Parquet files: row groups, large ones in several pieces.
#pragma once

#include "runtime/storage/columns/source.h"
#include "runtime/storage/parquet/chunk_reader.h"

#include <memory>
#include <vector>

namespace headrace::storage {

/// Checks the slot against the files' schemas, prunes, and takes this rank's share. Row groups of
/// more than 1.5 times `Slot.pieceRows` are read in pieces of about as many, in which workers and
/// ranks share them and which take so much less memory.
Expected<std::unique_ptr<MorselSource>> makeScanSource(const plan::Slot &slot,
                                                       std::vector<TableFile> files,
                                                       PageSupply supply, Share share);

} // namespace headrace::storage
