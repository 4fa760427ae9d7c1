// How well fitted curves predict measured collectives: in the sample, and on sizes, groups and
// systems held out.
#pragma once

#include "model/cost/fit.h"

#include <string>
#include <vector>

namespace headrace::cost {

/// Relative errors (0.05 = 5 %) of a set of predictions.
struct ErrorSummary {
  size_t count = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
};
ErrorSummary summarize(std::vector<double> errors);

/// One question and its answer.
struct AccuracyRow {
  std::string question; ///< "fitted, one curve a size of group"
  std::string subject;  ///< which systems, collectives or sizes
  ErrorSummary errors;
};

/// Fits and judges within one node, sizes above 1 MiB apart: in the sample, and trained on every
/// other size. Per source, system, collective and size of group.
std::vector<AccuracyRow> accuracyWithinSizes(const Measurements &measurements);
/// Trained on groups of at most `trainRanksMax`, judged on groups of at least `testRanksMin` of
/// systems that have both, for sizes of at least `bytesMin`: steps and pipelines must carry over.
/// Where curves are for sizes of messages, smaller buffers are trained on, whose messages are as
/// large. One row a system and collective, and one over all.
std::vector<AccuracyRow> accuracyOfRanks(const Measurements &measurements, int64_t trainRanksMax,
                                         int64_t testRanksMin, double bytesMin);
/// Between nodes: in the sample, and trained on at most `trainNodesMax` nodes, judged on those with
/// more.
std::vector<AccuracyRow> accuracyOfNodes(const Measurements &measurements, int64_t trainNodesMax);
/// Each system whose link is known, as fitFromLink predicts it.
std::vector<AccuracyRow> accuracyOfSystems(const Measurements &measurements, double bytesMin);

/// What a topology file would hold for a system: per collective, the algorithms for every size of
/// group that was measured, and (n = 0) those for any.
std::vector<topology::CollectiveFit> fitSystem(const Measurements &measurements,
                                               const std::string &system);
/// The same for a system of which only the link is known, from all other machines whose links are
/// known and within four times as quick or slow: bytes count in seconds of the link, start and
/// steps carry over. Curves of one algorithm for any size of group within a node, assumed, from
/// measurements of at least `bytesMin`. Empty if its link is not known.
std::vector<topology::CollectiveFit> fitFromLink(const Measurements &measurements,
                                                 const std::string &system, double bytesMin);
/// An object with the `sources` and the `collectives` of a topology file.
std::string collectivesJson(const Measurements &measurements,
                            const std::vector<topology::CollectiveFit> &fits);
/// What is held out of one system alone: every other size within nodes, the larger groups and the
/// larger numbers of nodes, beside what is left of a fit to all.
std::vector<AccuracyRow> accuracyOfSystem(const Measurements &measurements,
                                          const std::string &system);

/// A table in Markdown, without rows that have no points.
std::string accuracyTable(const std::vector<AccuracyRow> &rows);

} // namespace headrace::cost
