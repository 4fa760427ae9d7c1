// Makes random graphs.
#include "test/unit/model/simulate/random_graph.h"

#include "runtime/base/random.h"

#include <algorithm>

namespace headrace::simulate {

Graph randomGraph(uint64_t seed) {
  Random random(seed);
  Graph graph;
  int64_t links = random.between(1, 12);
  for (int64_t i = 0; i < links; ++i) {
    auto sharing = random.chance(0.2) ? topology::Sharing::kFatpipe : topology::Sharing::kShared;
    graph.resources.push_back({"link " + std::to_string(i),
                               1e6 * static_cast<double>(random.between(1, 5000)), sharing, 0.1});
  }
  double latency = random.chance(0.5) ? 1e-6 * static_cast<double>(random.between(1, 1000)) : 0;
  int64_t activities = random.between(1, 60);
  for (int64_t i = 0; i < activities; ++i) {
    Activity activity;
    activity.name = "transfer " + std::to_string(i);
    activity.latencySeconds = latency;
    activity.work = 1e3 * static_cast<double>(random.between(1, 100000));
    std::vector<int32_t> order(links);
    for (int64_t link = 0; link < links; ++link) {
      order[link] = static_cast<int32_t>(link);
      std::swap(order[link], order[random.between(0, link)]);
    }
    order.resize(std::min<int64_t>(links, random.between(1, 4)));
    for (int32_t link : order) {
      activity.uses.push_back({link, 1});
    }
    for (int64_t before = i > 0 ? random.between(0, std::min<int64_t>(i, 3)) : 0; before > 0;
         --before) {
      int32_t other = static_cast<int32_t>(random.between(0, i - 1));
      if (std::find(activity.after.begin(), activity.after.end(), other) == activity.after.end()) {
        activity.after.push_back(other);
      }
    }
    graph.activities.push_back(std::move(activity));
  }
  return graph;
}

} // namespace headrace::simulate
