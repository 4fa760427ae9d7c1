// What all columns of texts have in common.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <string_view>

namespace headrace::storage {

/// Of a column of texts: the value of this number is none (kCorrupt).
Status notUtf8(std::string_view text, uint64_t number);

/// 64 zero bytes: what the view of an empty string or a NULL points to.
const uint8_t *emptyText();

} // namespace headrace::storage
