// Rows times bytes, against what memory holds of them.
#include "model/plan/waiting_rows.h"

#include "runtime/abi/type_bytes.h"

#include <algorithm>

namespace headrace::plan {
namespace {

/// Of the memory, what chunks of rows in parts take before they are written out: they are in blocks
/// that they do not quite fill, beside pages that are read. Measured: 0.70 to 0.78.
constexpr double kRowsShare = 0.75;

double rowBytes(const Stream &stream) {
  double bytes = stream.textBytes;
  for (const Column &column : stream.schema.columns) {
    bytes += column.type == HR_STRING ? 4 : column.type == HR_BOOL ? 0.125 : abi::bytesOf(column.type);
    bytes += column.nullable ? 0.125 : 0;
  }
  return bytes;
}

} // namespace

WaitingRows waitingRows(const Plan &plan, const RepeatTask &repeat) {
  WaitingRows waiting;
  for (int32_t task : repeat.tasks) {
    const int32_t input = plan.tasks[task].inputStream();
    if (input != kNone && plan.streams[input].parts != 0) {
      const Stream &stream = plan.streams[input];
      waiting.bytes += static_cast<double>(stream.rows.expected) * rowBytes(stream);
    }
  }
  const double memory = plan.explanation.memoryBytesMax;
  if (memory > 0) {
    waiting.onDiskBytes = std::max(0.0, waiting.bytes - kRowsShare * memory);
  }
  return waiting;
}

} // namespace headrace::plan
