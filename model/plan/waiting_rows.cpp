// Rows times bytes, against what memory holds of them.
#include "model/plan/waiting_rows.h"

#include "model/plan/check_rules.h"
#include "runtime/abi/type_bytes.h"

#include <algorithm>

namespace headrace::plan {
namespace {

/// Of the memory, what rows in parts, or kept, take before they are written out: they are in blocks
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

/// Of its rows, what one rank has.
double partOfRank(const Plan &plan, const Operator &op) {
  return op.replicated ? 1 : 1 / static_cast<double>(plan.explanation.ranks);
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
    bytes += std::max(op->rows * each, lacksTexts(plan.streams[stream]) ? op->bytes : 0) *
             partOfRank(plan, *op);
  }
  return bytes;
}

/// Those that there is no room for go to disk.
WaitingRows against(const Plan &plan, double bytes) {
  const double memory = plan.explanation.memoryBytesMax;
  return {bytes, memory > 0 ? std::max(0.0, bytes - kRowsShare * memory) : 0};
}

} // namespace

WaitingRows waitingRows(const Plan &plan, const RepeatTask &repeat) {
  double bytes = 0;
  for (int32_t task : repeat.tasks) {
    const int32_t input = plan.tasks[task].inputStream();
    if (input != kNone && plan.streams[input].parts != 0) {
      bytes += bytesOf(plan, input);
    }
  }
  return against(plan, bytes);
}

WaitingRows keptRows(const Plan &plan, int32_t index) {
  const State &state = plan.states[index];
  double bytes = static_cast<double>(state.rows.expected) * state.rowBytes;
  const bool hasTexts = std::any_of(state.fields.begin(), state.fields.end(),
                                    [](const auto &field) { return field.type == HR_STRING; });
  for (const Task &task : plan.tasks) {
    const int32_t made = task.steps.empty() ? kNone : task.steps.back().op;
    const bool fills =
        std::any_of(task.states().begin(), task.states().end(), [&](const StateArgument &argument) {
          return argument.state == index && argument.use == StateUse::kPerWorker;
        });
    if (hasTexts && fills && inRange(made, plan.explanation.operators.size())) {
      const Operator &op = plan.explanation.operators[made];
      bytes = std::max(bytes, op.bytes * partOfRank(plan, op));
    }
  }
  return against(plan, bytes);
}

} // namespace headrace::plan
