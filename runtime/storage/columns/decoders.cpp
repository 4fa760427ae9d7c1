// Primitives are chosen once; a segment is a column of its own.
#include "runtime/storage/columns/decoders.h"

#include "runtime/primitives/fill.h"

namespace headrace::storage {

const Decoders &Decoders::get() {
  static const Decoders decoders = [] {
    Expected<primitives::Isa> isa = primitives::chooseIsa();
    Decoders result{isa.ok() ? *isa : primitives::detectIsa(), {}};
    primitives::fillPrimitiveImports(&result.imports, result.isa);
    return result;
  }();
  return decoders;
}

bool Decoders::decode(const HrSegment &segment, const void *dictionary, uint32_t dictionaryCount,
                      uint32_t width, void *out) const {
  const HrColumn column{&segment, 1, dictionaryCount, dictionary};
  auto decode = width == 1   ? imports.hr_decode_8_
                : width == 2 ? imports.hr_decode_16_
                : width == 4 ? imports.hr_decode_32_
                : width == 8 ? imports.hr_decode_64_
                             : imports.hr_decode_128_;
  HrCursor cursor;
  imports.hr_cursor_open_(&cursor, &column);
  return decode(&cursor, segment.rows, out) == HR_OK;
}

} // namespace headrace::storage
