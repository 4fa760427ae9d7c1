// What transfers that go on at once put on every link of a network, and on every rank.
#pragma once

#include "runtime/model/cost/network.h"

#include <string>
#include <vector>

namespace headrace::cost {

/// Keeps a pointer to the network. One thread at a time.
class LinkLoad {
public:
  explicit LinkLoad(const Network &network);

  /// Bytes from one rank to another; nothing if they are the same.
  void add(int64_t source, int64_t target, double bytes);
  /// `bytes` from a rank to `peers` ranks of other nodes together, and as many to it from them.
  void addRemote(int64_t rank, double bytes, double peers);

  struct Fullest {
    double seconds = 0; ///< bytes over bandwidth; of a fatpipe those of the largest transfer
    double relativeError = 0;
    std::string name; ///< "nic[2].in"; empty if nothing moves
  };
  Fullest fullest() const;
  /// Of the rank with most, over its messages.
  double latencySeconds() const;

private:
  void put(const std::vector<int32_t> &links, double bytes, double largest);

  const Network &network_;
  std::vector<double> bytes_;
  std::vector<double> latency_;
};

} // namespace headrace::cost
