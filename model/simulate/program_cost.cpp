// Sums the critical path by task and by what bounds it.
#include "model/simulate/program_cost.h"
#include "model/plan/names.h"
#include "model/simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace headrace::simulate {
namespace {

std::string boundOf(const Graph &graph, const Activity &activity, const Span &span) {
  if (span.bottleneck != kNone) {
    return graph.resources[span.bottleneck].name;
  }
  return activity.work > 0 ? "its own rate" : "latency";
}

double errorOf(const Graph &graph, const Activity &activity, const Span &span) {
  double holding =
      span.bottleneck == kNone ? activity.ownError : graph.resources[span.bottleneck].relativeError;
  return std::hypot(holding, activity.relativeError);
}

} // namespace

Expected<ProgramCost> programCost(const plan::Plan &plan, const topology::Topology &topology,
                                  const Workload &workload) {
  HR_ASSIGN_OR_RETURN(Graph graph, planGraph(plan, topology, workload));
  HR_ASSIGN_OR_RETURN(Outcome outcome, simulate(graph));
  ProgramCost cost;
  cost.total = {outcome.seconds, outcome.relativeError};
  cost.secondsLow = outcome.secondsLow();
  cost.secondsHigh = outcome.secondsHigh();
  std::map<std::pair<int32_t, std::string>, size_t> known;
  double before = 0; // where the last activity of the path ended
  for (int32_t id : outcome.criticalPath) {
    const Activity &activity = graph.activities[id];
    const Span &span = outcome.spans[id];
    // Each starts when its cause ends, so nothing of the time is left out.
    double seconds = span.finish - before;
    before = span.finish;
    if (seconds <= 0) {
      continue;
    }
    std::string bound = boundOf(graph, activity, span);
    // A spill is work of the task whose state it is, but its own line.
    bool aside = activity.name.starts_with("spill of ") || activity.name.starts_with("reload for ");
    std::string name = activity.name.substr(0, activity.name.find(" #"));
    auto [it, added] =
        known.try_emplace({activity.lane, (aside ? "!" : "") + bound}, cost.terms.size());
    if (added) {
      CostTerm term;
      term.task = name;
      term.kind = aside ? "spill" : plan::nameOf(plan.tasks[activity.lane].kind());
      term.bound = bound;
      if (activity.place >= 0 && activity.place < static_cast<int32_t>(graph.places.size())) {
        term.place = graph.places[activity.place];
      }
      cost.terms.push_back(std::move(term));
    }
    cost::Cost &sum = cost.terms[it->second].cost;
    // The same error each time: chunks of a task do not cancel each other.
    double error = sum.seconds * sum.relativeError + seconds * errorOf(graph, activity, span);
    sum.seconds += seconds;
    sum.relativeError = error / sum.seconds;
  }
  std::stable_sort(cost.terms.begin(), cost.terms.end(), [](const CostTerm &a, const CostTerm &b) {
    return a.cost.seconds > b.cost.seconds;
  });
  for (size_t tier = 0; tier < graph.tiers.size(); ++tier) {
    if (outcome.tierPeakBytes[tier] > 0) {
      cost.tiers.push_back(
          {graph.tiers[tier].name, outcome.tierPeakBytes[tier], graph.tiers[tier].bytes});
    }
  }
  return cost;
}

std::string ProgramCost::text() const {
  std::string lines;
  char buffer[320];
  double whole = std::max(total.seconds, 1e-300);
  auto shown = [](const std::string &text, size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
  };
  for (const CostTerm &term : terms) {
    std::snprintf(buffer, sizeof buffer, "%12.3f ms ±%3.0f %% %5.1f %%  %-10s %-28s %-24s ",
                  1e3 * term.cost.seconds, 100 * term.cost.relativeError,
                  100 * term.cost.seconds / whole, term.kind.c_str(), shown(term.task, 28).c_str(),
                  shown(term.bound, 24).c_str());
    lines += buffer + term.place + "\n";
  }
  std::snprintf(buffer, sizeof buffer, "%12.3f ms ±%3.0f %%  total, from %.3f to %.3f ms\n",
                1e3 * total.seconds, 100 * total.relativeError, 1e3 * secondsLow,
                1e3 * secondsHigh);
  lines += buffer;
  for (const TierUse &tier : tiers) {
    std::snprintf(buffer, sizeof buffer, "%12.4g B of %.4g in %s\n", tier.peakBytes, tier.bytes,
                  shown(tier.tier, 60).c_str());
    lines += buffer;
  }
  return lines;
}

std::string ProgramCost::json() const {
  nlohmann::ordered_json json = {{"seconds", total.seconds},
                                 {"relative_error", total.relativeError},
                                 {"seconds_low", secondsLow},
                                 {"seconds_high", secondsHigh},
                                 {"terms", nlohmann::ordered_json::array()},
                                 {"tiers", nlohmann::ordered_json::array()}};
  for (const CostTerm &term : terms) {
    json["terms"].push_back({{"task", term.task},
                             {"kind", term.kind},
                             {"place", term.place},
                             {"bound", term.bound},
                             {"seconds", term.cost.seconds},
                             {"relative_error", term.cost.relativeError}});
  }
  for (const TierUse &tier : tiers) {
    json["tiers"].push_back(
        {{"tier", tier.tier}, {"peak_bytes", tier.peakBytes}, {"bytes", tier.bytes}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace headrace::simulate
