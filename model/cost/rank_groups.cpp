// Seats of groups on nodes, and sums of their messages over links.
#include "model/cost/rank_groups.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace headrace::cost {
namespace {

/// Of a run so many nodes are looked at one by one, where groups may not sit on all alike.
constexpr int64_t kNodesSeen = 64;

/// Seats of one run are different nodes of it: a link stands for that of the node that uses it
/// most.
void use(std::vector<LinkUse> &uses, const LinkUse &added) {
  auto known = std::lower_bound(
      uses.begin(), uses.end(), added, [](const LinkUse &left, const LinkUse &right) {
        return std::tie(left.run, left.link) < std::tie(right.run, right.link);
      });
  if (known != uses.end() && known->run == added.run && known->link == added.link) {
    known->bytes = std::max(known->bytes, added.bytes);
  } else {
    uses.insert(known, added);
  }
}

int64_t nodeOf(const std::vector<NodeRun> &runs, int64_t rank) {
  int64_t before = 0;
  for (const NodeRun &run : runs) {
    if (rank < run.firstRank + run.rankCount()) {
      return before + (rank - run.firstRank) / run.ranks;
    }
    before += run.nodes;
  }
  return before;
}

} // namespace

RankGroups::RankGroups(const std::vector<NodeRun> &runs) : runs_(runs) {
  shape_ = {0, 0, 0};
  for (const NodeRun &run : runs) {
    shape_.members += run.rankCount();
    shape_.nodes += run.nodes;
  }
  for (size_t run = 0; run < runs.size(); ++run) {
    shape_.remotePeers = std::max(shape_.remotePeers, shape_.members - runs[run].ranks);
    Seat seat{static_cast<int32_t>(run), {}, {}};
    seat.group.assign(static_cast<size_t>(runs[run].ranks), 0);
    seat.first.assign(seat.group.size(), false);
    seat.first[0] = run == 0;
    seats_.push_back(std::move(seat));
  }
}

RankGroups::RankGroups(const std::vector<NodeRun> &runs, const Mesh &mesh, AxisSet axes)
    : runs_(runs) {
  std::vector<int64_t> offsets = mesh.offsetsOf(axes);
  shape_.members = static_cast<int64_t>(offsets.size());
  std::set<int64_t> measured; // groups
  for (size_t run = 0; run < runs.size(); ++run) {
    for (int64_t node = 0; node < std::min(runs[run].nodes, kNodesSeen); ++node) {
      Seat seat{static_cast<int32_t>(run), {}, {}};
      std::map<int64_t, int32_t> groups;
      std::vector<int64_t> here; // ranks of each
      for (int64_t device = 0; device < runs[run].ranks; ++device) {
        int64_t rank = runs[run].firstRank + node * runs[run].ranks + device;
        int64_t first = mesh.firstOf(axes, rank);
        auto [known, added] = groups.try_emplace(first, static_cast<int32_t>(groups.size()));
        if (added) {
          here.push_back(0);
        }
        ++here[static_cast<size_t>(known->second)];
        seat.group.push_back(known->second);
        seat.first.push_back(first == rank);
      }
      for (auto [first, group] : groups) {
        int64_t remote = shape_.members - here[static_cast<size_t>(group)];
        shape_.remotePeers = std::max(shape_.remotePeers, remote);
        if (measured.size() < kNodesSeen && measured.insert(first).second) {
          std::set<int64_t> nodes;
          for (int64_t offset : offsets) {
            nodes.insert(nodeOf(runs, first + offset));
          }
          shape_.nodes = std::max(shape_.nodes, static_cast<int64_t>(nodes.size()));
        }
      }
      addSeat(std::move(seat));
    }
  }
}

void RankGroups::addSeat(Seat seat) {
  bool known = std::any_of(seats_.begin(), seats_.end(), [&](const Seat &other) {
    return other.run == seat.run && other.group == seat.group && other.first == seat.first;
  });
  if (!known) {
    seats_.push_back(std::move(seat));
  }
}

double RankGroups::fullest(Weight kind) const {
  double most = 1;
  for (const NodeRun &run : runs_) {
    most = std::max(most, run.fullest(kind));
  }
  return most;
}

const Traffic &RankGroups::traffic(Pattern pattern, Weights weights) const {
  auto [it, added] = traffic_.try_emplace({pattern, weights});
  if (added) {
    it->second = make(pattern, weights);
  }
  return it->second;
}

Traffic RankGroups::make(Pattern pattern, Weights weights) const {
  Traffic traffic;
  for (const Seat &seat : seats_) {
    load(seat, pattern, weights, traffic);
  }
  return traffic;
}

void RankGroups::load(const Seat &seat, Pattern pattern, Weights weights, Traffic &traffic) const {
  const NodeRun &run = runs_[static_cast<size_t>(seat.run)];
  LinkLoad load(*run.network);
  double members = static_cast<double>(shape_.members);
  for (int64_t rank = 0; rank < run.ranks; ++rank) {
    double sent = run.weight(weights.sent, rank);
    double received = run.weight(weights.received, rank);
    int32_t group = seat.group[static_cast<size_t>(rank)];
    int64_t here = 0;
    int64_t next = -1; // of its group on this node
    int64_t head = -1;
    for (int64_t peer = 0; peer < run.ranks; ++peer) {
      if (seat.group[static_cast<size_t>(peer)] != group) {
        continue;
      }
      ++here;
      head = head < 0 ? peer : head;
      next = peer > rank && next < 0 ? peer : next;
    }
    double remote = members - static_cast<double>(here);
    switch (pattern) {
    case Pattern::kSpread:
      for (int64_t peer = 0; peer < run.ranks; ++peer) {
        if (peer != rank && seat.group[static_cast<size_t>(peer)] == group) {
          load.add(rank, peer, sent * run.weight(weights.received, peer) / members);
        }
      }
      load.send(rank, remote / members * sent, remote);
      load.receive(rank, remote / members * received, remote);
      break;
    case Pattern::kToFirst:
      if (seat.first[static_cast<size_t>(rank)]) {
        for (int64_t peer = 0; peer < run.ranks; ++peer) {
          if (peer != rank && seat.group[static_cast<size_t>(peer)] == group) {
            load.add(peer, rank, run.weight(weights.sent, peer));
          }
        }
        load.receive(rank, remote, remote);
      } else if (remote > 0 && !seat.first[static_cast<size_t>(head)]) {
        load.send(rank, sent, 1);
      }
      break;
    case Pattern::kRing:
      if (next >= 0) {
        load.add(rank, next, 1);
      } else if (remote > 0) {
        load.send(rank, 1, 1);
        load.receive(head, 1, 1);
      } else {
        load.add(rank, head, 1);
      }
      break;
    }
  }
  const std::vector<double> &bytes = load.bytes();
  for (size_t link = 0; link < run.linkCount(); ++link) {
    if (bytes[link] > 0) {
      use(traffic.uses, {seat.run, static_cast<int32_t>(link), bytes[link]});
    }
  }
  LinkLoad::Fullest fullest = load.fullest();
  if (fullest.seconds > traffic.secondsPerByte) {
    traffic.secondsPerByte = fullest.seconds;
    traffic.relativeError = fullest.relativeError;
    traffic.fullest = fullest.name;
  }
  LinkLoad::Messaging messaging = load.messaging();
  if (messaging.total() > traffic.messaging.total()) {
    traffic.messaging = messaging;
  }
  traffic.hopSeconds = std::max(traffic.hopSeconds, load.hopSeconds());
}

} // namespace headrace::cost
