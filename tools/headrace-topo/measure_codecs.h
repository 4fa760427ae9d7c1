// What codecs do to rows of tables on this machine.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// Ratio and rates of lz4, snappy and zstd, at their usual levels, on all threads at once; by name.
/// The bytes are columns such as a table of orders has: ascending keys, quantities, prices, dates
/// and short texts. Half a second a codec.
std::vector<CodecRates> measureCodecs(int64_t threads);

} // namespace headrace::topo
