// The hashes by which the rows of a chunk go to ranks, as kernels computed them.
#pragma once

#include "runtime/exec/chunk/chunk.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::exec {

struct KeyHashes {
  std::vector<uint64_t> hashes; ///< by row
  std::vector<uint8_t> null;    ///< by row: 1 if one of its keys is NULL; empty: no row has one
};

/// Of the rows first, first + step, …: by these columns, in their order. `out` is written over.
void hashKeys(const Chunk &chunk, const plan::Schema &schema, std::span<const int32_t> columns,
              uint32_t first, uint32_t step, KeyHashes &out);

/// Whether values of these columns with the same hash are equal, NULLs aside.
bool hashesAreExact(const plan::Schema &schema, std::span<const int32_t> columns);

} // namespace headrace::exec
