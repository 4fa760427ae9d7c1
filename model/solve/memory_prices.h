// Lagrangian prices on memory: a price per tier and time turns the limits into costs. Private to
// model/solve.
#pragma once

#include "model/solve/graph.h"
#include "model/solve/memory_rows.h"

#include <span>

namespace headrace::solve {

/// A price per byte held at one time.
struct PriceAt {
  int32_t tier = 0;
  int32_t time = 0;
  double price = 0;
};

/// What every node holds, over rows, in flat arrays; of rows only those at which no other holds at
/// least as much under every choice. Immutable.
class MemoryUses {
public:
  struct Use {
    RowRange rows;
    size_t bytes = 0; ///< in bytes(): one entry per strategy
  };

  explicit MemoryUses(const Problem &problem);

  /// False if no tier can ever be over its limit.
  bool canBind() const { return !limit_.empty(); }
  size_t rowCount() const { return limit_.size(); }
  /// Per row; at least 1, so that it can be a scale.
  const std::vector<double> &limit() const { return limit_; }
  std::span<const Use> of(int32_t node) const {
    return {uses_.data() + first_[node], uses_.data() + first_[node + 1]};
  }
  int32_t tierOf(size_t row) const { return tier_[row]; }
  int32_t timeOf(size_t row) const { return time_[row]; }
  /// The row of a tier whose time is next to a given one; -1 if the tier has none.
  int32_t rowNear(int32_t tier, int32_t time) const;
  /// Per row, what every choice holds; not part of any node's uses.
  const std::vector<double> &settled() const { return settled_; }
  const double *bytes(const Use &use) const { return bytes_.data() + use.bytes; }

  /// Bytes held per row.
  void load(const Choice &choice, std::vector<double> &load) const;
  /// The worst excess of any row, as a fraction of the limit.
  double excess(const Choice &choice) const;
  /// Adds to `unaries` what every strategy holds times `price` per row and byte.
  void addPrices(const Graph &graph, const std::vector<double> &price, Unaries &unaries) const;
  /// The same for the `strategies` of one node; `prefix[i]` is the sum of the prices of the first i
  /// rows.
  void addPrices(int32_t node, int32_t strategies, const std::vector<double> &prefix,
                 double *costs) const;

private:
  /// Fills limits; for every row of `rows`, and the end, the first row from there on that is kept.
  std::vector<int32_t> chooseRows(const Problem &problem, const MemoryRows &rows);

  std::vector<double> limit_;
  std::vector<int32_t> tier_; ///< of one tier, rows are in the order of time
  std::vector<int32_t> time_;
  std::vector<double> settled_;
  std::vector<int32_t> first_;
  std::vector<Use> uses_;
  std::vector<double> bytes_;
};

/// The dual variables.
class MemoryPrices {
public:
  explicit MemoryPrices(const MemoryUses &uses) : uses_(&uses), price_(uses.rowCount(), 0.0) {}

  const std::vector<double> &price() const { return price_; }
  /// Prices that are not 0, by time.
  std::vector<PriceAt> list() const;
  /// Prices of a problem with the same times; each goes to the nearest row.
  void set(const std::vector<PriceAt> &prices);
  /// What the prices take off the dual bound: Σ price × (limit − what every choice holds).
  double rebate() const;
  /// A subgradient step: prices rise where the choice is over the limit and fall where it is under.
  /// `gap`: distance in cost between the best known choice and the dual value, sets the step's
  /// length.
  void update(const Choice &choice, double gap);

private:
  const MemoryUses *uses_; ///< never null
  std::vector<double> price_;
  std::vector<double> load_;
  std::vector<double> direction_;
};

} // namespace headrace::solve
