// Fits of collectives: exact on curves made from known terms, and within the promised errors on
// public measurements.
// Sources: model/cost/measurement.cpp
#include "model/cost/accuracy.h"
#include "model/cost/cost.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace headrace::cost {
namespace {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

Measurements measured() {
  std::ifstream file(HEADRACE_MEASUREMENTS);
  std::ostringstream text;
  text << file.rdbuf();
  Expected<Measurements> measurements = parseMeasurements(text.str());
  EXPECT_TRUE(measurements.ok()) << measurements.status().toString();
  return *measurements;
}

std::vector<Measurement> made(const std::vector<CollectiveFit> &truth,
                              std::vector<GroupShape> shapes) {
  std::vector<Measurement> points;
  for (const GroupShape &shape : shapes) {
    for (double bytes = 512; bytes < 1e10; bytes *= 3) {
      Measurement point;
      point.kind = truth.front().kind;
      point.shape = shape;
      point.bytes = bytes;
      point.seconds = predictLeast(truth, shape, bytes);
      points.push_back(point);
    }
  }
  return points;
}

const AccuracyRow &row(const std::vector<AccuracyRow> &rows, const std::string &question,
                       const std::string &subject) {
  for (const AccuracyRow &candidate : rows) {
    if (candidate.question == question && candidate.subject == subject) {
      return candidate;
    }
  }
  ADD_FAILURE() << "no row: " << question << ", " << subject;
  return rows.front();
}

TEST(Fit, finds_the_terms_a_curve_was_made_from) {
  CollectiveFit truth;
  truth.kind = CollectiveKind::kAllReduce;
  truth.baseSeconds = 5e-6;
  truth.perStepSeconds = 8e-7;
  truth.sqrtStepTerm = 3e-9;
  truth.bandwidth = 4e11;
  std::vector<CollectiveFit> fits = fitCurves(made({truth}, {{2}, {4}, {8}}), {stepForm("ring")});
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_NEAR(fits[0].baseSeconds, 5e-6, 1e-9);
  EXPECT_NEAR(fits[0].perStepSeconds, 8e-7, 1e-10);
  EXPECT_NEAR(fits[0].sqrtStepTerm, 3e-9, 1e-12);
  EXPECT_NEAR(fits[0].bandwidth, 4e11, 1e8);
  EXPECT_EQ(fits[0].members, 0);
  EXPECT_LT(fits[0].relativeError, 1e-6);
}

TEST(Fit, finds_two_algorithms_and_where_one_takes_over) {
  CollectiveFit small;
  small.kind = CollectiveKind::kAllGather;
  small.baseSeconds = 6e-6;
  small.bandwidth = 5e10;
  CollectiveFit large = small;
  large.baseSeconds = 2e-5;
  large.bandwidth = 4e11;
  std::vector<Measurement> points = made({small, large}, {{8}});
  std::vector<CollectiveFit> fits = fitCurves(points, {sizeForm("a"), sizeForm("b")});
  ASSERT_EQ(fits.size(), 2u);
  EXPECT_EQ(fits[0].members, 8);
  EXPECT_LT(summarize(relativeErrors(fits, points)).mean, 0.002);
  EXPECT_GT(summarize(relativeErrors(fitCurves(points, {sizeForm("one")}), points)).mean, 0.02);
}

TEST(Fit, curves_for_sizes_of_messages_count_only_there) {
  CollectiveFit slow;
  slow.kind = CollectiveKind::kAllToAll;
  slow.baseSeconds = 2e-5;
  slow.bandwidth = 1e11;
  slow.messageBytesBelow = 1 << 20;
  CollectiveFit quick = slow;
  quick.bandwidth = 6e11;
  quick.messageBytesMin = 1 << 20;
  quick.messageBytesBelow = 0;
  // The least of both would be the quick one everywhere.
  double bytes = 8 << 20;
  EXPECT_EQ(predictLeast({slow, quick}, {16}, bytes), predictSeconds(slow, {16}, bytes));
  EXPECT_EQ(predictLeast({slow, quick}, {8}, bytes), predictSeconds(quick, {8}, bytes));
  EXPECT_EQ(leastFit({slow, quick}, slow.kind, Level::kNode, {16}, bytes)->messageBytesMin, 0);
  EXPECT_EQ(leastFit({quick}, slow.kind, Level::kNode, {16}, bytes), nullptr);
  std::vector<CollectiveFit> fits =
      fitCurves(made({slow, quick}, {{4}, {8}, {16}}), stepForms(CollectiveKind::kAllToAll));
  ASSERT_EQ(fits.size(), 2u);
  EXPECT_NEAR(fits[0].bandwidth, 1e11, 1e8);
  EXPECT_NEAR(fits[1].bandwidth, 6e11, 1e8);
  EXPECT_NE(collectivesJson({}, fits).find("message_below"), std::string::npos);
}

TEST(Fit, coefficients_are_never_negative) {
  // Seconds that fall with the second value: its best coefficient would be negative.
  std::vector<double> coefficients =
      fitCoefficients({{1, 1}, {1, 2}, {1, 3}, {1, 4}}, {1.0, 0.9, 0.8, 0.7});
  EXPECT_EQ(coefficients[1], 0);
  EXPECT_NEAR(coefficients[0], 0.85, 0.06);
}

TEST(Fit, refuses_wrong_tables_with_their_path) {
  auto message = [](const char *text) { return parseMeasurements(text).status().message(); };
  EXPECT_EQ(message(R"({"schema": "measurements/2", "curves": []})"),
            "$: unsupported schema: expected measurements/1, got measurements/2");
  const char *curve = R"({"schema": "measurements/1", "curves": [{"source": "s", "system": "y",
                          "op": "%s", "ranks": %d, "points": [[%d, 1]]}]})";
  char text[256];
  std::snprintf(text, sizeof text, curve, "all_sum", 2, 1);
  EXPECT_EQ(message(text), "$.curves[0]: unknown collective: all_sum");
  std::snprintf(text, sizeof text, curve, "all_gather", 1, 1);
  EXPECT_EQ(message(text), "$.curves[0]: ranks must be at least 2 and a multiple of nodes, got 1");
  std::snprintf(text, sizeof text, curve, "all_gather", 2, -1);
  EXPECT_EQ(message(text), "$.curves[0].points[0]: bytes and seconds must be positive");
  EXPECT_EQ(message(R"({"schema": "measurements/1", "curves": [{"source": "s", "system": "y",
                        "op": "all_gather", "ranks": 2, "points": [[1]]}]})"),
            "$.curves[0].points[0]: expected [bytes, seconds]");
  EXPECT_EQ(message(R"({"schema": "measurements/1", "systems": {"y": {"link": 0}}, "curves": []})"),
            "$.systems.y: link must be positive, got 0");
}

TEST(Accuracy, measured_sizes_and_sizes_held_out) {
  std::vector<AccuracyRow> rows = accuracyWithinSizes(measured());
  const ErrorSummary &fitted = row(rows, "fitted", "aic, from 1 MiB").errors;
  EXPECT_GE(fitted.count, 800u);
  EXPECT_LE(fitted.mean, 0.07);
  EXPECT_LE(fitted.median, 0.04);
  const ErrorSummary &all = row(rows, "every other size held out", "aic, all sizes").errors;
  EXPECT_LE(all.mean, 0.075);
  EXPECT_LE(all.median, 0.045);
  const ErrorSummary &large = row(rows, "every other size held out", "aic, from 1 MiB").errors;
  EXPECT_LE(large.mean, 0.075);
  EXPECT_LE(large.median, 0.045);
}

TEST(Accuracy, few_nodes_predict_more) {
  std::vector<AccuracyRow> rows = accuracyOfNodes(measured(), 4);
  for (const char *op : {"all_to_all", "all_gather"}) {
    const ErrorSummary &errors =
        row(rows, "at most 4 nodes predict more", std::string("p5.48xlarge H100 EFA ") + op).errors;
    EXPECT_EQ(errors.count, 7u);
    EXPECT_LE(errors.mean, 0.10) << op;
  }
  // Trees and rings are told apart by what each sends over a node's port.
  const ErrorSummary &reduced =
      row(rows, "at most 4 nodes predict more", "p5.48xlarge H100 EFA all_reduce").errors;
  EXPECT_EQ(reduced.count, 9u);
  EXPECT_LE(reduced.mean, 0.10);
}

TEST(Accuracy, small_groups_predict_a_rack) {
  std::vector<AccuracyRow> rows = accuracyOfRanks(measured(), 16, 32, 16 << 20);
  EXPECT_EQ(rows.size(), 9u);
  EXPECT_LE(rows.back().errors.mean, 0.10);
  std::string question = rows.back().question;
  EXPECT_LE(row(rows, question, "sm_103 all_to_all").errors.mean, 0.12);
}

TEST(Accuracy, an_unseen_system_is_predicted_from_its_link) {
  Measurements switched = measured();
  std::vector<AccuracyRow> rows = accuracyOfSystems(switched, 1 << 20);
  ASSERT_EQ(rows.size(), switched.linkBandwidth.size() + 1);
  EXPECT_LE(rows.back().errors.mean, 0.3);
  // Of a system that nobody measured the link is enough.
  switched.linkBandwidth["rack9"] = 2 * switched.linkBandwidth.at("B200 2.29.2");
  std::vector<CollectiveFit> fits = fitFromLink(switched, "rack9", 1 << 20);
  ASSERT_EQ(fits.size(), 4u);
  EXPECT_EQ(fits[0].provenance.origin, topology::Origin::kAssumed);
  EXPECT_GT(fits[0].bandwidth, switched.linkBandwidth.at("B200 2.29.2"));
  EXPECT_TRUE(fitFromLink(switched, "rack10", 1 << 20).empty());
}

TEST(Accuracy, what_is_measured_is_within_the_printed_error_as_often_as_it_says) {
  // Also beyond the groups that were fitted: 2 and 4 nodes say of themselves how far 8 may be off.
  Measurements measurements = measured();
  size_t within = 0;
  size_t all = 0;
  for (CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
    std::vector<Measurement> train;
    std::vector<Measurement> test;
    for (const Measurement &point : measurements.points) {
      if (point.shape.nodes > 1 && point.kind == kind) {
        (point.shape.nodes > 4 ? test : train).push_back(point);
      }
    }
    std::vector<CollectiveFit> fits = fitCurves(train, networkForms(kind));
    for (double error : relativeErrors(fits, test)) {
      within += error <= fits.front().relativeError;
      ++all;
    }
  }
  EXPECT_GE(static_cast<double>(within) / static_cast<double>(all), 0.6) << within << "/" << all;
}

TEST(Accuracy, shipped_curves_are_those_that_the_measurements_give) {
  // As `headrace-tune fit FILE --system NAME` prints them: for any size of group, and for whole
  // nodes.
  const std::map<std::string, std::vector<std::string>> systems = {
      {"dgx-a100", {"A100-SXM 2.27.3"}},
      {"dgx-h100", {"H100-SXM 2.29.2", "p5.48xlarge H100 EFA"}},
      {"dgx-h100-superpod", {"H100-SXM 2.29.2", "p5.48xlarge H100 EFA"}},
      {"dgx-h200", {"H100-SXM 2.29.2", "p5.48xlarge H100 EFA"}},
      {"dgx-h200-superpod", {"H100-SXM 2.29.2", "p5.48xlarge H100 EFA"}},
      {"gb200-100k", {"sm_100_GB200"}},
      {"gb200-nvl72", {"sm_100_GB200"}},
      {"l40s-pcie", {"L40S PCIe 2.27.3"}},
      {"p5-2node", {"H100-SXM 2.29.2", "p5.48xlarge H100 EFA"}},
  };
  Measurements measurements = measured();
  std::map<std::string, std::vector<CollectiveFit>> fitted;
  for (const auto &[name, parts] : systems) {
    topology::Topology topology = *topology::shippedTopology(name);
    std::set<int64_t> sizes;
    for (const CollectiveFit &fit : topology.collectives) {
      sizes.insert(fit.members);
    }
    std::vector<CollectiveFit> expected;
    for (const std::string &system : parts) {
      auto [known, added] = fitted.try_emplace(system);
      if (added) {
        known->second = fitSystem(measurements, system);
      }
      for (const CollectiveFit &fit : known->second) {
        if (sizes.contains(fit.members)) {
          expected.push_back(fit);
        }
      }
    }
    ASSERT_EQ(topology.collectives.size(), expected.size()) << name;
    for (size_t i = 0; i < expected.size(); ++i) {
      const CollectiveFit &shipped = topology.collectives[i];
      std::string curve = name + " " + topology::collectiveName(shipped.kind) + " " +
                          shipped.algorithm + " " + std::to_string(shipped.members);
      EXPECT_EQ(shipped.kind, expected[i].kind) << curve;
      EXPECT_EQ(shipped.algorithm, expected[i].algorithm) << curve;
      EXPECT_EQ(shipped.members, expected[i].members) << curve;
      EXPECT_EQ(shipped.messageBytesMin, expected[i].messageBytesMin) << curve;
      EXPECT_NEAR(shipped.relativeError, expected[i].relativeError, 1e-3) << curve;
      for (size_t term = 0; term < kTermCount; ++term) {
        double here = coefficient(shipped, static_cast<Term>(term));
        double there = coefficient(expected[i], static_cast<Term>(term));
        EXPECT_NEAR(here, there, 1e-3 * std::abs(there)) << curve << " " << term;
      }
    }
  }
}

TEST(Accuracy, a_fitted_system_goes_into_a_topology_and_is_predicted_from_there) {
  Measurements measurements = measured();
  std::vector<CollectiveFit> fits = fitSystem(measurements, "A100-SXM 2.27.3");
  std::string text = R"({"schema": "topology/1", "name": "a100", "device_types": {
      "A100": {"class": "gpu", "sms": 108, "mem": {"space": "hbm", "capacity": 8e10, "bw": 2e12}}},
    "node_types": {"n": {"devices": {"gpu": ["A100", 8]},
      "resources": {"nvl": {"count": 8, "bw": 3e11, "duplex": "full"}},
      "routes": [{"from": "gpu[i].hbm", "to": "gpu[j].hbm", "via": ["nvl[i].out", "nvl[j].in"]}]}},
    "instances": [{"type": "n", "count": 1}]})";
  nlohmann::json document = nlohmann::json::parse(text);
  document.update(nlohmann::json::parse(collectivesJson(measurements, fits)));
  Expected<topology::Topology> read = topology::parseTopology(document.dump());
  ASSERT_TRUE(read.ok()) << read.status().toString();
  ASSERT_EQ(read->collectives.size(), fits.size());
  for (const CollectiveFit &fit : read->collectives) {
    EXPECT_EQ(fit.provenance.origin, topology::Origin::kFitted);
    EXPECT_EQ(fit.provenance.source, "aic");
  }
  EXPECT_EQ(read->sources.at("aic").license, "Apache-2.0");
  Expected<CostModel> model = CostModel::create(*read, flatMesh("m", "r", 8));
  ASSERT_TRUE(model.ok());
  std::vector<double> errors;
  for (const Measurement &point : measurements.points) {
    if (point.system == "A100-SXM 2.27.3" && point.shape.members == 8) {
      Cost cost = model->collective(point.kind, 1, point.bytes);
      errors.push_back(std::abs(cost.seconds / point.seconds - 1));
    }
  }
  EXPECT_EQ(errors.size(), 84u);
  EXPECT_LE(summarize(errors).mean, 0.05);
}

TEST(Breakdown, independent_errors_cancel) {
  Breakdown breakdown{{{"a", {3, 0.1}}, {"b", {4, 0.1}}}};
  EXPECT_NEAR(breakdown.total().relativeError, 0.5 / 7, 1e-12);
  EXPECT_NE(breakdown.text().find("total         7000.000000 ms  ±7 %  100 %"), std::string::npos)
      << breakdown.text();
}

} // namespace
} // namespace headrace::cost
