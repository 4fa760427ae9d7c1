// Rows times bytes, against what memory holds of them.
#include "model/plan/waiting_rows.h"

#include "model/plan/check_rules.h"
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
    bytes += column.type == HR_STRING ? 4
             : column.type == HR_BOOL ? 0.125
                                      : abi::bytesOf(column.type);
    bytes += column.nullable ? 0.125 : 0;
  }
  return bytes;
}

/// Whether it has columns of texts of which it does not know how long they are.
bool lacksTexts(const Stream &stream) {
  return stream.textBytes == 0 &&
         std::any_of(stream.schema.columns.begin(), stream.schema.columns.end(),
                     [](const Column &c) { return c.type == HR_STRING; });
}

/// Whose rows a task hands to the operator that its last step belongs to; null: not known.
const Operator *onTheWay(const Plan &plan, const Task &task) {
  const std::vector<Operator> &operators = plan.explanation.operators;
  const int32_t last = task.steps.empty() ? kNone : task.steps.back().op;
  for (auto step = task.steps.rbegin(); step != task.steps.rend(); ++step) {
    if (step->op != last && inRange(step->op, operators.size())) {
      return &operators[step->op];
    }
  }
  return nullptr;
}

/// Of one rank. Where it is not known what comes, as much as the state is thought to hold.
double bytesOf(const Plan &plan, int32_t stream) {
  const double each = rowBytes(plan.streams[stream]);
  double bytes = 0;
  for (const Task &task : plan.tasks) {
    if (task.outputStream() != stream) {
      continue;
    }
    const Operator *op = onTheWay(plan, task);
    if (!op || op->rows < 0) {
      return static_cast<double>(plan.streams[stream].rows.expected) * each;
    }
    // Streams to those who look into a state do not know.
    const double ofRank = op->replicated ? 1 : 1 / static_cast<double>(plan.explanation.ranks);
    bytes += std::max(op->rows * each, lacksTexts(plan.streams[stream]) ? op->bytes : 0) * ofRank;
  }
  return bytes;
}

} // namespace

WaitingRows waitingRows(const Plan &plan, const RepeatTask &repeat) {
  WaitingRows waiting;
  for (int32_t task : repeat.tasks) {
    const int32_t input = plan.tasks[task].inputStream();
    if (input != kNone && plan.streams[input].parts != 0) {
      waiting.bytes += bytesOf(plan, input);
    }
  }
  const double memory = plan.explanation.memoryBytesMax;
  if (memory > 0) {
    waiting.onDiskBytes = std::max(0.0, waiting.bytes - kRowsShare * memory);
  }
  return waiting;
}

} // namespace headrace::plan
