// Reads the lines, expands host lists, and folds equal subtrees into templates.
#include "tools/headrace-topo/slurm_conf.h"

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
    for (std::string word; words >> word;) {
      size_t equals = word.find('=');
      if (equals == std::string::npos) {
        return error("expected Key=Value, got " + word);
      }
      std::string key = word.substr(0, equals);
      std::transform(key.begin(), key.end(), key.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      std::string value = word.substr(equals + 1);
      if (key == "switchname" || key == "blockname") {
        made.name = value;
      } else if (key == "nodes") {
        HR_RETURN_IF_ERROR(expandHostList(value, made.nodes));
        for (const std::string &node : made.nodes) {
          if (!nodes_.insert(node).second) {
            return error("node stands twice: " + node);
          }
        }
      } else if (key == "switches") {
        made.inner = true;
        HR_RETURN_IF_ERROR(expandHostList(value, made.children));
      } else if (key != "linkspeed" && key != "blocksizes") {
        return error("unknown key: " + word.substr(0, equals));
      }
    }
    if (made.name.empty()) {
      return made.nodes.empty() && made.children.empty() ? Status() : error("needs a SwitchName");
    }
    if (made.nodes.empty() == made.children.empty()) {
      return error("needs either Nodes or Switches: " + made.name);
    }
    if (!byName_.emplace(made.name, switches_.size()).second) {
      return error("name stands twice: " + made.name);
    }
    switches_.push_back(std::move(made));
    return {};
  }

  /// Adds the names of "a[1-3,7],b": one pair of brackets a name, as Slurm writes them.
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
      return text.empty() ? error("empty name in a list") : Status();
    }
    if (open == std::string::npos || close == std::string::npos || close < open ||
        text.find('[', open + 1) != std::string::npos) {
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
        names.push_back(text.substr(0, open) + digits + text.substr(close + 1));
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
        if (!group.members.empty() && group.members.back().type == type) {
          ++group.members.back().count;
        } else {
          group.members.push_back({type, 1});
        }
      }
    } else {
      group.members = {{nodeType_, static_cast<int64_t>(made.nodes.size())}};
      group.failureDomain = topology::FailureLevel::kRack;
    }
    std::string shape;
    for (const topology::Member &member : group.members) {
      shape += member.type + "*" + std::to_string(member.count) + ",";
    }
    auto [known, added] = shapes_.emplace(shape, made.name);
    if (added) {
      group.name = made.name;
      topology_.groups[made.name] = std::move(group);
    }
    return known->second;
  }

  bool isInside(const std::string &name) const { return used_.contains(name); }

private:
  const SlurmReader &reader_;
  topology::Topology &topology_;
  std::string nodeType_;
  std::map<std::string, std::string> shapes_;
  std::set<std::string> used_;
};

} // namespace

Status applySlurmTopology(const std::string &path, topology::Topology &topology) {
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
  std::string nodeType = topology.nodeTypes.begin()->first;
  for (const auto &[name, node] : topology.nodeTypes) {
    if (reader.find(name)) {
      return Status(ErrorKind::kUser, "a switch has the name of a node type: " + name, path);
    }
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
  HR_RETURN_IF_ERROR(topology::expandPlacements(topology));
  HR_RETURN_IF_ERROR(topology::checkTopology(topology));
  topology.hash = topology::topologyHash(topology);
  return {};
}

} // namespace headrace::topo
