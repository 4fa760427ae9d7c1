// Which row groups can hold a row that a scan wants: decided from the footer's statistics.
#pragma once

#include "model/plan/plan.h"
#include "runtime/primitives/hash/hash.h"
#include "runtime/storage/parquet/footer.h"

namespace headrace::storage {

/// False only if the statistics rule out every row. An unknown operation or a missing statistic
/// rules out nothing.
bool canSatisfy(const plan::Bound &bound, const ParquetColumn &column, const ParquetChunk &chunk,
                uint64_t rows);

/// False only if no row can have a key (of this chunk) in the stretches of a rank with these
/// places, of a cycle of so many keys.
bool canHaveStretches(int64_t cycle, primitives::KeyInterval places, const ParquetChunk &chunk);

} // namespace headrace::storage
