// What transfers that go on at once put on every link of a network, and on every rank.
#pragma once

#include "model/cost/network.h"

#include <string>
#include <vector>

namespace headrace::cost {

/// Keeps a reference to the network. One thread at a time.
class LinkLoad {
public:
  explicit LinkLoad(const Network &network);

  /// Bytes from one rank to another, in one message; nothing if they are the same.
  void add(int64_t source, int64_t target, double bytes);
  /// `bytes` from a rank to other nodes, or from there to it, in so many messages together.
  void send(int64_t rank, double bytes, double messages);
  void receive(int64_t rank, double bytes, double messages);

  struct Fullest {
    double seconds = 0; ///< bytes over bandwidth; of a fatpipe those of the largest transfer
    double relativeError = 0;
    std::string name; ///< "nic[2].in"; empty if nothing moves
  };
  Fullest fullest() const;
  const std::vector<double> &bytes() const { return bytes_; }
  /// Of the rank whose messages, sent or received, take longest: those of all of them that it posts
  /// one after the other, then those until the last has arrived.
  struct Messaging {
    double postSeconds = 0;
    double latencySeconds = 0;
    double total() const { return postSeconds + latencySeconds; }
  };
  Messaging messaging() const;
  /// The latency of the slowest message.
  double hopSeconds() const;

private:
  struct Messages {
    double postSeconds = 0;
    double waitSeconds = 0; ///< of one: beyond posting it
    double hopSeconds = 0;
    void add(const Path &path, double count);
  };
  void put(const std::vector<int32_t> &links, double bytes, double largest);

  const Network &network_;
  std::vector<double> bytes_; // of each link
  std::vector<Messages> sent_;
  std::vector<Messages> received_;
};

} // namespace headrace::cost
