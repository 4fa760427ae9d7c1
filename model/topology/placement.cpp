// Templates of nodes: expands placements to runs of equal nodes, and finds a node's failure domain,
// both by walking the templates and never the nodes.
#include "model/topology/topology.h"
#include "runtime/base/check.h"

#include <algorithm>

namespace headrace::topology {
namespace {

constexpr int64_t kDepthMax = 16;
constexpr int64_t kNodesMax = int64_t{1} << 20;
constexpr size_t kRunsMax = 4096;
constexpr size_t kGroupsMax = 1024;

Status userError(const std::string &path, const std::string &message) {
  return Status(ErrorKind::kUser, path + ": " + message);
}

/// What is known of a group once all its members are.
struct Expanded {
  enum class State : uint8_t { kUnseen, kOpen, kDone } state = State::kUnseen;
  int64_t depth = 1;
  int64_t nodes = 0;
  std::vector<Member> runs; ///< of node types
};

/// Appends `count` times `runs` to `to`; false if that is too much.
bool append(std::vector<Member> &to, const std::vector<Member> &runs, int64_t count) {
  if (runs.size() == 1) {
    if (!to.empty() && to.back().type == runs.front().type) {
      to.back().count += runs.front().count * count; // both within kNodesMax of one another
    } else {
      to.push_back({runs.front().type, runs.front().count * count});
    }
    return to.size() <= kRunsMax;
  }
  if (static_cast<size_t>(count) > kRunsMax) {
    return false;
  }
  for (int64_t copy = 0; copy < count; ++copy) {
    for (const Member &run : runs) {
      if (!append(to, {run}, 1)) {
        return false;
      }
    }
  }
  return true;
}

/// Expands groups in post-order. Recursion is bounded by kDepthMax.
class Expander {
public:
  explicit Expander(const Topology &topology) : topology_(topology) {}

  /// The expansion of a node type or group; `path` is where it is named.
  Expected<const Expanded *> expand(const std::string &type, const std::string &path,
                                    int64_t level) {
    Expanded &made = made_[type];
    if (made.state == Expanded::State::kDone) {
      return &made;
    }
    if (made.state == Expanded::State::kOpen) {
      return userError(path, "cycle: the group contains itself: " + type);
    }
    if (topology_.nodeTypes.contains(type)) {
      made = {Expanded::State::kDone, 0, 1, {{type, 1}}};
      return &made;
    }
    auto group = topology_.groups.find(type);
    if (group == topology_.groups.end()) {
      return userError(path, "unknown node type or group: " + type);
    }
    if (level > kDepthMax) {
      return userError(path, "groups nest more than 16 deep: " + type);
    }
    made.state = Expanded::State::kOpen;
    const std::vector<Member> &members = group->second.members;
    for (size_t i = 0; i < members.size(); ++i) {
      std::string at = "$.groups." + type + ".members[" + std::to_string(i) + "]";
      HR_ASSIGN_OR_RETURN(const Expanded *inner, expand(members[i].type, at, level + 1));
      HR_RETURN_IF_ERROR(add(made, *inner, members[i].count, at));
      made.depth = std::max(made.depth, inner->depth + 1);
    }
    if (members.empty()) {
      return userError("$.groups." + type + ".members", "a group needs at least one member");
    }
    if (level + made.depth - 1 > kDepthMax) {
      return userError(path, "groups nest more than 16 deep: " + type);
    }
    made.state = Expanded::State::kDone;
    return &made;
  }

  static Status add(Expanded &to, const Expanded &inner, int64_t count, const std::string &path) {
    if (count > kNodesMax || inner.nodes * count > kNodesMax - to.nodes) {
      return userError(path, "more than 1048576 nodes are not supported");
    }
    to.nodes += inner.nodes * count;
    if (!append(to.runs, inner.runs, count)) {
      return userError(path, "more than 4096 changes of node type are not supported");
    }
    return {};
  }

private:
  const Topology &topology_;
  std::map<std::string, Expanded> made_; // references into it stay valid
};

/// Nodes and domains of one level in a template.
struct Counted {
  int64_t nodes = 0;
  int64_t domains = 0;
};

class DomainCounter {
public:
  DomainCounter(const Topology &topology, FailureLevel level)
      : topology_(topology), level_(level) {}

  Counted of(const std::string &type) {
    auto group = topology_.groups.find(type);
    if (group == topology_.groups.end()) {
      return {1, 1};
    }
    if (auto known = counted_.find(type); known != counted_.end()) {
      return known->second;
    }
    Counted sum;
    for (const Member &member : group->second.members) {
      Counted inner = of(member.type);
      sum.nodes += inner.nodes * member.count;
      sum.domains += inner.domains * member.count;
    }
    if (isDomain(group->second)) {
      sum.domains = 1;
    }
    return counted_[type] = sum;
  }

  /// How many domains begin before the one of node `node` inside a template.
  int64_t before(const std::string &type, int64_t node) {
    auto group = topology_.groups.find(type);
    if (group == topology_.groups.end() || isDomain(group->second)) {
      return 0;
    }
    int64_t domains = 0;
    for (const Member &member : group->second.members) {
      Counted inner = of(member.type);
      if (node < inner.nodes * member.count) {
        return domains + node / inner.nodes * inner.domains +
               before(member.type, node % inner.nodes);
      }
      node -= inner.nodes * member.count;
      domains += inner.domains * member.count;
    }
    return domains;
  }

private:
  // What loses power loses its racks: a domain of a higher level is not one of a lower.
  bool isDomain(const Group &group) const { return group.failureDomain == level_; }

  const Topology &topology_;
  FailureLevel level_;
  std::map<std::string, Counted> counted_;
};

const std::vector<Instance> &placementsOf(const Topology &topology) {
  return topology.placements.empty() ? topology.instances : topology.placements;
}

} // namespace

Status expandPlacements(Topology &topology) {
  if (topology.groups.size() > kGroupsMax) {
    return userError("$.groups", "more than 1024 groups are not supported, got " +
                                     std::to_string(topology.groups.size()));
  }
  for (const auto &[name, group] : topology.groups) {
    if (topology.nodeTypes.contains(name)) {
      return userError("$.groups." + name, "a node type has this name already");
    }
  }
  Expander expander(topology);
  // Also those that nobody places: a wrong template is wrong before its first use.
  for (const auto &[name, group] : topology.groups) {
    HR_RETURN_IF_ERROR(expander.expand(name, "$.groups." + name, 1).status());
  }
  topology.instances.clear();
  int64_t nodes = 0;
  for (size_t i = 0; i < topology.placements.size(); ++i) {
    const Instance &placed = topology.placements[i];
    std::string path = "$.instances[" + std::to_string(i) + "]";
    if (placed.count < 1 || placed.count > kNodesMax) {
      return userError(path + ".count",
                       "count must be from 1 to 1048576, got " + std::to_string(placed.count));
    }
    HR_ASSIGN_OR_RETURN(const Expanded *inner, expander.expand(placed.type, path + ".type", 1));
    Expanded whole;
    whole.nodes = nodes;
    HR_RETURN_IF_ERROR(Expander::add(whole, *inner, placed.count, path));
    nodes = whole.nodes;
    for (const Member &run : whole.runs) {
      topology.instances.push_back({run.type, placed.name, run.count});
    }
    if (topology.instances.size() > kRunsMax) {
      return userError(path, "more than 4096 changes of node type are not supported");
    }
  }
  return {};
}

int64_t failureDomainCount(const Topology &topology, FailureLevel level) {
  if (level == FailureLevel::kDevice) {
    return topology.rankCount();
  }
  DomainCounter counter(topology, level);
  int64_t count = 0;
  for (const Instance &placed : placementsOf(topology)) {
    count += counter.of(placed.type).domains * placed.count;
  }
  return count;
}

int64_t failureDomainOf(const Topology &topology, FailureLevel level, int64_t node) {
  HR_CHECK(level != FailureLevel::kDevice && node >= 0 && node < topology.nodeCount());
  DomainCounter counter(topology, level);
  int64_t domains = 0;
  for (const Instance &placed : placementsOf(topology)) {
    Counted inner = counter.of(placed.type);
    if (node < inner.nodes * placed.count) {
      return domains + node / inner.nodes * inner.domains +
             counter.before(placed.type, node % inner.nodes);
    }
    node -= inner.nodes * placed.count;
    domains += inner.domains * placed.count;
  }
  return domains;
}

} // namespace headrace::topology
