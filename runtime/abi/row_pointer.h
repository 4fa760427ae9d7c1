// What an entry of a directory (HrGroupTable, HrJoinTable) holds of a row.
#pragma once

#include <cstdint>

namespace headrace::abi {

/// The row's address; tags are above it.
inline constexpr uint64_t kRowPointerMask = (uint64_t{1} << 48) - 1;
/// In its place where threads share the table: one of them is making the row.
inline constexpr uint64_t kClaimedRow = 1;

} // namespace headrace::abi
