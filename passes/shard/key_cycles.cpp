// How long a cycle is: as many stretches a rank as leave each several row groups long.
#include "passes/shard/key_cycles.h"

#include "dialects/dist/DistDialect.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

/// Row groups of a stretch, at least: those at its ends are read by two ranks. Shorter stretches
/// would spread rows better where a condition keeps those of a few neighbouring keys.
constexpr double kGroupsMin = 8;
/// Cycles of a table, at most.
constexpr double kCyclesMax = 1024;

} // namespace

void KeyCycles::add(Block &block, RowEstimates &rows) {
  for (auto op : block.getOps<RelationalOpInterface>()) {
    const RowSharding rule = op.getSharding();
    for (size_t pair = 0; !rule.together.empty() && pair < rule.together.front().size(); ++pair) {
      std::optional<unsigned> first;
      for (auto [operand, keys] : llvm::enumerate(rule.together)) {
        std::optional<unsigned> key =
            pair < keys.size() ? keyOf(op->getOperand(operand), keys[pair], rows) : std::nullopt;
        if (key && first) {
          compared_.unionSets(*first, *key);
        }
        first = key ? key : first;
      }
    }
  }
}

std::optional<unsigned> KeyCycles::keyOf(Value table, StringAttr column, RowEstimates &rows) {
  const analysis::ColumnEstimate &estimate = rows.columnOf(table, column);
  auto scan = dyn_cast_or_null<ScanOp>(estimate.source);
  std::optional<unsigned> number =
      scan && estimate.origin ? keyOf(scan, estimate.origin, rows) : std::nullopt;
  Type type = cast<TableType>(table.getType()).getColumnType(column);
  if (number && (isInteger(type) || isDate(type)) && estimate.low && estimate.high) {
    Key &key = keys_[*number];
    const double low = std::max(key.min, *estimate.low), high = std::min(key.max, *estimate.high);
    if (low <= high) {
      key.min = low;
      key.max = high;
    }
  }
  return number;
}

std::optional<unsigned> KeyCycles::keyOf(ScanOp scan, StringAttr origin, RowEstimates &rows) {
  auto type = scan.getResult().getType();
  for (auto [name, file] :
       llvm::zip(type.getNames(), scan.getFileColumns().getAsRange<StringAttr>())) {
    if (rows.columnOf(scan, name).origin != origin) {
      continue;
    }
    const auto *known = llvm::find_if(
        keys_, [&](const Key &key) { return key.scan == scan && key.column == name; });
    if (known != keys_.end()) {
      return static_cast<unsigned>(known - keys_.begin());
    }
    DictionaryAttr statistics = analysis::statisticsOf(scan, file);
    std::optional<double> min = analysis::numberOf(statistics, "min"),
                          max = analysis::numberOf(statistics, "max");
    if (!analysis::isOrdered(statistics) || !dist::hasNeighbours(type.getColumnType(name)) ||
        !min || !max) {
      return std::nullopt;
    }
    const double groups =
        analysis::numberOf(scan.getStatistics().value_or(DictionaryAttr()), "row_groups")
            .value_or(1);
    const auto number = static_cast<unsigned>(keys_.size());
    compared_.insert(number);
    keys_.push_back({scan, name, *min, *max, groups / (*max - *min + 1)});
    return number;
  }
  return std::nullopt;
}

llvm::SmallVector<KeyCycles::Cycle, 2> KeyCycles::of(ScanOp scan, double ranks) const {
  llvm::SmallVector<Cycle, 2> cycles;
  for (auto [number, key] : llvm::enumerate(keys_)) {
    if (key.scan != scan) {
      continue;
    }
    // Keys beyond the narrowest range go round the ranks again, and are divided as evenly.
    double width = INFINITY, rowGroups = INFINITY;
    for (unsigned member : compared_.members(static_cast<unsigned>(number))) {
      width = std::min(width, keys_[member].width());
      rowGroups = std::min(rowGroups, keys_[member].groupsAKey * keys_[member].width());
    }
    const double count = std::clamp(std::floor(rowGroups / (kGroupsMin * ranks)), 1.0, kCyclesMax);
    const double keys = std::ceil(width / count);
    if (keys >= ranks && keys < 0x1p62) {
      cycles.push_back({key.column, static_cast<int64_t>(keys)});
    }
  }
  return cycles;
}

} // namespace headrace::shard
