// A SAX reader: numbers go straight into flat lists, which become nodes and edges at the end.
#include "model/solve/contest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headrace::solve {
namespace {

using Json = nlohmann::json;

constexpr int32_t kTimeMax = std::numeric_limits<int32_t>::max();

/// Rows of numbers of different lengths.
struct Ragged {
  std::vector<double> values;
  std::vector<size_t> ends; ///< one per row
  bool seen = false;

  size_t rows() const { return ends.size(); }
  size_t begin(size_t row) const { return row == 0 ? 0 : ends[row - 1]; }
  size_t size(size_t row) const { return ends[row] - begin(row); }
  const double *data(size_t row) const { return values.data() + begin(row); }
};

/// The document's lists, as they stand in it.
struct Lists {
  std::string name;
  double limit = -1;
  Ragged intervals, nodeCosts, usages, edgeNodes, edgeCosts;
};

/// Knows by the path so far what may come next. The first complaint ends the parse.
class Reader : public nlohmann::json_sax<Json> {
public:
  Status failure;
  Lists lists;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t &) override { return number(value); }
  bool binary(binary_t &) override { return refuse("bytes"); }

  bool string(string_t &value) override {
    if (place_ != Place::kName) {
      return refuse("a string");
    }
    lists.name = std::move(value);
    return closeMember();
  }

  bool start_object(size_t) override {
    switch (place_) {
    case Place::kDocument:
      return enter(Place::kTop);
    case Place::kProblemValue:
      return enter(Place::kProblem);
    case Place::kNodesValue:
      return enter(Place::kNodes);
    case Place::kEdgesValue:
      return enter(Place::kEdges);
    default:
      return refuse("an object");
    }
  }

  bool key(string_t &key) override {
    path_.push_back("." + key);
    Place next = Place::kDocument;
    switch (place_) {
    case Place::kTop:
      next = key == "problem" ? Place::kProblemValue : Place::kDocument;
      break;
    case Place::kProblem:
      next = key == "nodes"         ? Place::kNodesValue
             : key == "edges"       ? Place::kEdgesValue
             : key == "usage_limit" ? Place::kLimit
             : key == "name"        ? Place::kName
                                    : Place::kDocument;
      break;
    case Place::kNodes:
      list_ = key == "intervals" ? &lists.intervals
              : key == "costs"   ? &lists.nodeCosts
              : key == "usages"  ? &lists.usages
                                 : nullptr;
      next = list_ ? Place::kListValue : Place::kDocument;
      break;
    case Place::kEdges:
      list_ = key == "nodes" ? &lists.edgeNodes : key == "costs" ? &lists.edgeCosts : nullptr;
      next = list_ ? Place::kListValue : Place::kDocument;
      break;
    default:
      break;
    }
    if (next == Place::kDocument) {
      return fail("unknown key");
    }
    if (next == Place::kListValue && std::exchange(list_->seen, true)) {
      return fail("given twice");
    }
    outer_.push_back(place_);
    place_ = next;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTop) {
      place_ = Place::kEnd;
      return true;
    }
    return closeMember();
  }

  bool start_array(size_t) override {
    if (place_ == Place::kListValue) {
      place_ = Place::kList;
    } else if (place_ == Place::kList) {
      place_ = Place::kRow;
    } else {
      return refuse("an array");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::kRow) {
      list_->ends.push_back(list_->values.size());
      place_ = Place::kList;
      return true;
    }
    return closeMember();
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    failure = makeError(ErrorKind::kUser, "not valid JSON near byte ", position);
    return false;
  }

private:
  enum class Place : uint8_t {
    kDocument, // before the document's object; as `next`, a key that nobody knows
    kTop,
    kProblemValue,
    kProblem,
    kNodesValue,
    kNodes,
    kEdgesValue,
    kEdges,
    kListValue,
    kList,
    kRow,
    kLimit,
    kName,
    kEnd,
  };

  bool enter(Place place) {
    place_ = place;
    return true;
  }
  /// Back to the object whose member this was.
  bool closeMember() {
    path_.pop_back();
    place_ = outer_.back();
    outer_.pop_back();
    return true;
  }

  bool number(double value) {
    if (place_ == Place::kRow) {
      if (!(value >= 0 && value <= std::numeric_limits<double>::max())) {
        return fail("expected a number from 0, got ", value);
      }
      list_->values.push_back(value);
      return true;
    }
    if (place_ != Place::kLimit) {
      return refuse("a number");
    }
    if (!(value >= 0 && value <= std::numeric_limits<double>::max())) {
      return fail("expected a number from 0, got ", value);
    }
    lists.limit = value;
    return closeMember();
  }

  const char *wanted() const {
    switch (place_) {
    case Place::kDocument:
    case Place::kProblemValue:
    case Place::kNodesValue:
    case Place::kEdgesValue:
      return "an object";
    case Place::kListValue:
      return "an array of arrays";
    case Place::kList:
      return "an array";
    case Place::kName:
      return "a string";
    default:
      return "a number";
    }
  }
  bool refuse(const char *got) { return fail("expected ", wanted(), ", got ", got); }

  template <typename... Parts> bool fail(const Parts &...parts) {
    std::string path = "$";
    for (const std::string &part : path_) {
      path += part;
    }
    if (place_ == Place::kList || place_ == Place::kRow) {
      path += "[" + std::to_string(list_->rows()) + "]";
    }
    if (place_ == Place::kRow) {
      size_t begin = list_->ends.empty() ? 0 : list_->ends.back();
      path += "[" + std::to_string(list_->values.size() - begin) + "]";
    }
    failure = makeError(ErrorKind::kUser, path, ": ", parts...);
    return false;
  }

  Place place_ = Place::kDocument;
  std::vector<Place> outer_;
  std::vector<std::string> path_;
  Ragged *list_ = nullptr;
};

constexpr const char *kNodes = "$.problem.nodes";
constexpr const char *kEdges = "$.problem.edges";

template <typename... Parts> Status wrong(const Parts &...parts) {
  return makeError(ErrorKind::kUser, parts...);
}

double saturated(double cost) { return std::min(cost, kForbidden); }

bool isIndex(double value, double below) {
  return value >= 0 && value < below && value == std::floor(value);
}

Status addNodes(const Lists &lists, Problem &problem) {
  size_t count = lists.nodeCosts.rows();
  if (lists.intervals.rows() != count) {
    return wrong(kNodes, ".intervals: expected ", count, " as costs, got ", lists.intervals.rows());
  }
  if (lists.usages.rows() != count) {
    return wrong(kNodes, ".usages: expected ", count, " as costs, got ", lists.usages.rows());
  }
  if (count >= static_cast<size_t>(kTimeMax)) {
    return wrong(kNodes, ".costs: too many nodes: ", count);
  }
  problem.nodes.resize(count);
  for (size_t n = 0; n < count; ++n) {
    size_t strategies = lists.nodeCosts.size(n);
    if (strategies == 0) {
      return wrong(kNodes, ".costs[", n, "]: expected at least one strategy");
    }
    if (lists.usages.size(n) != strategies) {
      return wrong(kNodes, ".usages[", n, "]: expected ", strategies, " as costs, got ",
                   lists.usages.size(n));
    }
    const double *interval = lists.intervals.data(n);
    if (lists.intervals.size(n) != 2 || !isIndex(interval[0], kTimeMax) ||
        !isIndex(interval[1], kTimeMax) || interval[0] > interval[1]) {
      return wrong(kNodes, ".intervals[", n,
                   "]: expected two whole numbers, the second not smaller");
    }
    Node &node = problem.nodes[n];
    const double *costs = lists.nodeCosts.data(n);
    std::transform(costs, costs + strategies, std::back_inserter(node.cost), saturated);
    if (interval[0] < interval[1]) {
      const double *bytes = lists.usages.data(n);
      node.memory.push_back({0, static_cast<int32_t>(interval[0]),
                             static_cast<int32_t>(interval[1]),
                             std::vector<double>(bytes, bytes + strategies)});
    }
  }
  return {};
}

Status addEdges(const Lists &lists, Problem &problem) {
  size_t count = lists.edgeNodes.rows();
  if (lists.edgeCosts.rows() != count) {
    return wrong(kEdges, ".costs: expected ", count, " as nodes, got ", lists.edgeCosts.rows());
  }
  for (size_t e = 0; e < count; ++e) {
    size_t ends = lists.edgeNodes.size(e);
    const double *names = lists.edgeNodes.data(e);
    double nodes = static_cast<double>(problem.nodes.size());
    if (ends < 1 || ends > 2 || !isIndex(names[0], nodes) || !isIndex(names[ends - 1], nodes)) {
      return wrong(kEdges, ".nodes[", e, "]: expected one or two nodes below ",
                   problem.nodes.size());
    }
    auto source = static_cast<int32_t>(names[0]);
    auto target = static_cast<int32_t>(names[ends - 1]);
    size_t strategies = problem.nodes[source].cost.size();
    size_t expected = ends == 1 ? strategies : strategies * problem.nodes[target].cost.size();
    if (lists.edgeCosts.size(e) != expected) {
      return wrong(kEdges, ".costs[", e, "]: expected ", expected, " costs, got ",
                   lists.edgeCosts.size(e));
    }
    const double *costs = lists.edgeCosts.data(e);
    if (source == target) {
      size_t step = ends == 1 ? 1 : strategies + 1;
      for (size_t s = 0; s < strategies; ++s) {
        problem.nodes[source].cost[s] = saturated(problem.nodes[source].cost[s] + costs[s * step]);
      }
      continue;
    }
    Edge edge{source, target, {}};
    edge.cost.reserve(expected);
    std::transform(costs, costs + expected, std::back_inserter(edge.cost), saturated);
    problem.edges.push_back(std::move(edge));
  }
  return {};
}

} // namespace

Expected<ContestProblem> parseContest(std::string_view text) {
  Reader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) {
    return reader.failure;
  }
  Lists &lists = reader.lists;
  for (auto [list, name] : {std::pair{&lists.nodeCosts, ".nodes.costs"},
                            {&lists.intervals, ".nodes.intervals"},
                            {&lists.usages, ".nodes.usages"},
                            {&lists.edgeNodes, ".edges.nodes"},
                            {&lists.edgeCosts, ".edges.costs"}}) {
    if (!list->seen) {
      return wrong("$.problem: missing key: ", name + 1);
    }
  }
  ContestProblem contest;
  contest.name = std::move(lists.name);
  contest.problem.tierBytesMax = {lists.limit >= 0 ? lists.limit
                                                   : std::numeric_limits<double>::max()};
  HR_RETURN_IF_ERROR(addNodes(lists, contest.problem));
  HR_RETURN_IF_ERROR(addEdges(lists, contest.problem));
  return contest;
}

} // namespace headrace::solve
