// A table whose first column is the tree; the others are as wide as their largest number.
#include "model/plan/explain.h"

#include "model/plan/check_rules.h"
#include "model/plan/dependencies.h"
#include "model/plan/measured_operators.h"
#include "model/plan/waiting_rows.h"
#include "runtime/base/readable.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace headrace::plan {
namespace {

constexpr size_t kWidth = 120;
constexpr size_t kGap = 2;
/// Branches within branches that are drawn; what is deeper is told by a number.
constexpr size_t kDrawnLevels = 10;
/// A gap to the optimum that is rounding.
constexpr double kNoGap = 1e-6;
/// In place of a time: the operator is in one kernel with one above it, which has the time of both.
constexpr const char *kTimedAbove = "\"";

struct Row {
  std::string label;
  std::vector<std::string> cells;
};

std::string numberOr(double value, std::string (*format)(double)) {
  return value < 0 ? "" : format(value);
}

class Tree {
public:
  Tree(const Plan &plan, const ExplainOptions &options)
      : options_(options), operators_(plan.explanation.operators), task_(tasksOfOperators(plan)) {
    users_.assign(operators_.size(), 0);
    for (const Operator &op : operators_) {
      for (int32_t input : op.inputs) {
        if (inRange(input, operators_.size())) {
          ++users_[input];
        }
      }
    }
    if (options.measured) {
      measured_ = measuredOperators(plan, *options.measured);
      taskSeconds_ = measuredTaskSeconds(plan, *options.measured);
      estimatedTaskSeconds_.assign(plan.tasks.size(), -1);
      for (size_t op = 0; op < operators_.size(); ++op) {
        if (task_[op] != kNone && operators_[op].seconds >= 0) {
          double &sum = estimatedTaskSeconds_[task_[op]];
          sum = std::max(sum, 0.0) + operators_[op].seconds;
        }
      }
    }
  }

  std::string write() {
    rows_.push_back({"operator", headings()});
    for (size_t op = operators_.size(); op-- > 0;) {
      if (users_[op] == 0) {
        add(static_cast<int32_t>(op), {});
      }
    }
    return layOut();
  }

private:
  std::vector<std::string> headings() const {
    return options_.measured ? std::vector<std::string>{"where",     "rows", "estimated", "time",
                                                        "estimated", "sent", "estimated"}
                             : std::vector<std::string>{"where", "rows", "bytes", "time", "sent"};
  }

  /// The operator, what is below it at the same level, and its other inputs as branches.
  void add(int32_t id, std::vector<std::string> branches) {
    while (true) {
      const Operator &op = operators_[id];
      bool again = shown_.count(id) > 0;
      addRow(id, prefixOf(branches), again);
      if (again) {
        return;
      }
      shown_.insert(id);
      std::vector<int32_t> inputs;
      for (int32_t input : op.inputs) {
        if (inRange(input, operators_.size()) && input < id) { // operators are in program order
          inputs.push_back(input);
        }
      }
      if (options_.runnersUp == ExplainOptions::RunnersUp::kShown && !op.runnerUp.empty()) {
        rows_.push_back({prefixOf(branches) + "  next best: " + op.runnerUp + ", " +
                             formatSeconds(op.runnerUpSeconds) + " in all",
                         {}});
      }
      if (inputs.empty()) {
        return;
      }
      for (size_t side = inputs.size(); side-- > 1;) {
        std::vector<std::string> inner = branches;
        inner.push_back("├─ ");
        add(inputs[side], std::move(inner));
      }
      id = inputs.front();
      if (!branches.empty()) {
        branches.back() = "│  ";
      }
    }
  }

  static std::string prefixOf(std::vector<std::string> &branches) {
    std::string text;
    for (size_t level = 0; level < branches.size() && level < kDrawnLevels; ++level) {
      text += level + 1 < branches.size() ? "│  " : branches[level];
    }
    if (branches.size() > kDrawnLevels) {
      text += "(" + std::to_string(branches.size()) + ") ";
    }
    if (!branches.empty()) {
      branches.back() = "│  ";
    }
    return text;
  }

  void addRow(int32_t id, const std::string &prefix, bool again) {
    const Operator &op = operators_[id];
    std::string label = prefix + op.name + (op.detail.empty() ? "" : " " + op.detail) +
                        (op.way.empty() ? "" : " [" + op.way + "]");
    if (again) {
      rows_.push_back({prefix + "rows of #" + std::to_string(id) + " above, " + op.name, {}});
      return;
    }
    if (users_[id] > 1) {
      label = prefix + "#" + std::to_string(id) + " " + label.substr(prefix.size());
    }
    rows_.push_back({std::move(label), options_.measured ? measuredCells(id) : estimatedCells(op)});
  }

  static std::vector<std::string> estimatedCells(const Operator &op) {
    return {op.where, numberOr(op.rows, formatCount), numberOr(op.bytes, formatBytes),
            numberOr(op.seconds, formatSeconds), numberOr(op.movedBytes, formatBytes)};
  }

  std::vector<std::string> measuredCells(int32_t id) {
    const Operator &op = operators_[id];
    const MeasuredOperator &measured = measured_[id];
    std::string seconds, estimate;
    if (int32_t task = task_[id]; task == kNone) {
      estimate = numberOr(op.seconds, formatSeconds);
    } else if (timed_.insert(task).second) {
      seconds = numberOr(taskSeconds_[task], formatSeconds);
      estimate = numberOr(estimatedTaskSeconds_[task], formatSeconds);
    } else {
      seconds = estimate = kTimedAbove;
      shared_ = true;
    }
    return {op.where,
            numberOr(measured.rows, formatCount),
            numberOr(op.rows, formatCount),
            seconds,
            estimate,
            numberOr(measured.movedBytes, formatBytes),
            numberOr(op.movedBytes, formatBytes)};
  }

  std::string layOut() const {
    size_t columns = rows_.front().cells.size();
    std::vector<size_t> widths(columns, 0);
    for (const Row &row : rows_) {
      for (size_t c = 0; c < row.cells.size(); ++c) {
        constexpr size_t kWhereMax = 18;
        size_t most = c == 0 ? kWhereMax : kWidth;
        widths[c] = std::max(widths[c], std::min(displayWidth(row.cells[c]), most));
      }
    }
    size_t taken = 0;
    for (size_t width : widths) {
      taken += width + kGap;
    }
    size_t labels = 0;
    for (const Row &row : rows_) {
      labels = std::max(labels, row.cells.empty() ? 0 : displayWidth(row.label));
    }
    labels = std::min(labels, kWidth - taken);
    std::string text;
    for (const Row &row : rows_) {
      std::string line = cutToWidth(row.label, row.cells.empty() ? kWidth : labels);
      for (size_t c = 0; c < row.cells.size(); ++c) {
        std::string cell = cutToWidth(row.cells[c], widths[c]);
        std::string space(widths[c] - displayWidth(cell), ' ');
        size_t before = c == 0 ? labels - displayWidth(line) : 0;
        line += std::string(before + kGap, ' ') + (c == 0 ? cell + space : space + cell);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return shared_ ? text + "\n" + kTimedAbove +
                         " in one kernel with an operator above, whose time is that of both\n"
                   : text;
  }

  const ExplainOptions &options_;
  const std::vector<Operator> &operators_;
  std::vector<int32_t> task_; ///< per operator
  std::vector<int> users_;
  std::vector<MeasuredOperator> measured_;
  std::vector<double> taskSeconds_, estimatedTaskSeconds_;
  std::set<int32_t> shown_;
  std::set<int32_t> timed_;
  bool shared_ = false; ///< some kernel has several operators
  std::vector<Row> rows_;
};

std::string rankCount(int64_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

std::string heading(const Plan &plan) {
  const Explanation &why = plan.explanation;
  const bool inRounds = std::any_of(plan.tasks.begin(), plan.tasks.end(),
                                    [](const Task &task) { return task.as<RepeatTask>(); });
  std::string text = why.note;
  text += rankCount(why.ranks) + " of topology " + why.topology + ": estimated " +
          formatSeconds(why.totalSeconds);
  if (why.boundSeconds > 0) {
    double gap = 1 - why.boundSeconds / why.totalSeconds;
    text += gap <= kNoGap
                ? ", proven the least"
                : ", at most " + formatCount(std::max(100 * gap, 1.0)) + " % above the least";
  }
  text += " (solved in " + formatSeconds(why.solveSeconds) + ")\n";
  text += "a rank holds " + formatBytes(why.memoryBytes) + " of " +
          formatBytes(why.memoryBytesMax) + " at most" +
          (why.whyNothingFits.empty() || inRounds
               ? ""
               : "; what has no room waits on disk: " + why.whyNothingFits) +
          "\n";
  text +=
      why.order.empty() ? "" : "tasks in the order that is simulated to take " + why.order + "\n";
  return text;
}

std::string measuredHeading(const Profile &measured) {
  int64_t peak = 0;
  for (int64_t bytes : measured.peakBytes) {
    peak = std::max(peak, bytes);
  }
  const int64_t spilled =
      std::accumulate(measured.spilledBytes.begin(), measured.spilledBytes.end(), int64_t(0));
  return "measured " + formatSeconds(measured.wallSeconds) + " on " + rankCount(measured.ranks) +
         " with " + std::to_string(measured.threads) +
         (measured.threads == 1 ? " worker" : " workers") + "; a rank held " + formatBytes(peak) +
         " at most" + (spilled > 0 ? ", " + formatBytes(spilled) + " waited on disk" : "") + "\n";
}

/// A line for each repeat: whose states are there part after part, and what that took.
std::string roundsText(const Plan &plan, const Profile *measured) {
  std::string text;
  const std::vector<char> ofRounds = statesOfRounds(plan);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const auto *repeat = plan.tasks[t].as<RepeatTask>();
    if (!repeat) {
      continue;
    }
    text += "in rounds of " + formatBytes(static_cast<double>(repeat->roomBytes));
    const char *separator = ": ";
    for (int32_t inner : repeat->tasks) {
      for (const StateArgument &filled : plan.tasks[inner].states()) {
        const State &state = plan.states[filled.state];
        if (filled.use == StateUse::kPerWorker && ofRounds[filled.state]) {
          text += separator + (state.place == kNone ? state.name : plan.places[state.place].text);
          separator = ", ";
        }
      }
    }
    const WaitingRows waiting = waitingRows(plan, *repeat);
    text += "; " + formatBytes(waiting.bytes) + " of rows wait" +
            (waiting.onDiskBytes > 0
                 ? ", of them about " + formatBytes(waiting.onDiskBytes) + " on disk"
                 : " in memory");
    int64_t rounds = 0;
    for (const TaskProfile &task : measured ? measured->tasks : std::vector<TaskProfile>()) {
      if (task.task == static_cast<int32_t>(t)) {
        rounds = std::max(rounds, task.morsels);
      }
    }
    if (measured) {
      text += "; took " + std::to_string(rounds) + (rounds == 1 ? " round" : " rounds");
    }
    text += "\n";
  }
  return text;
}

/// A line for each table that several tasks read and memory has no room for.
std::string keptText(const Plan &plan) {
  std::string text;
  for (size_t s = 0; s < plan.states.size(); ++s) {
    const State &state = plan.states[s];
    const WaitingRows kept = state.kind == StateKind::kRowBuffer
                                 ? keptRows(plan, static_cast<int32_t>(s))
                                 : WaitingRows();
    if (kept.onDiskBytes > 0) {
      text += "kept to be read again: " +
              (state.place == kNone ? state.name : plan.places[state.place].text) + "; " +
              formatBytes(kept.bytes) + " of rows wait, of them about " +
              formatBytes(kept.onDiskBytes) + " on disk\n";
    }
  }
  return text;
}

/// A line for each pair of exchanges that found heavy keys.
std::string heavyKeysText(const Plan &plan, const Profile &measured) {
  struct Found {
    int64_t keys = 0; ///< of one rank: all have agreed on the same
    int64_t rows = 0; ///< of all ranks
  };
  std::map<int32_t, Found> pairs;
  for (const TaskProfile &task : measured.tasks) {
    const auto *exchange =
        inRange(task.task, plan.tasks.size()) ? plan.tasks[task.task].as<ExchangeTask>() : nullptr;
    if (exchange && task.heavyKeys > 0) {
      Found &found = pairs[exchange->pair];
      found.keys = std::max(found.keys, task.heavyKeys);
      found.rows += task.heavyRows;
    }
  }
  std::string text;
  for (const auto &[pair, found] : pairs) {
    text += std::to_string(found.keys) + (found.keys == 1 ? " key" : " keys") +
            " of a join had many rows: " + formatCount(static_cast<double>(found.rows)) +
            " rows were spread over the ranks, copied to them or left out\n";
  }
  return text;
}

/// A line that says which ranks had fewer keys than others, the first of them by number.
std::string keySharesText(const Profile &measured) {
  constexpr size_t kNamed = 8;
  size_t fewer = 0;
  std::string text;
  for (size_t rank = 0; rank < measured.keyShares.size(); ++rank) {
    if (measured.keyShares[rank] < 1 && ++fewer <= kNamed) {
      text += (text.empty() ? "" : ", ") + std::string("rank ") + std::to_string(rank) + " " +
              std::to_string(std::lround(100 * measured.keyShares[rank])) + " %";
    }
  }
  if (fewer > kNamed) {
    text += " and " + std::to_string(fewer - kNamed) + " more";
  }
  return text.empty() ? text : "slow ranks had fewer keys, of an equal part: " + text + "\n";
}

/// A line for each scan of which ranks took morsels from others.
std::string sharingText(const Plan &plan, const Profile &measured) {
  struct Moved {
    int64_t morsels = 0;
    std::string taken, given; ///< by rank
  };
  std::map<int32_t, Moved> scans;
  for (const TaskProfile &task : measured.tasks) {
    if (task.morselsTaken + task.morselsGiven == 0 || !inRange(task.task, plan.tasks.size())) {
      continue;
    }
    Moved &moved = scans[task.task];
    moved.morsels += task.morselsTaken;
    auto list = [&](std::string &text, int64_t count) {
      if (count > 0) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " by rank " +
                std::to_string(task.rank);
      }
    };
    list(moved.taken, task.morselsTaken);
    list(moved.given, task.morselsGiven);
  }
  std::string text;
  for (const auto &[task, moved] : scans) {
    const LoadTask *load = scanOf(plan, plan.tasks[task]);
    text += "ranks shared " + std::to_string(moved.morsels) +
            (moved.morsels == 1 ? " morsel" : " morsels") + " of " +
            (load ? plan.slots[load->slot].name : plan.tasks[task].name) + ": taken " +
            moved.taken + "; given " + moved.given + "\n";
  }
  return text;
}

} // namespace

std::string explain(const Plan &plan, const ExplainOptions &options) {
  const Explanation &why = plan.explanation;
  std::string text = why.note;
  if (why.ranks > 0 && !why.topology.empty()) {
    text = heading(plan);
  }
  if (options.measured) {
    text += measuredHeading(*options.measured);
    text += heavyKeysText(plan, *options.measured);
    text += keySharesText(*options.measured);
    text += sharingText(plan, *options.measured);
  }
  text += roundsText(plan, options.measured) + keptText(plan);
  return why.operators.empty() ? text : text + "\n" + Tree(plan, options).write();
}

} // namespace headrace::plan
