// Which physical types may be promised for a column of a file or Arrow table, and names of types.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/base/logical_type.h"
#include "runtime/base/status.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace headrace::storage {

/// Whether a kernel may read a column of this type as `type`.
bool canBe(const LogicalType &column, HrType type);
/// Whether a file's column of type `stored` can be read where a table's is `wanted`: the same, or
/// an integer of fewer bits.
bool widensTo(const LogicalType &stored, const LogicalType &wanted);
/// As statistics documents have it: {"kind": "decimal", "precision": 15, "scale": 2}.
nlohmann::json typeJson(const LogicalType &type);
/// The same back, of what is not nested.
LogicalType typeOf(const nlohmann::json &json);
/// The part of a statistics document (Storage::statistics) about a column of which no values are
/// known. `type`: as typeJson gives it.
nlohmann::json unknownColumn(size_t index, nlohmann::json type, bool nullable);

const char *typeName(HrType type);
/// Whether values in [min, max] fit the integer type.
bool fitsInteger(HrType type, __int128 min, __int128 max);
std::string integerText(__int128 value);
/// A stored integer in units of which it has `factor`; what stands for infinity in any unit stays.
inline __int128 inUnits(__int128 stored, int64_t factor) {
  constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();
  return stored == kInfinity || stored == -kInfinity ? stored : stored * factor;
}

} // namespace headrace::storage
