// The tasks of a plan as sets that stay together when they are put in order, and what has to be
// listed before what.
#pragma once

#include "model/plan/plan.h"

#include <cstdint>
#include <set>
#include <vector>

namespace headrace::simulate {

/// By vertex, those behind it.
using Successors = std::vector<std::set<int32_t>>;

/// All vertices, each behind those that it is a successor of; of several that could be next the one
/// of the lowest rank, of equal ones the lowest. Those in a cycle, and behind one, are missing.
std::vector<int32_t> sortedByRank(const Successors &successors, const std::vector<double> &ranks);

/// Whether a collective waits for another one only because all start one behind the other.
bool onlyInTurn(const plan::Plan &plan, int32_t before, const plan::Task &task);

/// Which tasks have to be listed behind each task: those that wait for it or take its rows, the
/// choose that it is in, and the next result. Not those that wait only for their turn.
Successors listedBehind(const plan::Plan &plan);

/// Sets of tasks that streams connect, with the reservations of the states that they fill. They are
/// numbered by their first tasks.
class TaskGroups {
public:
  explicit TaskGroups(const plan::Plan &plan);

  size_t count() const { return members_.size(); }
  int32_t of(int32_t task) const { return groupOf_[task]; }
  const Successors &after() const { return after_; }
  const std::set<int32_t> &before(int32_t group) const { return before_[group]; }

  /// Whether there is an order at all. Not where groups wait for each other, as those of rounds
  /// that hand rows to each other do: sorted() then lacks them.
  bool canBeOrdered() const { return sorted().size() == count(); }
  /// All groups by rank as in sortedByRank, but what takes no time of its own before all others.
  std::vector<int32_t> sorted(std::vector<double> ranks) const;
  /// By their numbers, or as near to it as the edges allow.
  std::vector<int32_t> sorted() const;
  std::vector<int32_t> tasks(const std::vector<int32_t> &order) const;
  /// `group` and all that it waits for.
  std::set<int32_t> closure(int32_t group) const;
  /// Whether two groups that take time could change places.
  bool hasOrders() const;

private:
  void joinReservations(const plan::Plan &plan);

  std::vector<int32_t> groupOf_; ///< by task
  std::vector<std::vector<int32_t>> members_;
  std::vector<bool> markers_; ///< groups that take no time: releases and results
  Successors after_;
  std::vector<std::set<int32_t>> before_;
};

} // namespace headrace::simulate
