// Sums over links.
#include "runtime/model/cost/link_load.h"

#include <algorithm>

namespace headrace::cost {

LinkLoad::LinkLoad(const Network &network)
    : network_(network), bytes_(network.links().size(), 0), latency_(network.places().size(), 0) {}

void LinkLoad::put(const std::vector<int32_t> &links, double bytes, double largest) {
  for (int32_t link : links) {
    bool alone = network_.links()[link].sharing == topology::Sharing::kFatpipe;
    bytes_[link] = alone ? std::max(bytes_[link], largest) : bytes_[link] + bytes;
  }
}

void LinkLoad::add(int64_t source, int64_t target, double bytes) {
  if (source == target) {
    return;
  }
  Path path = network_.path(source, target);
  latency_[source] += path.latencySeconds;
  put(path.links, bytes, bytes);
}

void LinkLoad::addRemote(int64_t rank, double bytes, double peers) {
  Path out = network_.outward(rank);
  latency_[rank] += peers * out.latencySeconds;
  put(out.links, bytes, bytes / peers);
  put(network_.inward(rank).links, bytes, bytes / peers);
}

LinkLoad::Fullest LinkLoad::fullest() const {
  Fullest fullest;
  int32_t link = -1;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    double seconds = bytes_[i] / network_.links()[i].bandwidth;
    if (seconds > fullest.seconds) {
      fullest.seconds = seconds;
      link = static_cast<int32_t>(i);
    }
  }
  if (link >= 0) {
    fullest.relativeError = network_.links()[link].relativeError;
    fullest.name = network_.links()[link].name();
  }
  return fullest;
}

double LinkLoad::latencySeconds() const {
  return latency_.empty() ? 0 : *std::max_element(latency_.begin(), latency_.end());
}

} // namespace headrace::cost
