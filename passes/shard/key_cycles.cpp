// How long a cycle is: as many stretches a rank as leave each several row groups long.
#include "passes/shard/key_cycles.h"

#include "dialects/dist/DistDialect.h"
#include "passes/analysis/scan_statistics.h"

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
  for (Operation &op : block) {
    if (auto scan = dyn_cast<ScanOp>(op)) {
      addScan(scan);
    } else if (auto relation = dyn_cast<RelationalOpInterface>(op); relation && !origins_.empty()) {
      addKeys(relation);
      pass(relation);
      if (auto filter = dyn_cast<FilterOp>(op)) {
        narrow(filter, rows);
      }
    }
  }
}

void KeyCycles::addScan(ScanOp scan) {
  DictionaryAttr table = scan.getStatistics().value_or(DictionaryAttr());
  const double rowGroups = analysis::numberOf(table, "row_groups").value_or(1);
  auto type = scan.getResult().getType();
  for (auto [index, file] : llvm::enumerate(scan.getFileColumns().getAsRange<StringAttr>())) {
    DictionaryAttr known = analysis::statisticsOf(scan, file);
    auto min = known ? known.getAs<IntegerAttr>("min") : IntegerAttr();
    auto max = known ? known.getAs<IntegerAttr>("max") : IntegerAttr();
    if (!analysis::isOrdered(known) || !dist::hasNeighbours(type.getColumns()[index].type) ||
        !min || !max) {
      continue;
    }
    StringAttr name = type.getNames()[index];
    columns_[scan].push_back({name, static_cast<unsigned>(origins_.size())});
    compared_.insert(static_cast<unsigned>(origins_.size()));
    origins_.push_back({scan, name, min.getValue().signedRoundToDouble(),
                        max.getValue().signedRoundToDouble(), rowGroups});
  }
}

const unsigned *KeyCycles::originOf(Value table, StringAttr column) const {
  auto known = columns_.find(table);
  if (known == columns_.end()) {
    return nullptr;
  }
  const auto *found =
      llvm::find_if(known->second, [&](const auto &entry) { return entry.first == column; });
  return found == known->second.end() ? nullptr : &found->second;
}

void KeyCycles::addKeys(RelationalOpInterface op) {
  const RowSharding rule = op.getSharding();
  for (size_t pair = 0; !rule.together.empty() && pair < rule.together.front().size(); ++pair) {
    const unsigned *first = nullptr;
    for (auto [operand, keys] : llvm::enumerate(rule.together)) {
      const unsigned *origin =
          pair < keys.size() ? originOf(op->getOperand(operand), keys[pair]) : nullptr;
      if (!origin) {
        continue;
      }
      origins_[*origin].isKey = true;
      if (first) {
        compared_.unionSets(*first, *origin);
      }
      first = origin;
    }
  }
}

void KeyCycles::pass(RelationalOpInterface op) {
  if (op->getNumResults() != 1 ||
      llvm::none_of(op->getOperands(), [&](Value table) { return columns_.contains(table); })) {
    return;
  }
  Columns passed;
  for (const PassedColumn &column : op.getPassedColumns()) {
    const unsigned *origin = column.passing == Passing::kOneOf
                                 ? nullptr
                                 : originOf(op->getOperand(column.operand), column.from);
    if (origin) {
      passed.push_back({column.to, *origin});
    }
  }
  if (!passed.empty()) {
    columns_[op->getResult(0)] = std::move(passed);
  }
}

void KeyCycles::narrow(FilterOp filter, RowEstimates &rows) {
  auto known = columns_.find(filter.getResult());
  for (const auto &[name, number] : known == columns_.end() ? Columns() : known->second) {
    Origin &origin = origins_[number];
    const analysis::ColumnEstimate &left = rows.columnOf(filter.getResult(), name);
    Type type = filter.getResult().getType().getColumnType(name);
    if (!(isInteger(type) || isDate(type)) || !left.low || !left.high) {
      continue;
    }
    const double low = std::max(origin.min, *left.low), high = std::min(origin.max, *left.high);
    if (low <= high) {
      origin.rowGroups *= (high - low + 1) / (origin.max - origin.min + 1);
      origin.min = low;
      origin.max = high;
    }
  }
}

llvm::SmallVector<KeyCycles::Cycle, 2> KeyCycles::of(ScanOp scan, double ranks) const {
  llvm::SmallVector<Cycle, 2> cycles;
  auto columns = columns_.find(scan);
  for (const auto &[name, number] : columns == columns_.end() ? Columns() : columns->second) {
    // Keys beyond the narrowest range go round the ranks again, and are divided as evenly.
    double width = INFINITY, rowGroups = INFINITY;
    bool isKey = false;
    for (unsigned member : compared_.members(number)) {
      const Origin &origin = origins_[member];
      isKey |= origin.isKey;
      width = std::min(width, origin.max - origin.min + 1);
      rowGroups = std::min(rowGroups, origin.rowGroups);
    }
    const double count = std::clamp(std::floor(rowGroups / (kGroupsMin * ranks)), 1.0, kCyclesMax);
    const double keys = std::ceil(width / count);
    if (isKey && keys >= ranks && keys < 0x1p62) {
      cycles.push_back({name, static_cast<int64_t>(keys)});
    }
  }
  return cycles;
}

} // namespace headrace::shard
