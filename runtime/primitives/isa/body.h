// Everything that is compiled once per instruction set. HR_ISA_LEVEL is 1, 3 or 4.
// All of it has internal linkage, and none of it may call inline functions of the standard library.
#pragma once

#include "runtime/primitives/dispatch/table.h"

#include "runtime/primitives/decode/decode_body.h"
#include "runtime/primitives/narrow/narrow_body.h"
#include "runtime/primitives/select/select_body.h"
#include "runtime/primitives/snappy/snappy_body.h"
#include "runtime/primitives/string/search_body.h"
#include "runtime/primitives/string/utf8_body.h"

namespace headrace::primitives {
namespace {

void fillIsaImports(HrImports *table) {
  table->hr_cursor_open_ = cursorOpenAt;
  table->hr_cursor_skip_ = cursorSkip;
  table->hr_decode_8_ = decode<uint8_t>;
  table->hr_decode_16_ = decode<uint16_t>;
  table->hr_decode_32_ = decode<uint32_t>;
  table->hr_decode_64_ = decode<uint64_t>;
  table->hr_decode_128_ = decode<Value128>;
  table->hr_decode_selected_8_ = decodeSelected<uint8_t>;
  table->hr_decode_selected_16_ = decodeSelected<uint16_t>;
  table->hr_decode_selected_32_ = decodeSelected<uint32_t>;
  table->hr_decode_selected_64_ = decodeSelected<uint64_t>;
  table->hr_decode_selected_128_ = decodeSelected<Value128>;
  table->hr_decode_mapped_32_ = decodeMapped<uint32_t>;
  table->hr_decode_validity_ = decodeValidity;
  table->hr_select_bits_ = selectBits;
  table->hr_select_bytes_ = selectBytes;
  table->hr_string_contains_ = stringContains;
  table->hr_string_like_ = stringLike;
}

} // namespace
} // namespace headrace::primitives
