// The literal rows of a plan's slot, as morsels.
#pragma once

#include "runtime/storage/columns/source.h"

#include <memory>

namespace headrace::exec {

/// The rows of a slot of values, on the first rank of the share or, unshared, on every rank.
/// The slot must have columns, and as many cells as its rows need (plan::check).
Expected<std::unique_ptr<storage::MorselSource>> openValues(const plan::Slot &slot,
                                                            storage::Share share);

} // namespace headrace::exec
