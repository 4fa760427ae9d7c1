// Opening and stepping a cursor: the part of decoding that does not depend on the instruction set.
#pragma once

#include "runtime/abi/kernel.h"

namespace headrace::primitives {

void cursorOpen(HrCursor *cursor, const HrColumn *column);
uint32_t cursorRun(HrCursor *cursor);
uint32_t cursorEncoding(const HrCursor *cursor);

} // namespace headrace::primitives
