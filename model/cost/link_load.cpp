// Sums over links.
#include "model/cost/link_load.h"

#include <algorithm>

namespace headrace::cost {

LinkLoad::LinkLoad(const Network &network)
    : network_(network), bytes_(network.links().size(), 0), sent_(network.places().size()),
      received_(network.places().size()) {}

void LinkLoad::Messages::add(const Path &path, double count) {
  // Who does not say what posting takes has messages that go one after the other.
  double post = path.postSeconds > 0 ? path.postSeconds : path.latencySeconds;
  postSeconds += count * post;
  waitSeconds = std::max(waitSeconds, path.latencySeconds - post);
  hopSeconds = std::max(hopSeconds, path.latencySeconds);
}

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
  sent_[source].add(path, 1);
  received_[target].add(path, 1);
  put(path.links, bytes, bytes);
}

void LinkLoad::send(int64_t rank, double bytes, double messages) {
  if (messages > 0) {
    Path out = network_.outward(rank);
    sent_[rank].add(out, messages);
    put(out.links, bytes, bytes / messages);
  }
}

void LinkLoad::receive(int64_t rank, double bytes, double messages) {
  if (messages > 0) {
    received_[rank].add(network_.outward(rank), messages); // the way is paid for once, see inward
    put(network_.inward(rank).links, bytes, bytes / messages);
  }
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

LinkLoad::Messaging LinkLoad::messaging() const {
  Messaging most;
  for (const std::vector<Messages> *side : {&sent_, &received_}) {
    for (const Messages &messages : *side) {
      Messaging here{messages.postSeconds, messages.waitSeconds};
      most = here.total() > most.total() ? here : most;
    }
  }
  return most;
}

double LinkLoad::hopSeconds() const {
  double most = 0;
  for (const Messages &messages : sent_) {
    most = std::max(most, messages.hopSeconds);
  }
  return most;
}

} // namespace headrace::cost
