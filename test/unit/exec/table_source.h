// Tables of 64-bit integers in memory as morsel sources for the tests.
#pragma once

#include "runtime/exec/program.h"

#include <cstdint>
#include <vector>

namespace headrace::exec {
/// Column major; all columns of one length.
using TestTable = std::vector<std::vector<int64_t>>;
/// Cut into morsels of `morselRows`, dealt to the ranks in contiguous shares.
OpenSource openTable(const TestTable &table, size_t morselRows);
} // namespace headrace::exec
