// Lagrangian prices on memory: a price per tier and time turns the limits into costs. Private to
// model/solve.
#pragma once

#include "runtime/model/solve/graph.h"
#include "runtime/model/solve/memory_rows.h"

#include <span>

namespace headrace::solve {

/// What every node holds, over rows, in flat arrays. Immutable.
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
  const double *bytes(const Use &use) const { return bytes_.data() + use.bytes; }

  /// Bytes held per row.
  void load(const Choice &choice, std::vector<double> &load) const;
  /// The worst excess of any row, as a fraction of the limit.
  double excess(const Choice &choice) const;
  /// Adds to `unaries` what every strategy holds times `price` per row and byte.
  void addPrices(const Graph &graph, const std::vector<double> &price, Unaries &unaries) const;

private:
  std::vector<double> limit_;
  std::vector<int32_t> first_;
  std::vector<Use> uses_;
  std::vector<double> bytes_;
};

/// The dual variables.
class MemoryPrices {
public:
  explicit MemoryPrices(const MemoryUses &uses) : uses_(&uses), price_(uses.rowCount(), 0.0) {}

  const std::vector<double> &price() const { return price_; }
  /// What the prices take off the dual bound: Σ price × limit.
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
