// Splits measurements into those to fit and those to judge by, and tabulates what the fits leave.
#include "model/cost/accuracy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>

namespace headrace::cost {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

namespace {

constexpr double kLargeBytes = 1 << 20;

/// One curve: all sizes of one collective, system and group.
using CurveKey = std::tuple<std::string, std::string, CollectiveKind, int64_t, int64_t>;

std::map<CurveKey, std::vector<Measurement>> curvesOf(const std::vector<Measurement> &points) {
  std::map<CurveKey, std::vector<Measurement>> curves;
  for (const Measurement &point : points) {
    curves[{point.source, point.system, point.kind, point.shape.members, point.groups}].push_back(
        point);
  }
  for (auto &[key, curve] : curves) {
    std::sort(curve.begin(), curve.end(),
              [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
  }
  return curves;
}

std::vector<CurveForm> twoProtocols() { return {sizeForm("low_latency"), sizeForm("simple")}; }

void append(std::vector<double> &all, const std::vector<double> &more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<Measurement> onlyLarge(const std::vector<Measurement> &points, double bytesMin) {
  std::vector<Measurement> large;
  std::copy_if(points.begin(), points.end(), std::back_inserter(large),
               [&](const Measurement &point) { return point.bytes >= bytesMin; });
  return large;
}

/// Points of one system and collective.
using SystemKey = std::pair<std::string, CollectiveKind>;
std::map<SystemKey, std::vector<Measurement>> systemsOf(const std::vector<Measurement> &points) {
  std::map<SystemKey, std::vector<Measurement>> systems;
  for (const Measurement &point : points) {
    systems[{point.system, point.kind}].push_back(point);
  }
  return systems;
}

} // namespace

ErrorSummary summarize(std::vector<double> errors) {
  ErrorSummary summary;
  summary.count = errors.size();
  if (errors.empty()) {
    return summary;
  }
  std::sort(errors.begin(), errors.end());
  summary.mean =
      std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  size_t middle = errors.size() / 2;
  summary.median = errors.size() % 2 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  summary.p90 = errors[static_cast<size_t>(0.9 * static_cast<double>(errors.size() - 1) + 0.5)];
  return summary;
}

std::vector<AccuracyRow> accuracyWithinSizes(const Measurements &measurements) {
  std::map<std::string, std::vector<double>> fitted, fittedLarge, heldOut, heldOutLarge;
  for (const auto &[key, curve] : curvesOf(measurements.points)) {
    if (curve.front().shape.nodes > 1) {
      continue;
    }
    const std::string &source = curve.front().source;
    std::vector<CollectiveFit> fits = fitCurves(curve, twoProtocols());
    std::vector<Measurement> train;
    std::vector<Measurement> test;
    for (size_t i = 0; i < curve.size(); ++i) {
      (i % 2 ? test : train).push_back(curve[i]);
    }
    append(fitted[source], relativeErrors(fits, curve));
    append(fittedLarge[source], relativeErrors(fits, onlyLarge(curve, kLargeBytes)));
    if (!test.empty()) {
      std::vector<CollectiveFit> trained = fitCurves(train, twoProtocols());
      append(heldOut[source], relativeErrors(trained, test));
      append(heldOutLarge[source], relativeErrors(trained, onlyLarge(test, kLargeBytes)));
    }
  }
  std::vector<AccuracyRow> rows;
  for (const auto &[source, errors] : fitted) {
    rows.push_back({"fitted", source + ", all sizes", summarize(errors)});
    rows.push_back({"fitted", source + ", from 1 MiB", summarize(fittedLarge[source])});
    rows.push_back(
        {"every other size held out", source + ", all sizes", summarize(heldOut[source])});
    rows.push_back(
        {"every other size held out", source + ", from 1 MiB", summarize(heldOutLarge[source])});
  }
  return rows;
}

std::vector<AccuracyRow> accuracyOfRanks(const Measurements &measurements, int64_t trainRanksMax,
                                         int64_t testRanksMin, double bytesMin) {
  std::string question = "groups of at most " + std::to_string(trainRanksMax) + " predict " +
                         std::to_string(testRanksMin) + " and more";
  std::vector<AccuracyRow> rows;
  std::vector<double> all;
  for (const auto &[key, points] : systemsOf(measurements.points)) {
    std::vector<CurveForm> forms = stepForms(key.second);
    // Small groups have messages of the size that large groups' buffers are cut into in smaller
    // buffers.
    double trainBytesMin =
        forms.size() > 1 ? bytesMin / static_cast<double>(trainRanksMax) : bytesMin;
    std::vector<Measurement> train;
    std::vector<Measurement> test;
    for (const Measurement &point : points) {
      if (point.shape.nodes > 1) {
        continue;
      }
      if (point.shape.members <= trainRanksMax && point.bytes >= trainBytesMin) {
        train.push_back(point);
      } else if (point.shape.members >= testRanksMin && point.bytes >= bytesMin) {
        test.push_back(point);
      }
    }
    if (train.empty() || test.empty()) {
      continue;
    }
    std::vector<double> errors = relativeErrors(fitCurves(train, forms), test);
    rows.push_back(
        {question, key.first + " " + topology::collectiveName(key.second), summarize(errors)});
    append(all, errors);
  }
  rows.push_back({question, "all", summarize(all)});
  return rows;
}

std::vector<AccuracyRow> accuracyOfNodes(const Measurements &measurements, int64_t trainNodesMax) {
  std::vector<AccuracyRow> rows;
  for (const auto &[key, points] : systemsOf(measurements.points)) {
    std::vector<Measurement> between;
    std::vector<Measurement> train;
    std::vector<Measurement> test;
    for (const Measurement &point : points) {
      if (point.shape.nodes > 1) {
        between.push_back(point);
        (point.shape.nodes <= trainNodesMax ? train : test).push_back(point);
      }
    }
    if (between.empty()) {
      continue;
    }
    std::vector<CurveForm> forms = networkForms(key.second);
    std::string subject = key.first + " " + topology::collectiveName(key.second);
    rows.push_back(
        {"fitted", subject, summarize(relativeErrors(fitCurves(between, forms), between))});
    if (train.empty() || test.empty()) {
      continue;
    }
    rows.push_back({"at most " + std::to_string(trainNodesMax) + " nodes predict more", subject,
                    summarize(relativeErrors(fitCurves(train, forms), test))});
  }
  return rows;
}

namespace {

constexpr std::array kOfLinks = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                 CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll};

/// Links further apart are of other kinds: PCIe says little of NVLink.
constexpr double kLikeLinks = 4;

/// The first word names the machine: another library on the same one is no other system.
std::string machineOf(const std::string &system) { return system.substr(0, system.find(' ')); }

} // namespace

std::vector<CollectiveFit> fitFromLink(const Measurements &measurements, const std::string &system,
                                       double bytesMin) {
  std::vector<CollectiveFit> fits;
  auto own = measurements.linkBandwidth.find(system);
  if (own == measurements.linkBandwidth.end()) {
    return fits;
  }
  auto isAlike = [&](double link) {
    return link < kLikeLinks * own->second && own->second < kLikeLinks * link;
  };
  for (CollectiveKind kind : kOfLinks) {
    std::vector<Measurement> points;
    for (Measurement point : measurements.points) {
      auto link = measurements.linkBandwidth.find(point.system);
      if (link != measurements.linkBandwidth.end() && point.kind == kind &&
          machineOf(point.system) != machineOf(system) && isAlike(link->second) &&
          point.bytes >= bytesMin && point.shape.nodes == 1) {
        point.bytes /= link->second; // in seconds of the link
        points.push_back(std::move(point));
      }
    }
    if (points.empty()) {
      continue;
    }
    for (CollectiveFit fit : fitCurves(points, {stepForm("direct")})) {
      fit.sqrtTerm /= std::sqrt(own->second);
      fit.sqrtStepTerm /= std::sqrt(own->second);
      fit.bandwidth *= own->second;
      fit.provenance.origin = topology::Origin::kAssumed;
      fits.push_back(std::move(fit));
    }
  }
  return fits;
}

std::vector<AccuracyRow> accuracyOfSystems(const Measurements &measurements, double bytesMin) {
  std::vector<AccuracyRow> rows;
  std::vector<double> all;
  for (const auto &[left, link] : measurements.linkBandwidth) {
    std::vector<double> errors;
    for (const CollectiveFit &fit : fitFromLink(measurements, left, bytesMin)) {
      std::vector<Measurement> test;
      for (const Measurement &point : measurements.points) {
        if (point.system == left && point.kind == fit.kind && point.bytes >= bytesMin &&
            point.shape.nodes == 1) {
          test.push_back(point);
        }
      }
      append(errors, relativeErrors({fit}, test));
    }
    rows.push_back({"left out, from its datasheet", left, summarize(errors)});
    append(all, errors);
  }
  rows.push_back({"left out, from its datasheet", "all", summarize(all)});
  return rows;
}

std::vector<CollectiveFit> fitSystem(const Measurements &measurements, const std::string &system) {
  std::vector<CollectiveFit> fits;
  for (const auto &[key, points] : systemsOf(measurements.points)) {
    if (key.first != system) {
      continue;
    }
    std::map<int64_t, std::vector<Measurement>> bySize;
    std::vector<Measurement> between;
    for (const Measurement &point : points) {
      if (point.shape.nodes > 1) {
        between.push_back(point);
      } else {
        bySize[point.shape.members].push_back(point);
      }
    }
    bool oneSource = std::all_of(points.begin(), points.end(), [&](const Measurement &point) {
      return point.source == points.front().source;
    });
    auto take = [&](std::vector<CollectiveFit> more) {
      for (CollectiveFit &fit : more) {
        fit.provenance.source = oneSource ? points.front().source : "";
      }
      fits.insert(fits.end(), more.begin(), more.end());
    };
    std::vector<Measurement> within;
    for (const auto &[members, curve] : bySize) {
      within.insert(within.end(), curve.begin(), curve.end());
      take(fitCurves(curve, twoProtocols()));
    }
    if (bySize.size() > 1) {
      std::vector<CurveForm> forms = {stepForm("low_latency"), stepForm("simple")};
      if (key.second == CollectiveKind::kAllToAll) {
        // Short buffers and small messages differ: the first waits, the second is slow.
        forms = stepForms(key.second);
        forms.insert(forms.begin(), forms.front());
      }
      take(fitCurves(within, forms));
    }
    if (!between.empty()) {
      take(fitCurves(between, networkForms(key.second)));
    }
  }
  return fits;
}

std::vector<AccuracyRow> accuracyOfSystem(const Measurements &measurements,
                                          const std::string &system) {
  Measurements alone = measurements;
  std::erase_if(alone.points, [&](const Measurement &point) { return point.system != system; });
  std::vector<AccuracyRow> rows = accuracyWithinSizes(alone);
  int64_t ranksMax = 0;
  int64_t nodesMax = 1;
  for (const Measurement &point : alone.points) {
    if (point.shape.nodes == 1) {
      ranksMax = std::max(ranksMax, point.shape.members);
    }
    nodesMax = std::max(nodesMax, point.shape.nodes);
  }
  for (const std::vector<AccuracyRow> &more :
       {accuracyOfRanks(alone, ranksMax / 2, ranksMax, kLargeBytes),
        accuracyOfNodes(alone, nodesMax / 2)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

std::string collectivesJson(const Measurements &measurements,
                            const std::vector<CollectiveFit> &fits) {
  nlohmann::ordered_json sources = nlohmann::ordered_json::object();
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CollectiveFit &fit : fits) {
    nlohmann::ordered_json entry;
    entry["level"] = fit.level == Level::kNetwork ? "net" : "node";
    entry["op"] = topology::collectiveName(fit.kind);
    entry["algo"] = fit.algorithm;
    auto put = [&](const char *key, double value) {
      if (value != 0) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.4g", value);
        entry[key] = nlohmann::ordered_json::parse(digits);
      }
    };
    put("n", static_cast<double>(fit.members));
    put("a0", fit.baseSeconds);
    put("a_step", fit.perStepSeconds);
    put("a_rank", fit.perRankSeconds);
    put("a_peer", fit.perPeerSeconds);
    put("a_log2nodes", fit.perLog2NodeSeconds);
    put("g_sqrt", fit.sqrtTerm);
    put("g_sqrt_step", fit.sqrtStepTerm);
    for (auto [key, bytes] : {std::pair("message_min", fit.messageBytesMin),
                              {"message_below", fit.messageBytesBelow}}) {
      if (bytes != 0) {
        entry[key] = static_cast<int64_t>(bytes); // a bound, as it is
      }
    }
    put(fit.sent == topology::SentBytes::kWhole  ? "B_alg"
        : fit.sent == topology::SentBytes::kTree ? "B_tree"
                                                 : "B",
        fit.bandwidth);
    put("rel_err", fit.relativeError);
    entry["kind"] = topology::originName(fit.provenance.origin);
    if (const std::string &name = fit.provenance.source; !name.empty()) {
      entry["src"] = name;
      auto known = measurements.sources.find(name);
      topology::Source source =
          known != measurements.sources.end() ? known->second : topology::Source{name, {}, {}};
      sources[name]["ref"] = source.reference;
      for (auto [key, text] : {std::pair("date", source.date), {"license", source.license}}) {
        if (!text.empty()) {
          sources[name][key] = text;
        }
      }
    }
    list.push_back(std::move(entry));
  }
  std::string text = "{\"sources\": " + sources.dump() + ",\n\"collectives\": [";
  for (size_t i = 0; i < list.size(); ++i) {
    text += (i ? ",\n  " : "\n  ") + list[i].dump();
  }
  return text + "\n]}\n";
}

std::string accuracyTable(const std::vector<AccuracyRow> &rows) {
  std::string text =
      "| question | subject | points | mean | median | p90 |\n|---|---|---|---|---|---|\n";
  for (const AccuracyRow &row : rows) {
    if (row.errors.count == 0) {
      continue;
    }
    char figures[96];
    std::snprintf(figures, sizeof figures, " | %zu | %.1f %% | %.1f %% | %.1f %% |\n",
                  row.errors.count, 100 * row.errors.mean, 100 * row.errors.median,
                  100 * row.errors.p90);
    text += "| " + row.question + " | " + row.subject + figures;
  }
  return text;
}

} // namespace headrace::cost
