// Fits curves of collectives to measured times: non-negative coefficients, least mean relative
// error, several algorithms of which the least counts.
#pragma once

#include "model/cost/measurement.h"

#include <vector>

namespace headrace::cost {

/// One algorithm to be fitted: which terms its curve may have.
struct CurveForm {
  std::string algorithm;
  std::vector<Term> terms;
  topology::SentBytes sent = topology::SentBytes::kShares;
  double messageBytesMin = 0;   ///< as in CollectiveFit
  double messageBytesBelow = 0; ///< as in CollectiveFit
};

/// The curve for one size of group: start, pipeline and bytes.
CurveForm sizeForm(std::string algorithm);
/// The curve for any size of group inside a node: also steps, and a pipeline as long as the ring.
CurveForm stepForm(std::string algorithm);
/// The curves for any size of group inside a node. An all-to-all sends each message by itself, and
/// those below 1 MiB by another protocol.
std::vector<CurveForm> stepForms(topology::CollectiveKind kind);
/// The algorithms of a collective between nodes: rings pay per rank, exchanges per remote peer, and
/// all-reduce also has a tree.
std::vector<CurveForm> networkForms(topology::CollectiveKind kind);

/// Coefficients x >= 0 that make Σ|Σ_j x_j·values_ij / seconds_i − 1| small (least squares,
/// reweighted; each step exact over all active sets). `terms` at most kTermCount. Terms that do not
/// help come out 0.
std::vector<double> fitCoefficients(const std::vector<std::vector<double>> &values,
                                    const std::vector<double> &seconds);

/// One fit for every form; what they predict together is the least of them. With several forms,
/// points are first divided by size, then go to the curve for messages of their size that predicts
/// least, until nothing changes; the best of several divisions is kept. Points must be of one
/// collective. A form that no point chose is left out. The relative error is what 68 % of the
/// deviations are below: of those that the fits leave, and of those of the larger half of the
/// groups (of every other size, with groups of one size) if the others alone are fitted, the
/// greater.
std::vector<topology::CollectiveFit> fitCurves(const std::vector<Measurement> &points,
                                               const std::vector<CurveForm> &forms);

/// The least of the fits for messages of this size, of all if there is none. `fits` must not be
/// empty.
double predictLeast(const std::vector<topology::CollectiveFit> &fits, const GroupShape &shape,
                    double bytes);

/// |predicted / measured − 1| of each point.
std::vector<double> relativeErrors(const std::vector<topology::CollectiveFit> &fits,
                                   const std::vector<Measurement> &points);

} // namespace headrace::cost
