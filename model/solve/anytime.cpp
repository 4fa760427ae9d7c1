// Rounds of sweeps, neighbourhoods, repairs and price steps.
#include "model/solve/anytime.h"
#include "model/solve/exhaustive.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace headrace::solve {
namespace {

constexpr int kFirstSweeps = 40;
constexpr int kLaterSweeps = 5;
constexpr int kFirstNeighbourhoods = 10;
constexpr int kLaterNeighbourhoods = 3;
// The price step begins whole, shrinks by kShorter after this many rounds without a better bound,
// and grows with each that has one.
constexpr int kStillRounds = 10;
constexpr double kShorter = 0.7;
constexpr double kLonger = 1.1;
constexpr double kRelaxationMin = 1e-3;
// Moves of the walk per round and node.
constexpr int kMovesPerNode = 2;
constexpr int kMovesMin = 200;
constexpr int kRepairPasses = 12;
constexpr int kMovesPerClock = 64;
// Once a choice fits, so many rounds repair the relaxed choice, then one in so many.
constexpr int32_t kRepairRounds = 8;
constexpr int32_t kRepairEvery = 16;
// Annealing: first temperatures in cost per node, one after the other; the last over the first.
constexpr double kHeats[] = {0.3, 10, 3, 10};
constexpr double kCold = 1e-4;
constexpr int64_t kAnnealMovesPerNode = 40;
constexpr int kDoublingsMax = 10;
constexpr int kBatchesPerRound = 16;
// Exhaustive search takes problems of few nodes (its recursion is that deep), for this many steps
// (about 2 ms).
constexpr size_t kExhaustiveNodes = 64;
constexpr int64_t kExhaustiveSteps = 1000000;
// At least so long it looks for a first allowed choice.
constexpr double kSecondsWithoutChoice = 2;

} // namespace

Anytime::Anytime(const Problem &problem, const SolveOptions &options, double started)
    : options_(options), graph_(problem), uses_(problem), random_(options.seed), messages_(graph_),
      neighbourhood_(graph_), local_(graph_, uses_), prices_(uses_), started_(started),
      all_(graph_.size()), priced_(graph_.unaries()), bestPrices_(uses_) {
  std::iota(all_.begin(), all_.end(), 0);
  bestCost_ = std::numeric_limits<double>::infinity();
  bestExcess_ = std::numeric_limits<double>::infinity();
  isEliminable_ = graph_.incidenceCount() == 0;
}

void Anytime::run() {
  for (; round_ < options_.roundsMax; ++round_) {
    relax();
    if (round_ == 0 && !isProven() && graph_.size() <= kExhaustiveNodes) {
      searchAll();
    }
    if (options_.progress) {
      options_.progress({options_.now() - started_, round_, bestCost_, bound_, bestExcess_});
    }
    if (isProven() || isHopeless_ || outOfTime()) {
      return;
    }
    if (uses_.canBind()) {
      raisePrices();
    }
  }
  --round_;
}

bool Anytime::outOfTime() const {
  double seconds = options_.secondsMax;
  if (!isAllowed()) { // any choice is better than none, however busy the machine is
    seconds = std::max(seconds, kSecondsWithoutChoice);
  }
  if (options_.shareOfCostMax > 0 && bestExcess_ <= 0) {
    seconds = std::min(seconds, options_.shareOfCostMax * bestCost_);
  }
  return options_.now() - started_ >= seconds;
}

void Anytime::relax() {
  // Where elimination reaches everything, it gives optimum and bound at once.
  Choice choice = present_;
  double value = 0;
  double cost = 0;
  if (!isEliminable_) {
    value = sweep();
    messages_.decode(priced_, choice);
    cost = graph_.cost(priced_, choice);
    if (!present_.empty() && graph_.cost(priced_, present_) < cost) {
      choice = present_;
      cost = graph_.cost(priced_, present_);
    }
  } else {
    choice.resize(graph_.size(), 0);
    cost = graph_.cost(priced_, choice);
  }
  int tries = round_ == 0 ? kFirstNeighbourhoods : kLaterNeighbourhoods;
  for (int attempt = 0; attempt < tries && (attempt == 0 || !outOfTime()); ++attempt) {
    Choice improved = choice;
    int32_t kept = neighbourhood_.improve(priced_, all_, improved, random_);
    double improvedCost = graph_.cost(priced_, improved);
    if (improvedCost <= cost) {
      choice = std::move(improved);
      cost = improvedCost;
    }
    if (kept == 0) {
      value = std::max(value, cost);
      isEliminable_ = true;
    }
    if (cost - value <= options_.gapMax * cost) {
      break;
    }
  }
  bound_ = std::max(bound_, value - prices_.rebate());
  presentDual_ = cost - prices_.rebate();
  present_ = choice;
  if (round_ == 0 && firstCost_ == 0) {
    firstCost_ = graph_.cost(graph_.unaries(), choice);
  }
  offer(choice);
  if (uses_.canBind() && !isProven()) {
    // Relaxed choices at better prices are better starts; once something fits, fewer will do.
    bool isEarly = !isStarted_ && round_ < kRepairRounds;
    if (bestExcess_ > 0 || isEarly || round_ % kRepairEvery == kRepairEvery - 1) {
      repair(std::move(choice));
    }
    if (bestExcess_ <= 0 && bestCost_ < graph_.forbidden()) {
      anneal();
    }
  }
}

void Anytime::searchAll() {
  double below = bestExcess_ <= 0 ? bestCost_ : graph_.forbidden();
  ExhaustiveResult all = searchExhaustively(graph_, uses_, below, kExhaustiveSteps);
  if (all.found) {
    offer(all.choice);
  }
  if (all.finished && bestExcess_ <= 0) {
    bound_ = std::max(bound_, bestCost_);
  }
  isHopeless_ = all.finished && bestExcess_ > 0;
}

double Anytime::sweep() {
  int sweeps = round_ == 0 ? kFirstSweeps : kLaterSweeps;
  double value = 0;
  for (int count = 0; count < sweeps; ++count) {
    value = std::max(value, messages_.sweep(priced_));
    if (outOfTime() && !best_.empty()) {
      break;
    }
  }
  return value;
}

void Anytime::reprice() {
  priced_ = graph_.unaries();
  uses_.addPrices(graph_, prices_.price(), priced_);
}

void Anytime::raisePrices() {
  // Polyak's step toward the best cost known. Where the bound stands still, the prices have gone
  // astray: back to the best ones, with shorter steps.
  double target = bestExcess_ <= 0 ? bestCost_ : 20 * std::max(firstCost_, 1e-12);
  if (bound_ > bestPricesBound_) {
    bestPricesBound_ = bound_;
    bestPrices_ = prices_;
    roundsStill_ = 0;
    relaxation_ = std::min(1.0, kLonger * relaxation_);
  } else if (++roundsStill_ >= kStillRounds) {
    prices_ = bestPrices_;
    roundsStill_ = 0;
    relaxation_ = std::max(kRelaxationMin, relaxation_ * kShorter);
  }
  prices_.update(present_, relaxation_ * std::max(target - presentDual_, 1e-3 * target));
  reprice();
}

void Anytime::repair(Choice choice) {
  local_.start(choice);
  if (bestExcess_ <= 0 && local_.fits() && local_.cost() > bestCost_) {
    local_.start(best_);
  }
  auto moves = std::max<int32_t>(kMovesMin, kMovesPerNode * static_cast<int32_t>(graph_.size()));
  double penalty = 0.1 * std::max(firstCost_, 1e-12);
  for (int pass = 0; pass < kRepairPasses && !local_.fits(); ++pass) {
    // What is over its limit costs what the excess is charged.
    std::vector<double> price = prices_.price();
    for (size_t row = 0; row < price.size(); ++row) {
      if (local_.loads().isOver(row)) {
        price[row] += penalty / uses_.limit()[row];
      }
    }
    local_.setPrices(price);
    Terms terms{0, penalty, 0, Terms::Fit::kStays};
    for (int32_t move = 0; move < moves && !local_.fits(); ++move) {
      auto seed = static_cast<int32_t>(random_() % graph_.size());
      local_.move({seed, 1 + static_cast<int32_t>(random_() % 12)}, terms, random_);
      if (move % kMovesPerClock == 0 && outOfTime()) {
        break;
      }
    }
    offer(local_.choice());
    penalty *= 4;
    if (outOfTime()) {
      return;
    }
  }
  if (local_.fits()) {
    polish(moves);
  }
}

void Anytime::polish(int32_t moves) {
  for (int32_t move = 0; move < moves; ++move) {
    if (move % kMovesPerClock == 0) {
      if (outOfTime()) {
        break;
      }
      local_.setPrices(random_() % 2 == 0 ? std::vector<double>() : prices_.price());
    }
    auto seed = static_cast<int32_t>(random_() % graph_.size());
    local_.move({seed, 2 + static_cast<int32_t>(random_() % 40)}, {}, random_);
  }
  offer(local_.choice());
}

void Anytime::anneal() {
  bool isFirst = !annealing_;
  if (isFirst) {
    annealing_.emplace(graph_, uses_);
  }
  if (isFirst || annealing_->isOver()) {
    double perNode = bestCost_ / static_cast<double>(graph_.size());
    double hot = kHeats[annealings_ % std::size(kHeats)] * perNode;
    int64_t moves = kAnnealMovesPerNode * static_cast<int64_t>(graph_.size());
    moves <<= std::min(annealings_ / 2, kDoublingsMax);
    double penalty = isFirst ? 0.1 * std::max(firstCost_, 1e-12) : annealing_->penalty();
    annealing_->start(best_, {hot, kCold * hot, penalty, moves});
    ++annealings_;
  }
  for (int batch = 0; batch < kBatchesPerRound && !annealing_->isOver() && !outOfTime(); ++batch) {
    annealing_->advance(bestPrices_.price(), random_);
  }
  if (annealing_->bestCost() < bestCost_) {
    offer(annealing_->best());
  }
}

void Anytime::startWith(const Choice &choice, const std::vector<PriceAt> &prices) {
  if (uses_.canBind()) {
    firstCost_ = graph_.cost(graph_.unaries(), choice);
    offer(choice);
    isStarted_ = bestExcess_ <= 0;
    prices_.set(prices);
    bestPrices_ = prices_;
    reprice();
  }
}

void Anytime::offer(const Choice &choice) {
  double excess = uses_.canBind() ? std::max(0.0, uses_.excess(choice) - 1e-12) : 0;
  double cost = graph_.cost(graph_.unaries(), choice);
  bool wasAllowed = bestCost_ < graph_.forbidden();
  bool allowed = cost < graph_.forbidden();
  bool better = allowed != wasAllowed
                    ? allowed
                    : excess < bestExcess_ || (excess == bestExcess_ && cost < bestCost_);
  if (better) {
    bestExcess_ = excess;
    bestCost_ = cost;
    best_ = choice;
  }
}

} // namespace headrace::solve
