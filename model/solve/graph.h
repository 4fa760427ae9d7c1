// The solver's view of a problem: flat arrays, each distinct cost matrix stored once in both
// orientations. Private to model/solve.
#pragma once

#include "model/solve/problem.h"

#include <span>

namespace headrace::solve {

/// A cost per node and strategy, in one array (see Graph::unaryAt).
using Unaries = std::vector<double>;

/// One end of an edge, as its node sees it.
struct Incidence {
  int32_t other = 0;   ///< the node at the other end
  int32_t reverse = 0; ///< the incidence of that node
  size_t table = 0;   ///< in Graph::tables: [own strategy × strategies of other + other's strategy]
  size_t message = 0; ///< where messages into this node begin, in arrays of `messageCount` doubles
};

/// Immutable. What is forbidden costs `forbidden()`, which is more than any allowed choice costs in
/// total, but not so much more that sums lose the digits of what is allowed.
class Graph {
public:
  /// `problem` has at most one edge between two nodes, as Reduction leaves it.
  explicit Graph(const Problem &problem);

  size_t size() const { return firstIncidence_.size() - 1; }
  int32_t strategies(int32_t node) const {
    return static_cast<int32_t>(unaryAt_[node + 1] - unaryAt_[node]);
  }
  int32_t strategiesMax() const { return strategiesMax_; }
  size_t unaryAt(int32_t node) const { return unaryAt_[node]; }
  /// Node costs of the problem.
  const Unaries &unaries() const { return unaries_; }
  /// Ordered by the other end.
  std::span<const Incidence> around(int32_t node) const {
    return {incidences_.data() + firstIncidence_[node],
            incidences_.data() + firstIncidence_[node + 1]};
  }
  const Incidence &incidence(int32_t index) const { return incidences_[index]; }
  size_t incidenceCount() const { return incidences_.size(); }
  const double *table(const Incidence &incidence) const { return tables_.data() + incidence.table; }
  /// The same matrix from the other end.
  const double *transposed(const Incidence &incidence) const {
    return tables_.data() + incidences_[incidence.reverse].table;
  }
  size_t messageCount() const { return messageCount_; }
  size_t tableCount() const { return tableCount_; }
  double forbidden() const { return forbidden_; }

  double cost(const Unaries &unaries, const Choice &choice) const;

private:
  void addTables(const Problem &problem, std::vector<size_t> &ahead, std::vector<size_t> &back);

  std::vector<size_t> unaryAt_;
  Unaries unaries_;
  std::vector<int32_t> firstIncidence_;
  std::vector<Incidence> incidences_;
  std::vector<double> tables_;
  size_t messageCount_ = 0;
  size_t tableCount_ = 0;
  int32_t strategiesMax_ = 0;
  double forbidden_ = 1;
};

} // namespace headrace::solve
