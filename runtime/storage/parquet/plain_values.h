// Stored values (plain encoding) to the values of a kernel's type.
#pragma once

#include "runtime/base/status.h"
#include "runtime/primitives/dispatch/isa.h"
#include "runtime/storage/columns/encoded_chunk.h"
#include "runtime/storage/parquet/footer.h"

#include <cstdint>
#include <string_view>

namespace headrace::storage {

/// Converts `count` plain-encoded values in [data, data + bytes) of `column` into out[count] of
/// `type` and widens `range`. Strings become views into `data`, which the caller keeps
/// (with HR_PADDING behind it). kCorrupt: too few bytes, or a text that is not UTF-8. kData: a
/// value that does not fit the type. Messages carry no place.
Status convertPlain(primitives::Isa isa, const ParquetColumn &column, const uint8_t *data,
                    uint64_t bytes, uint64_t count, HrType type, ValueRange &range, void *out);

} // namespace headrace::storage
