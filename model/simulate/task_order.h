// Which tasks of a plan go before others: the simulator compares orders.
#pragma once

#include "model/simulate/plan_graph.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::simulate {

/// An order of all tasks of a plan, each behind what it waits for. It decides what workers do
/// first (plan::precedences), which states are held first, and when collectives start: one behind
/// the other.
struct TaskOrder {
  std::vector<int32_t> tasks; ///< ids of the plan
  /// A reservation that has to wait until another has been given back, as (release, reserve).
  std::vector<std::pair<int32_t, int32_t>> waits;
  double seconds = 0;      ///< simulated
  double secondsGiven = 0; ///< of the plan's own order; infinite: it found no room
  int64_t compared = 0;    ///< orders simulated
};

struct OrderSearch {
  int64_t ordersMax = 64; ///< simulations at most
  /// An order is worth it from this part of the time of the plan's own on.
  double gainMin = 0.01;
};

/// The best order found, or the plan's own where none is better. Tasks that streams connect stay
/// together, in their order. Deterministic. Errors: as planGraph; as simulate if no order that was
/// tried has room.
Expected<TaskOrder> findOrder(const plan::Plan &plan, const topology::Topology &topology,
                              const Workload &workload, const OrderSearch &search = {});

/// Any order of a plan's tasks in which each is behind what it waits for; the plan's own where
/// TaskGroups have none.
std::vector<int32_t> randomOrder(const plan::Plan &plan, uint64_t seed);

/// Whether a plan has another order at all.
bool hasOrders(const plan::Plan &plan);

/// The plan with its tasks in an order, and collectives one behind the other in it.
plan::Plan inOrder(const plan::Plan &plan, const std::vector<int32_t> &tasks);

} // namespace headrace::simulate
