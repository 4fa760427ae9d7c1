// Reads the lines, expands host lists, and folds equal subtrees into templates.
#include "tools/headrace-topo/slurm_conf.h"
#include "tools/headrace-topo/figures.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

namespace headrace::topo {
namespace {

constexpr size_t kNamesMax = size_t{1} << 20;
constexpr size_t kFileBytesMax = size_t{16} << 20;
constexpr int64_t kDepthMax = 16;

struct Switch {
  std::string name;
  int64_t line = 0;
  std::vector<std::string> children; ///< names of switches
  std::vector<std::string> nodes;
  bool inner = false;
};

class SlurmReader {
public:
  explicit SlurmReader(std::string path) : path_(std::move(path)) {}

  Status read(const std::string &text) {
    std::istringstream lines(text);
    std::string joined;
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      line = line.substr(0, line.find('#'));
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) {
        line.pop_back();
      }
      if (line.ends_with('\\')) {
        joined += line.substr(0, line.size() - 1) + " ";
        continue;
      }
      joined += line;
      HR_RETURN_IF_ERROR(readLine(joined));
      joined.clear();
    }
    HR_RETURN_IF_ERROR(readLine(joined));
    return switches_.empty() ? error("no SwitchName or BlockName in it") : Status();
  }

  const std::vector<Switch> &switches() const { return switches_; }
  const std::vector<uint64_t> &blockSizes() const { return blockSizes_; }
  const Switch *find(const std::string &name) const {
    auto found = byName_.find(name);
    return found == byName_.end() ? nullptr : &switches_[found->second];
  }
  Status error(const std::string &message) const { return errorAt(line_, message); }
  Status errorAt(int64_t line, const std::string &message) const {
    return makeError(ErrorKind::kUser, "line ", line, ": ", message).at(path_);
  }

private:
  Status readLine(const std::string &line) {
    std::istringstream words(line);
    Switch made;
    made.line = line_;
    std::string nodes;
    for (std::string word; words >> word;) {
      size_t equals = word.find('=');
      if (equals == std::string::npos) {
        bool yaml = word == "-" || word == "---" || word.ends_with(':');
        return error(yaml ? "this is topology.yaml, which is not read: give topology.conf, or what "
                            "scontrol show topology prints"
                          : "expected Key=Value, got " + word);
      }
      std::string key = word.substr(0, equals);
      std::transform(key.begin(), key.end(), key.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      std::string value = word.substr(equals + 1);
      if (key == "switchname" || key == "blockname") {
        made.name = value;
      } else if (key == "nodes") {
        nodes = value;
      } else if (key == "switches") {
        made.inner = true;
        HR_RETURN_IF_ERROR(expandHostList(value, made.children));
      } else if (key == "blocksizes") {
        HR_RETURN_IF_ERROR(readBlockSizes(value));
      } else if (key != "linkspeed" && key != "level" && key != "blockindex" &&
                 key != "blocksize") {
        return error("unknown key: " + word.substr(0, equals));
      }
    }
    // scontrol prints of every switch also the nodes below it.
    if (!made.inner && !nodes.empty()) {
      HR_RETURN_IF_ERROR(addNodes(nodes, made));
    }
    if (made.name.empty()) {
      return made.nodes.empty() && made.children.empty() ? Status() : error("needs a SwitchName");
    }
    if (made.nodes.empty() == made.children.empty()) {
      return error("needs either Nodes or Switches: " + made.name);
    }
    if (!byName_.emplace(made.name, switches_.size()).second) {
      return error("name appears twice: " + made.name);
    }
    switches_.push_back(std::move(made));
    return {};
  }

  Status addNodes(const std::string &list, Switch &made) {
    HR_RETURN_IF_ERROR(expandHostList(list, made.nodes));
    for (const std::string &node : made.nodes) {
      if (!nodes_.insert(node).second) {
        return error("node appears twice: " + node);
      }
    }
    return {};
  }

  /// "18,36": nodes of a block, of blocks taken together, and so on.
  Status readBlockSizes(const std::string &text) {
    std::istringstream sizes(text);
    for (std::string size; std::getline(sizes, size, ',');) {
      uint64_t value = 0;
      bool fits = number(size, value) && value > 0 && value <= kNamesMax;
      if (!fits || (!blockSizes_.empty() &&
                    (value <= blockSizes_.back() || value % blockSizes_.back() != 0))) {
        return error("expected sizes that are multiples of each other, as 18,36, got " + text);
      }
      blockSizes_.push_back(value);
    }
    return {};
  }

  /// Adds the names of "a[1-3,7],b[1-2]n[01-04]", as Slurm writes them.
  Status expandHostList(const std::string &text, std::vector<std::string> &names) {
    size_t at = 0;
    while (at < text.size()) {
      size_t end = at;
      int depth = 0;
      while (end < text.size() && (depth > 0 || text[end] != ',')) {
        depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
        ++end;
      }
      HR_RETURN_IF_ERROR(expandOne(text.substr(at, end - at), names));
      at = end + 1;
    }
    return {};
  }

  Status expandOne(const std::string &text, std::vector<std::string> &names) {
    size_t open = text.find('[');
    size_t close = text.find(']');
    if (open == std::string::npos && close == std::string::npos) {
      names.push_back(text);
      return text.empty() ? error("empty name in a list")
             : names.size() > kNamesMax
                 ? error("more than 1048576 names are not supported: " + text)
                 : Status();
    }
    if (open == std::string::npos || close == std::string::npos || close < open ||
        text.find('[', open + 1) < close) {
      return error("expected a list as n[1-3,7], got " + text);
    }
    std::istringstream ranges(text.substr(open + 1, close - open - 1));
    for (std::string range; std::getline(ranges, range, ',');) {
      size_t dash = range.find('-');
      std::string low = range.substr(0, dash);
      std::string high = dash == std::string::npos ? low : range.substr(dash + 1);
      uint64_t first = 0;
      uint64_t last = 0;
      if (!number(low, first) || !number(high, last) || last < first) {
        return error("expected a range as 1-3, got " + range);
      }
      if (last - first >= kNamesMax || names.size() + (last - first) >= kNamesMax) {
        return error("more than 1048576 names are not supported: " + text);
      }
      for (uint64_t value = first; value <= last; ++value) {
        std::string digits = std::to_string(value);
        if (digits.size() < low.size()) {
          digits.insert(0, low.size() - digits.size(), '0');
        }
        // What stands behind may have brackets of its own.
        HR_RETURN_IF_ERROR(
            expandOne(text.substr(0, open) + digits + text.substr(close + 1), names));
      }
    }
    return {};
  }

  static bool number(const std::string &text, uint64_t &value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }

  std::string path_;
  int64_t line_ = 0;
  std::vector<Switch> switches_;
  std::map<std::string, size_t> byName_;
  std::set<std::string> nodes_;
  std::vector<uint64_t> blockSizes_;
};

/// Makes one template of all subtrees that look alike.
class Folder {
public:
  Folder(const SlurmReader &reader, topology::Topology &topology, std::string nodeType)
      : reader_(reader), topology_(topology), nodeType_(std::move(nodeType)) {}

  /// The template of a switch.
  Expected<std::string> fold(const Switch &made, int64_t depth) {
    if (depth > kDepthMax) {
      return reader_.errorAt(made.line, "switches contain each other, or nest more than 16 deep: " +
                                            made.name);
    }
    topology::Group group;
    if (made.inner) {
      for (const std::string &child : made.children) {
        const Switch *inner = reader_.find(child);
        if (!inner) {
          return reader_.errorAt(made.line, "unknown switch: " + child);
        }
        if (!used_.insert(child).second) {
          return reader_.errorAt(made.line, "switch is below two others: " + child);
        }
        HR_ASSIGN_OR_RETURN(std::string type, fold(*inner, depth + 1));
        addMember(group, type);
      }
    } else {
      group.members = {{nodeType_, static_cast<int64_t>(made.nodes.size())}};
      group.failureDomain = topology::FailureLevel::kRack;
    }
    return shared(std::move(group), made.name);
  }

  /// Takes as many neighbours together as each size of blocks after the first holds; those that are
  /// left over stay by themselves.
  void foldBlocks(const std::vector<uint64_t> &sizes) {
    for (size_t level = 1; level < sizes.size(); ++level) {
      size_t each = sizes[level] / sizes[level - 1];
      std::vector<topology::Instance> folded;
      std::vector<topology::Instance> &blocks = topology_.placements;
      for (size_t first = 0; first < blocks.size(); first += each) {
        if (blocks.size() - first < each) {
          folded.insert(folded.end(), blocks.begin() + static_cast<ptrdiff_t>(first), blocks.end());
          break;
        }
        topology::Group group;
        for (size_t i = first; i < first + each; ++i) {
          addMember(group, blocks[i].type);
        }
        std::string name = blocks[first].name + "-" + blocks[first + each - 1].name;
        folded.push_back({shared(std::move(group), name), name, 1});
      }
      blocks = std::move(folded);
    }
  }

  bool isInside(const std::string &name) const { return used_.contains(name); }

private:
  static void addMember(topology::Group &group, const std::string &type) {
    if (!group.members.empty() && group.members.back().type == type) {
      ++group.members.back().count;
    } else {
      group.members.push_back({type, 1});
    }
  }

  /// The name of the template that looks like this one: its own, if it is the first.
  std::string shared(topology::Group group, const std::string &name) {
    std::string shape;
    for (const topology::Member &member : group.members) {
      shape += member.type + "*" + std::to_string(member.count) + ",";
    }
    auto [known, added] = shapes_.emplace(shape, name);
    if (added) {
      group.name = name;
      topology_.groups[name] = std::move(group);
    }
    return known->second;
  }

  const SlurmReader &reader_;
  topology::Topology &topology_;
  std::string nodeType_;
  std::map<std::string, std::string> shapes_;
  std::set<std::string> used_;
};

/// The one node type of a topology, which must have a way out of the node.
Expected<std::string> nodeTypeOf(const std::string &name, const topology::Topology &topology) {
  std::set<std::string> used;
  for (const topology::Instance &instance : topology.instances) {
    used.insert(instance.type);
  }
  if (used.size() != 1) {
    std::string types;
    for (const std::string &type : used) {
      types += " " + type;
    }
    return makeError(ErrorKind::kUser, "--node needs a topology of one type of node, ", name,
                     " has:", types);
  }
  const topology::NodeType &node = topology.nodeTypes.at(*used.begin());
  const topology::DeviceGroup &ranks = *topology::rankGroup(topology, node);
  topology::Endpoint memory{ranks.name, topology.deviceTypes.at(ranks.type).space};
  if (!node.findRoute(memory, {})) {
    return makeError(ErrorKind::kUser, "--node needs a node with a route to net, ", name,
                     " has none; headrace-topo detect finds the network cards of a machine");
  }
  return *used.begin();
}

/// A switch at the rate of the nodes' cards, if the topology has no fabric yet.
void addFabric(const topology::NodeType &node, Description &made) {
  if (made.topology.fabric) {
    return;
  }
  for (const topology::Route &route : node.routes) {
    const topology::Resource *card =
        route.target.isNetwork() ? node.findResource(route.via.back().resource) : nullptr;
    if (card) {
      topology::Fabric fabric;
      fabric.kind = "switch";
      fabric.rails = card->count;
      fabric.tiers = {{0, card->bandwidth, assumed(6e-7), 1}};
      made.topology.fabric = fabric;
      made.notes.push_back("no fabric in the topology of the node: switches at the rate of " +
                           card->name + " are assumed");
      return;
    }
  }
}

} // namespace

Status applySlurmTopology(const std::string &path, const std::string &node, Description &made) {
  topology::Topology &topology = made.topology;
  HR_ASSIGN_OR_RETURN(std::string nodeType, nodeTypeOf(node, topology));
  addFabric(topology.nodeTypes.at(nodeType), made);
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileBytesMax + 1, '\0');
  if (!file || (file.read(text.data(), static_cast<std::streamsize>(text.size())), file.bad())) {
    return makeError(ErrorKind::kUser, "cannot read: ", path);
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    return Status(ErrorKind::kUser, "more than 16777216 bytes are not supported", path);
  }
  SlurmReader reader(path);
  HR_RETURN_IF_ERROR(reader.read(text));

  topology.groups.clear();
  topology.placements.clear();
  std::erase_if(topology.nodeTypes, [&](const auto &type) { return type.first != nodeType; });
  if (reader.find(nodeType)) {
    return Status(ErrorKind::kUser, "a switch has the name of a node type: " + nodeType, path);
  }
  Folder folder(reader, topology, nodeType);
  std::set<std::string> below;
  for (const Switch &made : reader.switches()) {
    below.insert(made.children.begin(), made.children.end());
  }
  int64_t roots = 0;
  for (const Switch &made : reader.switches()) {
    if (below.contains(made.name)) {
      continue;
    }
    ++roots;
    HR_ASSIGN_OR_RETURN(std::string type, folder.fold(made, 1));
    topology.placements.push_back({type, made.name, 1});
  }
  if (roots == 0) {
    return reader.errorAt(reader.switches().front().line,
                          "switches contain each other: " + reader.switches().front().name);
  }
  for (const Switch &made : reader.switches()) {
    if (below.contains(made.name) && !folder.isInside(made.name)) {
      return reader.errorAt(made.line, "switches contain each other: " + made.name);
    }
  }
  folder.foldBlocks(reader.blockSizes());
  HR_RETURN_IF_ERROR(topology::expandPlacements(topology));
  HR_RETURN_IF_ERROR(topology::checkTopology(topology));
  topology.hash = topology::topologyHash(topology);
  return {};
}

} // namespace headrace::topo
