// Decoding for callers that know the width of values when they run.
#pragma once

#include "runtime/abi/imports.h"

namespace headrace {

/// The cursor's next rows as values of `width` bytes each; an HrErrorCode.
inline int32_t decodeValues(const HrImports &imports, HrCursor *cursor, uint32_t rows,
                            uint32_t width, void *out) {
  switch (width) {
  case 1:
    return imports.hr_decode_8_(cursor, rows, out);
  case 2:
    return imports.hr_decode_16_(cursor, rows, out);
  case 4:
    return imports.hr_decode_32_(cursor, rows, out);
  case 8:
    return imports.hr_decode_64_(cursor, rows, out);
  default:
    return imports.hr_decode_128_(cursor, rows, out);
  }
}

} // namespace headrace
