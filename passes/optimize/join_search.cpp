// The search for a join order: dynamic programming over connected sets of relations, greedy beyond.
#include "passes/optimize/join_graph.h"
#include "passes/optimize/join_prices.h"

#include <cmath>

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;
using analysis::TableEstimate;

namespace {

/// Of a row in a table that a join builds.
double bytesOf(const TableEstimate &table) {
  double perRow = 0;
  for (const analysis::ColumnEstimate &column : table.columns) {
    perRow += column.bytes;
  }
  return perRow;
}

enum class Products { kForbidden, kAllowed };

class JoinSearch {
public:
  JoinSearch(const JoinGraph &graph, analysis::CardinalityAnalysis &analysis) : graph_(graph) {
    for (auto [index, relation] : llvm::enumerate(graph.relations)) {
      RelationSet set = RelationSet(1) << index;
      TableEstimate estimate = analysis.of(relation);
      auto type = cast<TableType>(relation.getType());
      for (const JoinPredicate *predicate : graph.predicatesOf(set, 0, 0)) {
        estimate = analysis::estimateFilter(estimate, selectivity(*predicate, estimate, type));
      }
      plans_[set] = {0, 0, 0, std::move(estimate), type};
    }
  }

  /// Whether the best plan of all relations was found.
  bool runExact(Products products) {
    RelationSet all = graph_.all();
    for (RelationSet set = 1; set <= all; ++set) {
      if ((set & (set - 1)) == 0) {
        continue;
      }
      // Each split once: the part with the lowest relation first.
      RelationSet lowest = set & -set;
      for (RelationSet part = (set - 1) & set; part != 0; part = (part - 1) & set) {
        if (part & lowest) {
          tryJoin(part, set & ~part, products);
        }
      }
    }
    return plans_.contains(all);
  }

  void runGreedy() {
    SmallVector<RelationSet> parts;
    for (unsigned index = 0; index < graph_.relations.size(); ++index) {
      parts.push_back(RelationSet(1) << index);
    }
    while (parts.size() > 1) {
      auto [first, second] = cheapestPair(parts, Products::kForbidden);
      if (first == second) {
        std::tie(first, second) = cheapestPair(parts, Products::kAllowed);
      }
      RelationSet joined = parts[first] | parts[second];
      parts[first] = joined;
      parts.erase(parts.begin() + second);
    }
  }

  std::unique_ptr<JoinTree> tree(RelationSet set) const {
    const Plan &plan = plans_.at(set);
    auto result = std::make_unique<JoinTree>();
    result->relations = set;
    if (plan.probe == 0) {
      result->relation = llvm::countr_zero(set);
      return result;
    }
    result->probe = tree(plan.probe);
    result->build = tree(plan.build);
    return result;
  }

private:
  struct Plan {
    double cost = 0;
    RelationSet probe = 0;
    RelationSet build = 0;
    TableEstimate estimate; // of the set: does not depend on the order
    TableType type;
  };

  static double selectivity(const JoinPredicate &predicate, const TableEstimate &table,
                            TableType type) {
    return analysis::selectivityOf(predicate.expression.value, [&](BlockArgument argument) {
      std::optional<unsigned> index = type.findColumn(predicate.expression.columnOf(argument));
      return index ? &table.columns[*index] : nullptr;
    });
  }

  TableEstimate estimate(RelationSet a, RelationSet b, TableType type) const {
    const Plan &left = plans_.at(a);
    const Plan &right = plans_.at(b);
    analysis::JoinDescription join;
    graph_.keysBetween(a, b, join.leftKeys, join.rightKeys);
    TableEstimate result =
        analysis::estimateJoin(join, left.estimate, left.type, right.estimate, right.type, 1);
    for (const JoinPredicate *predicate : graph_.predicatesOf(a | b, a, b)) {
      result = analysis::estimateFilter(result, selectivity(*predicate, result, type));
    }
    return result;
  }

  void tryJoin(RelationSet a, RelationSet b, Products products) {
    auto left = plans_.find(a);
    auto right = plans_.find(b);
    if (left == plans_.end() || right == plans_.end() ||
        (products == Products::kForbidden && !graph_.connects(a, b))) {
      return;
    }
    auto found = plans_.find(a | b);
    if (found == plans_.end()) {
      TableType type =
          JoinOp::inferResultType(JoinKind::Inner, left->second.type, right->second.type);
      Plan plan{INFINITY, 0, 0, estimate(a, b, type), type};
      found = plans_.emplace(a | b, std::move(plan)).first;
    }
    const TableEstimate &leftTable = left->second.estimate;
    const TableEstimate &rightTable = right->second.estimate;
    bool buildRight = rightTable.rows.expected * bytesOf(rightTable) <=
                      leftTable.rows.expected * bytesOf(leftTable);
    const Plan &probe = buildRight ? left->second : right->second;
    const Plan &build = buildRight ? right->second : left->second;
    const JoinPrices::Rows &prices =
        prices_.of(build.estimate.rows.expected, bytesOf(build.estimate));
    double cost = probe.cost + build.cost + prices.build * build.estimate.rows.expected +
                  prices.probe * probe.estimate.rows.expected +
                  prices.match * found->second.estimate.rows.expected;
    if (cost < found->second.cost) {
      found->second.cost = cost;
      found->second.probe = buildRight ? a : b;
      found->second.build = buildRight ? b : a;
    }
  }

  /// The pair of parts whose join costs least, joined; twice the same index if none is connected.
  std::pair<unsigned, unsigned> cheapestPair(ArrayRef<RelationSet> parts, Products products) {
    std::pair<unsigned, unsigned> best{0, 0};
    double bestCost = INFINITY;
    for (unsigned i = 0; i < parts.size(); ++i) {
      for (unsigned j = i + 1; j < parts.size(); ++j) {
        tryJoin(parts[i], parts[j], products);
        auto plan = plans_.find(parts[i] | parts[j]);
        if (plan != plans_.end() && plan->second.cost < bestCost) {
          bestCost = plan->second.cost;
          best = {i, j};
        }
      }
    }
    return best;
  }

  const JoinGraph &graph_;
  JoinPrices prices_;
  std::map<RelationSet, Plan> plans_; // stable references while it grows
};

} // namespace

std::unique_ptr<JoinTree> headrace::optimize::orderJoins(const JoinGraph &graph,
                                                         analysis::CardinalityAnalysis &analysis,
                                                         unsigned exactMax) {
  JoinSearch search(graph, analysis);
  // The exact search holds a plan for each of 2^n sets.
  constexpr unsigned kExactLimit = 16;
  if (graph.relations.size() > std::min(exactMax, kExactLimit)) {
    search.runGreedy();
  } else if (!search.runExact(Products::kForbidden)) {
    search.runExact(Products::kAllowed);
  }
  return search.tree(graph.all());
}
