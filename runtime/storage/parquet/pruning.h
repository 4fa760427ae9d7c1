// Which row groups can hold a row that satisfies a bound: decided from the footer's statistics.
#pragma once

#include "model/plan/plan.h"
#include "runtime/storage/parquet/footer.h"

namespace headrace::storage {

/// False only if the statistics rule out every row. An unknown operation or a missing statistic
/// rules out nothing.
bool canSatisfy(const plan::Bound &bound, const ParquetColumn &column, const ParquetChunk &chunk,
                uint64_t rows);

} // namespace headrace::storage
