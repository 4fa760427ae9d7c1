// Groups of ranks that send to each other, all groups at once: how they sit on nodes, and what
// their traffic takes of the links.
#pragma once

#include "model/cost/curve.h"
#include "model/cost/link_load.h"
#include "model/cost/mesh.h"
#include "model/cost/node_run.h"

#include <map>
#include <tuple>

namespace headrace::cost {

/// Who sends to whom in a group.
enum class Pattern : uint8_t {
  kSpread,  ///< each to each other an equal part; its own part stays
  kToFirst, ///< each other to the first
  kRing,    ///< each to the next
};

/// Whose bytes differ from those of the mean rank.
struct Weights {
  Weight sent = Weight::kEven;
  Weight received = Weight::kEven;
  auto operator<=>(const Weights &) const = default;
};

/// How many bytes go through a link.
struct LinkUse {
  int32_t run = 0;  ///< index of the run whose nodes' link it is
  int32_t link = 0; ///< of NodeRun::network
  double bytes = 0;
};

/// What a pattern takes for each byte that the mean rank has.
struct Traffic {
  std::vector<LinkUse> uses; ///< each link of a run once: on the node where most goes through it
  LinkLoad::Messaging messaging; ///< of the rank with most of it
  double hopSeconds = 0;         ///< of the slowest single message
  double secondsPerByte = 0;     ///< on the fullest link
  double relativeError = 0;
  std::string fullest; ///< that link: "nic[2].in"
};

/// Keeps a reference to the runs. Immutable but for a cache; one thread at a time.
class RankGroups {
public:
  /// All ranks are one group.
  explicit RankGroups(const std::vector<NodeRun> &runs);
  /// The groups along some axes of a mesh of all ranks.
  RankGroups(const std::vector<NodeRun> &runs, const Mesh &mesh, AxisSet axes);

  const std::vector<NodeRun> &runs() const { return runs_; }
  /// Of the group with most of each.
  const GroupShape &shape() const { return shape_; }
  topology::Level level() const {
    return shape_.nodes > 1 ? topology::Level::kNetwork : topology::Level::kNode;
  }
  /// The most that a rank has against the mean rank.
  double fullest(Weight kind) const;
  const Traffic &traffic(Pattern pattern, Weights weights = {}) const;

private:
  /// A node of a run, by the groups of its ranks.
  struct Seat {
    int32_t run = 0;
    std::vector<int32_t> group; ///< of each rank of the node; numbers have no meaning elsewhere
    std::vector<bool> first;    ///< whether it is the first of its group
  };
  void addSeat(Seat seat);
  Traffic make(Pattern pattern, Weights weights) const;
  void load(const Seat &seat, Pattern pattern, Weights weights, Traffic &traffic) const;

  const std::vector<NodeRun> &runs_;
  std::vector<Seat> seats_; ///< different ones only
  GroupShape shape_{1, 1, 0};
  mutable std::map<std::pair<Pattern, Weights>, Traffic> traffic_;
};

} // namespace headrace::cost
