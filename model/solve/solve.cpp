// Reduces, searches, and leads the choice back.
#include "model/solve/solve.h"
#include "model/solve/anytime.h"
#include "model/solve/collapse.h"
#include "model/solve/contradiction.h"
#include "model/solve/memory_rows.h"
#include "model/solve/reduction.h"

#include <algorithm>
#include <chrono>

namespace headrace::solve {
namespace {

// Where nothing fits, a little search gives a choice with little excess.
constexpr int32_t kHopelessRounds = 3;
// For a search whose only aim is an allowed choice.
constexpr double kPatientSeconds = 2;
// So many nodes are named beside what is held where nothing fits.
constexpr size_t kHoldersShown = 3;

// Problems of so many nodes after the exact reductions begin with a choice in which repeated layers
// choose alike: nodes do that look alike up to no edge away, or more (at most so many) if they
// cannot, as long as that leaves one node in so many. It is searched for in this share of the time.
constexpr size_t kRepeatingNodes = 1000;
constexpr int kAlikeEdgesMax = 2;
constexpr size_t kRepeatsMin = 3;
constexpr double kShareOfTime = 0.3;
constexpr int32_t kAlikeRounds = 60;

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using NameOf = std::function<std::string(int32_t node)>;

/// The node that begins to hold memory of a tier at a time, as "at NAME"; or the time.
std::string whenText(const Problem &problem, int32_t tier, int32_t time, const NameOf &nameOf) {
  for (size_t n = 0; nameOf && n < problem.nodes.size(); ++n) {
    for (const MemoryUse &use : problem.nodes[n].memory) {
      if (use.tier == tier && use.first == time && use.last > time) {
        return "at " + nameOf(static_cast<int32_t>(n));
      }
    }
  }
  return "at time " + std::to_string(time);
}

/// The nodes whose leanest strategies hold most at a time, as " (NAME: BYTES, …)".
std::string holdersText(const Problem &problem, int32_t tier, int32_t time, const NameOf &nameOf) {
  std::vector<std::pair<double, int32_t>> holders;
  for (size_t n = 0; nameOf && n < problem.nodes.size(); ++n) {
    for (const MemoryUse &use : problem.nodes[n].memory) {
      if (use.tier == tier && use.first <= time && time < use.last) {
        double least = *std::min_element(use.bytes.begin(), use.bytes.end());
        if (least > 0) {
          holders.push_back({-least, static_cast<int32_t>(n)});
        }
      }
    }
  }
  if (holders.empty()) {
    return {};
  }
  size_t shown = std::min(kHoldersShown, holders.size());
  std::partial_sort(holders.begin(), holders.begin() + static_cast<std::ptrdiff_t>(shown),
                    holders.end());
  std::ostringstream text;
  text.precision(17);
  for (size_t i = 0; i < shown; ++i) {
    text << (i == 0 ? " (" : ", ") << nameOf(holders[i].second) << ": " << -holders[i].first;
  }
  text << (shown < holders.size() ? ", …)" : ")");
  return std::move(text).str();
}

/// The first time at which even the leanest strategies do not fit; empty if there is none.
std::string whyNothingFits(const Problem &reduced, const Problem &problem, const NameOf &nameOf) {
  double bytes = 0;
  int32_t row = MemoryRows(reduced).findHopeless(reduced, bytes);
  if (row < 0) {
    return {};
  }
  // The reduced problem's times are rows of the whole.
  MemoryRows rows(reduced);
  MemoryRows original(problem);
  int32_t tier = rows.tierOf(row);
  int32_t time = original.timeOf(rows.timeOf(row));
  std::ostringstream text;
  text.precision(17);
  text << whenText(problem, tier, time, nameOf) << " every choice holds at least " << bytes
       << " bytes of tier " << tier << holdersText(problem, tier, time, nameOf) << ", the limit is "
       << problem.tierBytesMax[tier];
  return std::move(text).str();
}

/// Where to begin.
struct Start {
  Choice choice;
  std::vector<PriceAt> prices;
};

/// A choice in which repeated layers choose alike, and the prices of memory for it; empty if
/// nothing repeats or layers cannot.
Start chooseAlike(const Problem &problem, const SolveOptions &options, double started) {
  Colouring colouring(problem);
  for (int edges = 0; edges <= kAlikeEdgesMax; ++edges, colouring.refine()) {
    if (colouring.count() * kRepeatsMin > problem.nodes.size()) {
      return {};
    }
    Collapse collapse(problem, colouring.colours());
    Reduction reduction(collapse.collapsed());
    if (reduction.isContradiction()) {
      continue; // finer, some constraints may be met
    }
    SolveOptions alike = options;
    alike.secondsMax = kShareOfTime * options.secondsMax;
    alike.roundsMax = std::min(options.roundsMax, kAlikeRounds);
    alike.progress = [&](Progress progress) {
      progress.bound = 0; // it holds for equal layers only
      if (options.progress) {
        options.progress(progress);
      }
    };
    Anytime search(reduction.reduced(), alike, started);
    search.run();
    if (search.isAllowed()) {
      // Both problems hold memory at the same times, so that both count in the same ones.
      return {collapse.expand(reduction.lift(search.best())), search.bestPrices().list()};
    }
  }
  return {};
}

/// Whether a problem has an allowed choice; memory is not looked at.
bool isAllowed(const Problem &problem) {
  Reduction reduction(problem);
  if (reduction.isContradiction()) {
    return false;
  }
  SolveOptions patient;
  patient.now = steadySeconds;
  patient.secondsMax = kPatientSeconds;
  patient.roundsMax = kHopelessRounds;
  Anytime search(reduction.reduced(), patient, patient.now());
  search.run();
  return search.isAllowed();
}

} // namespace

bool Solution::fits() const {
  return std::all_of(excessBytes.begin(), excessBytes.end(),
                     [](double bytes) { return bytes <= 0; });
}

double Solution::gap() const { return cost > 0 ? (cost - bound) / cost : 0; }

Expected<Solution> solve(const Problem &problem, const SolveOptions &options) {
  HR_RETURN_IF_ERROR(problem.check());
  SolveOptions timed = options;
  if (!timed.now) {
    timed.now = steadySeconds;
  }
  double started = timed.now();
  Reduction reduction(problem);
  if (reduction.isContradiction()) {
    return contradiction(problem, isAllowed, options.nameOf);
  }
  const Problem &reduced = reduction.reduced();
  SolveOptions limited = timed;
  double bytes = 0;
  if (MemoryRows(reduced).findHopeless(reduced, bytes) >= 0) {
    limited.roundsMax = std::min(limited.roundsMax, kHopelessRounds);
  }
  Start alike;
  if (reduced.nodes.size() >= kRepeatingNodes && MemoryRows(reduced).size() > 0) {
    alike = chooseAlike(problem, timed, started);
  }
  Anytime search(reduced, limited, started);
  if (!alike.choice.empty()) {
    search.startWith(reduction.lower(alike.choice), alike.prices);
  }
  search.run();
  if (!search.isAllowed()) {
    return contradiction(problem, isAllowed, options.nameOf);
  }
  Solution solution;
  solution.choice = reduction.lift(search.best());
  solution.cost = costOf(problem, solution.choice);
  solution.excessBytes = memoryExcess(problem, solution.choice);
  solution.bound = std::clamp(search.bound(), 0.0, solution.cost);
  solution.rounds = search.rounds();
  solution.nodesLeft = static_cast<int32_t>(reduced.nodes.size());
  if (!solution.fits()) {
    solution.whyNothingFits = whyNothingFits(reduced, problem, options.nameOf);
    if (solution.whyNothingFits.empty() && search.isHopeless()) {
      solution.whyNothingFits = "no combination of strategies stays within the limit at all times";
    }
  }
  return solution;
}

Expected<Solution> solveHolding(const Problem &problem, const Choice &held,
                                const SolveOptions &options) {
  if (held.size() != problem.nodes.size()) {
    return makeError(ErrorKind::kInternal, "one entry per node is needed, got ", held.size());
  }
  Problem restricted = problem;
  for (size_t node = 0; node < held.size(); ++node) {
    for (size_t s = 0; held[node] >= 0 && s < restricted.nodes[node].cost.size(); ++s) {
      if (static_cast<int32_t>(s) != held[node]) {
        restricted.nodes[node].cost[s] = kForbidden;
      }
    }
  }
  return solve(restricted, options);
}

Expected<Solution> solveWithout(const Problem &problem, int32_t node,
                                std::span<const int32_t> strategies, const SolveOptions &options) {
  Problem restricted = problem;
  for (int32_t strategy : strategies) {
    restricted.nodes[node].cost[strategy] = kForbidden;
  }
  return solve(restricted, options);
}

} // namespace headrace::solve
