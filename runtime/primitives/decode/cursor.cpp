// A cursor stands before a row of a segment; runs of a hybrid stream are opened when their rows are
// wanted.
#include "runtime/primitives/decode/cursor.h"

namespace headrace::primitives {
namespace {

void enterSegment(HrCursor *cursor, uint32_t index) {
  cursor->segment = index;
  cursor->row = 0;
  cursor->runRows = 0;
  cursor->runValue = 0;
  cursor->packed = nullptr;
  cursor->packedRow = 0;
  cursor->next = nullptr;
  cursor->end = nullptr;
  if (index < cursor->column->segmentCount) {
    const HrSegment &segment = cursor->column->segments[index];
    if (segment.encoding == HR_CODES) {
      cursor->next = static_cast<const uint8_t *>(segment.data);
      cursor->end = cursor->next + segment.bytes;
    }
  }
}

} // namespace

void cursorOpen(HrCursor *cursor, const HrColumn *column) {
  cursor->column = column;
  cursor->reserved = 0;
  enterSegment(cursor, 0);
}

uint32_t cursorRun(HrCursor *cursor) {
  const HrColumn &column = *cursor->column;
  while (cursor->segment < column.segmentCount) {
    uint32_t left = column.segments[cursor->segment].rows - cursor->row;
    if (left != 0) {
      return left;
    }
    enterSegment(cursor, cursor->segment + 1);
  }
  return 0;
}

uint32_t cursorEncoding(const HrCursor *cursor) {
  const HrColumn &column = *cursor->column;
  return cursor->segment < column.segmentCount ? column.segments[cursor->segment].encoding
                                               : static_cast<uint32_t>(HR_VALUES);
}

} // namespace headrace::primitives
