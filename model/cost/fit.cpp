// Reweighted non-negative least squares, and the alternation between algorithms.
#include "model/cost/fit.h"
#include "runtime/base/check.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace headrace::cost {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

namespace {

constexpr int kReweightingCount = 20;
constexpr int kAlternationCount = 10;
// Residuals below this weigh alike: the noise of the best measurements.
constexpr double kResidualFloor = 0.01;
// Where groups of 4 to 16 ranks show that messages begin to go by another protocol.
constexpr double kLowLatencyBytes = 1 << 20;

/// Solves the symmetric positive system of the members of `set`; nothing if it is singular.
std::optional<std::vector<double>> solveSubset(const std::vector<std::vector<double>> &gram,
                                               const std::vector<double> &right, uint32_t set) {
  std::vector<size_t> index;
  for (size_t term = 0; term < right.size(); ++term) {
    if (set >> term & 1) {
      index.push_back(term);
    }
  }
  size_t size = index.size();
  std::vector<std::vector<double>> rows(size, std::vector<double>(size + 1));
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      rows[i][j] = gram[index[i]][index[j]];
    }
    rows[i][size] = right[index[i]];
  }
  for (size_t pivot = 0; pivot < size; ++pivot) {
    if (rows[pivot][pivot] < 1e-12) { // columns are normed to 1
      return std::nullopt;
    }
    for (size_t i = pivot + 1; i < size; ++i) {
      double factor = rows[i][pivot] / rows[pivot][pivot];
      for (size_t j = pivot; j <= size; ++j) {
        rows[i][j] -= factor * rows[pivot][j];
      }
    }
  }
  std::vector<double> solution(right.size(), 0);
  for (size_t i = size; i-- > 0;) {
    double sum = rows[i][size];
    for (size_t j = i + 1; j < size; ++j) {
      sum -= rows[i][j] * solution[index[j]];
    }
    solution[index[i]] = sum / rows[i][i];
  }
  return solution;
}

/// min |A x − 1|² with weights, x >= 0: the best over all sets of positive coefficients.
std::vector<double> solveNonNegative(const std::vector<std::vector<double>> &ratios,
                                     const std::vector<double> &weights) {
  size_t terms = ratios.front().size();
  std::vector<std::vector<double>> gram(terms, std::vector<double>(terms, 0));
  std::vector<double> right(terms, 0);
  for (size_t row = 0; row < ratios.size(); ++row) {
    for (size_t i = 0; i < terms; ++i) {
      right[i] += weights[row] * ratios[row][i];
      for (size_t j = 0; j < terms; ++j) {
        gram[i][j] += weights[row] * ratios[row][i] * ratios[row][j];
      }
    }
  }
  std::vector<double> norms(terms);
  for (size_t i = 0; i < terms; ++i) {
    norms[i] = gram[i][i] > 0 ? std::sqrt(gram[i][i]) : 1;
  }
  for (size_t i = 0; i < terms; ++i) {
    right[i] /= norms[i];
    for (size_t j = 0; j < terms; ++j) {
      gram[i][j] /= norms[i] * norms[j];
    }
  }
  std::vector<double> best(terms, 0);
  double bestGain = 0;
  for (uint32_t set = 1; set < uint32_t{1} << terms; ++set) {
    std::optional<std::vector<double>> solution = solveSubset(gram, right, set);
    if (!solution || *std::min_element(solution->begin(), solution->end()) < 0) {
      continue;
    }
    // At the least squares of a set, the residual falls by right·x.
    double gain = std::inner_product(right.begin(), right.end(), solution->begin(), 0.0);
    if (gain > bestGain) {
      bestGain = gain;
      best = *std::move(solution);
    }
  }
  for (size_t i = 0; i < terms; ++i) {
    best[i] /= norms[i];
  }
  return best;
}

CollectiveFit emptyFit(const CurveForm &form, const std::vector<Measurement> &points) {
  CollectiveFit fit;
  fit.kind = points.front().kind;
  fit.level = points.front().shape.nodes > 1 ? Level::kNetwork : Level::kNode;
  fit.algorithm = form.algorithm;
  fit.sent = form.sent;
  fit.messageBytesMin = form.messageBytesMin;
  fit.messageBytesBelow = form.messageBytesBelow;
  setCoefficient(fit, Term::kBytes, 0);
  return fit;
}

CollectiveFit fitForm(const CurveForm &form, const std::vector<Measurement> &points) {
  CollectiveFit fit = emptyFit(form, points);
  std::vector<std::vector<double>> values;
  std::vector<double> seconds;
  for (const Measurement &point : points) {
    TermValues all = termValues(fit, point.shape, point.bytes);
    std::vector<double> &row = values.emplace_back();
    for (Term term : form.terms) {
      row.push_back(all[static_cast<size_t>(term)]);
    }
    seconds.push_back(point.seconds);
  }
  std::vector<double> coefficients = fitCoefficients(values, seconds);
  for (size_t i = 0; i < form.terms.size(); ++i) {
    setCoefficient(fit, form.terms[i], coefficients[i]);
  }
  return fit;
}

/// The fit that counts for a point: the least of those for messages of its size.
size_t leastOf(const std::vector<CollectiveFit> &fits, const GroupShape &shape, double bytes) {
  auto rank = [&](const CollectiveFit &fit) {
    return std::pair(!holdsFor(fit, shape, bytes), predictSeconds(fit, shape, bytes));
  };
  auto least = std::min_element(fits.begin(), fits.end(),
                                [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
  return static_cast<size_t>(least - fits.begin());
}

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// One run of the alternation: points below `cutBytes` start with the first form, the others with
/// the next.
std::vector<CollectiveFit> alternate(const std::vector<Measurement> &points,
                                     const std::vector<CurveForm> &forms,
                                     const std::vector<double> &cutBytes) {
  std::vector<size_t> choice;
  for (const Measurement &point : points) {
    size_t form =
        std::upper_bound(cutBytes.begin(), cutBytes.end(), point.bytes) - cutBytes.begin();
    if (!holdsFor(emptyFit(forms[form], points), point.shape, point.bytes)) {
      auto other = std::find_if(forms.begin(), forms.end(), [&](const CurveForm &candidate) {
        return holdsFor(emptyFit(candidate, points), point.shape, point.bytes);
      });
      form = other == forms.end() ? form : static_cast<size_t>(other - forms.begin());
    }
    choice.push_back(form);
  }
  std::vector<CollectiveFit> best;
  double bestError = 0;
  for (int round = 0; round < kAlternationCount; ++round) {
    std::vector<CollectiveFit> fits;
    std::vector<size_t> formOf;
    for (size_t form = 0; form < forms.size(); ++form) {
      std::vector<Measurement> chosen;
      for (size_t i = 0; i < points.size(); ++i) {
        if (choice[i] == form) {
          chosen.push_back(points[i]);
        }
      }
      // Fewer points than terms would be met exactly and say nothing of sizes in between.
      if (chosen.size() > forms[form].terms.size()) {
        fits.push_back(fitForm(forms[form], chosen));
        formOf.push_back(form);
      }
    }
    if (fits.empty()) {
      break;
    }
    double error = mean(relativeErrors(fits, points));
    if (best.empty() || error < bestError) {
      best = fits;
      bestError = error;
    }
    std::vector<size_t> next;
    for (const Measurement &point : points) {
      next.push_back(formOf[leastOf(fits, point.shape, point.bytes)]);
    }
    if (next == choice) {
      break;
    }
    choice = std::move(next);
  }
  return best;
}

} // namespace

CurveForm sizeForm(std::string algorithm) {
  return {std::move(algorithm), {Term::kBase, Term::kSqrt, Term::kBytes}};
}

CurveForm stepForm(std::string algorithm) {
  return {std::move(algorithm), {Term::kBase, Term::kPerStep, Term::kSqrtStep, Term::kBytes}};
}

std::vector<CurveForm> stepForms(CollectiveKind kind) {
  if (kind != CollectiveKind::kAllToAll) {
    return {stepForm("direct")};
  }
  CurveForm small = stepForm("low_latency");
  small.messageBytesBelow = kLowLatencyBytes;
  CurveForm large = stepForm("simple");
  large.messageBytesMin = kLowLatencyBytes;
  return {small, large};
}

std::vector<CurveForm> networkForms(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::kAllToAll:
    return {{"direct", {Term::kBase, Term::kPerPeer, Term::kBytes}}};
  case CollectiveKind::kAllReduce:
    return {{"tree", {Term::kBase, Term::kPerLog2Node, Term::kBytes}, topology::SentBytes::kTree},
            {"ring", {Term::kPerRank, Term::kBytes}}};
  default:
    return {{"ring", {Term::kBase, Term::kPerRank, Term::kBytes}}};
  }
}

std::vector<double> fitCoefficients(const std::vector<std::vector<double>> &values,
                                    const std::vector<double> &seconds) {
  HR_CHECK(!values.empty() && values.size() == seconds.size() && values[0].size() <= kTermCount);
  std::vector<std::vector<double>> ratios = values;
  for (size_t row = 0; row < ratios.size(); ++row) {
    for (double &ratio : ratios[row]) {
      ratio /= seconds[row];
    }
  }
  std::vector<double> weights(ratios.size(), 1);
  std::vector<double> best;
  double bestError = 0;
  for (int round = 0; round < kReweightingCount; ++round) {
    std::vector<double> coefficients = solveNonNegative(ratios, weights);
    std::vector<double> errors;
    for (const std::vector<double> &row : ratios) {
      errors.push_back(
          std::abs(std::inner_product(row.begin(), row.end(), coefficients.begin(), 0.0) - 1));
    }
    double error = mean(errors);
    if (best.empty() || error < bestError) {
      best = std::move(coefficients);
      bestError = error;
    }
    for (size_t row = 0; row < errors.size(); ++row) {
      weights[row] = 1 / std::max(errors[row], kResidualFloor);
    }
  }
  return best;
}

namespace {

/// Whether the error of a fit counts what it says of points that it has not seen.
enum class HeldOut : uint8_t { kNo, kYes };
std::vector<CollectiveFit> fitPoints(const std::vector<Measurement> &points,
                                     const std::vector<CurveForm> &forms, HeldOut heldOut);

/// What 68 % of the errors are below.
double deviation(std::vector<double> errors) {
  if (errors.empty()) {
    return 0;
  }
  size_t position = static_cast<size_t>(0.68 * static_cast<double>(errors.size()));
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(position),
                   errors.end());
  return errors[position];
}

/// The larger half of the groups predicted from the others; with groups of one size, every other
/// point.
std::vector<double> heldOutErrors(const std::vector<Measurement> &points,
                                  const std::vector<CurveForm> &forms) {
  int64_t largest = 0;
  int64_t least = points.front().shape.members;
  for (const Measurement &point : points) {
    largest = std::max(largest, point.shape.members);
    least = std::min(least, point.shape.members);
  }
  std::vector<Measurement> train;
  std::vector<Measurement> test;
  for (size_t i = 0; i < points.size(); ++i) {
    bool held = largest > least ? points[i].shape.members > largest / 2 : i % 2 == 1;
    (held ? test : train).push_back(points[i]);
  }
  return train.empty() || test.empty()
             ? std::vector<double>()
             : relativeErrors(fitPoints(train, forms, HeldOut::kNo), test);
}

std::vector<CollectiveFit> fitPoints(const std::vector<Measurement> &points,
                                     const std::vector<CurveForm> &forms, HeldOut heldOut) {
  HR_CHECK(!points.empty() && !forms.empty());
  std::vector<double> sizes;
  for (const Measurement &point : points) {
    sizes.push_back(point.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<CollectiveFit> best;
  double bestError = 0;
  // Where the first curve ends; the others divide what is left.
  for (double share : {0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0}) {
    std::vector<double> cuts;
    for (size_t cut = 1; cut < forms.size(); ++cut) {
      double part = share + (1 - share) * static_cast<double>(cut - 1) /
                                static_cast<double>(forms.size() - 1);
      size_t position = static_cast<size_t>(part * static_cast<double>(sizes.size()));
      cuts.push_back(position < sizes.size() ? sizes[position] : 2 * sizes.back());
    }
    std::vector<CollectiveFit> fits = alternate(points, forms, cuts);
    if (fits.empty()) {
      continue;
    }
    double error = mean(relativeErrors(fits, points));
    if (best.empty() || error < bestError) {
      best = std::move(fits);
      bestError = error;
    }
  }
  if (best.empty()) { // too few points to divide
    best.push_back(fitForm(forms.back(), points));
  }
  double error = deviation(relativeErrors(best, points));
  if (heldOut == HeldOut::kYes) {
    error = std::max(error, deviation(heldOutErrors(points, forms)));
  }
  int64_t members = points.front().shape.members;
  bool oneSize = std::all_of(points.begin(), points.end(), [&](const Measurement &point) {
    return point.shape.members == members;
  });
  for (CollectiveFit &fit : best) {
    fit.relativeError = error;
    fit.members = oneSize ? members : 0;
  }
  return best;
}

} // namespace

std::vector<CollectiveFit> fitCurves(const std::vector<Measurement> &points,
                                     const std::vector<CurveForm> &forms) {
  return fitPoints(points, forms, HeldOut::kYes);
}

double predictLeast(const std::vector<CollectiveFit> &fits, const GroupShape &shape, double bytes) {
  HR_CHECK(!fits.empty());
  return predictSeconds(fits[leastOf(fits, shape, bytes)], shape, bytes);
}

std::vector<double> relativeErrors(const std::vector<CollectiveFit> &fits,
                                   const std::vector<Measurement> &points) {
  std::vector<double> errors;
  for (const Measurement &point : points) {
    errors.push_back(std::abs(predictLeast(fits, point.shape, point.bytes) / point.seconds - 1));
  }
  return errors;
}

} // namespace headrace::cost
