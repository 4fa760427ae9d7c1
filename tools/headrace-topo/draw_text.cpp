// The drawing for a terminal.
#include "tools/headrace-topo/draw.h"
#include "tools/headrace-topo/layout.h"
#include "tools/headrace-topo/units.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace headrace::topo {
namespace {

using topology::Quantity;
using topology::Topology;

constexpr size_t kPictureColumns = 50;

/// Columns on a screen: bytes that do not continue a character.
size_t columnsOf(const std::string &text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string &text, size_t columns) {
  size_t used = columnsOf(text);
  return text + std::string(columns > used ? columns - used : 0, ' ');
}

std::string repeated(const char *text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

/// "±15 % datasheet (aic, 2026-08)".
std::string sourceText(const Topology &topology, const Quantity &quantity) {
  std::string text =
      percentText(quantity.relativeError) + " " + topology::originName(quantity.provenance.origin);
  std::string date = quantity.provenance.date;
  auto source = topology.sources.find(quantity.provenance.source);
  if (date.empty() && source != topology.sources.end()) {
    date = source->second.date;
  }
  std::string from = quantity.provenance.source;
  from += (from.empty() || date.empty() ? "" : ", ") + date;
  return from.empty() ? text : text + " (" + from + ")";
}

void writeHead(const Topology &topology, std::ostream &out) {
  double device = 0;
  double host = 0;
  double file = 0;
  for (const topology::Instance &instance : topology.instances) {
    const topology::NodeType &node = topology.nodeTypes.at(instance.type);
    for (const topology::MemoryTier &tier : topology::memoryTiers(topology, node)) {
      double bytes = tier.capacityBytes * static_cast<double>(instance.count);
      device += tier.tier == topology::Tier::kDevice ? bytes : 0;
      host += tier.tier == topology::Tier::kHost ? bytes : 0;
      file += tier.tier == topology::Tier::kFile ? bytes : 0;
    }
  }
  out << topology.name << "\n  " << countedText(topology.rankCount(), "rank") << " on "
      << countedText(topology.nodeCount(), "node");
  for (auto [bytes, what] :
       {std::pair(device, "of GPUs"), {host, "of hosts"}, {file, "of files"}}) {
    if (bytes > 0) {
      out << ", " << bytesText(bytes) << " " << what;
    }
  }
  out << "\n  hash " << topology.hash << "\n";
}

void writeTree(const Topology &topology, std::ostream &out) {
  out << "\nPlacement\n";
  std::vector<TreeLine> lines = treeOf(topology);
  size_t wide = 0;
  std::vector<std::string> labels;
  for (const TreeLine &line : lines) {
    std::string label = "  " + std::string(static_cast<size_t>(3 * line.depth), ' ');
    if (line.depth > 0) {
      label.replace(label.size() - 3, 3, "└─ ");
    }
    label += integerText(line.count) + " × " + line.name;
    labels.push_back(label);
    wide = std::max(wide, columnsOf(label));
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    out << padded(labels[i], wide + 3) << "each " << countedText(lines[i].ranks, "rank");
    if (lines[i].failure != "node") {
      out << " on " << countedText(lines[i].nodes, "node");
    }
    if (!lines[i].failure.empty()) {
      out << ", fails as one " << (lines[i].failure == "power" ? "(power)" : lines[i].failure);
    }
    out << "\n";
  }
}

/// "┌──┐" over "│ 0│" for the units of a part, in a fixed width; a run of dots stands for more.
std::pair<std::string, std::string> boxesOf(const Part &part) {
  int64_t shown = std::min<int64_t>(part.count, 8);
  bool cut = shown < part.count;
  size_t each = kPictureColumns / static_cast<size_t>(shown);
  std::string top;
  std::string middle;
  for (int64_t unit = 0; unit < shown; ++unit) {
    bool gap = cut && unit == shown - 2;
    bool last = unit == shown - 1;
    std::string label = gap ? "…" : last ? std::to_string(part.count - 1) : std::to_string(unit);
    if (part.count == 1) {
      label = part.name;
    }
    size_t inner = each - 2;
    size_t used = std::min(columnsOf(label), inner);
    size_t left = (inner - used) / 2;
    std::string space(left, ' ');
    std::string rest(inner - used - left, ' ');
    if (gap) {
      top += std::string(each, ' ');
      middle += " " + space + label + rest + " ";
      continue;
    }
    top += "┌" + repeated("─", inner) + "┐";
    middle += "│" + space + label + rest + "│";
  }
  return {top, middle};
}

void writeNode(const Topology &topology, const topology::NodeType &node, std::ostream &out) {
  out << "\nNode " << node.name << "\n";
  NodeDrawing drawing = layOut(topology, node, 8);
  for (const std::vector<Part> &row : drawing.rows) {
    for (const Part &part : row) {
      auto [top, middle] = boxesOf(part);
      out << "  " << padded(part.name, 8) << padded(top, kPictureColumns) << "  " << part.title
          << "\n";
      out << "  " << std::string(8, ' ') << padded(middle, kPictureColumns) << "  " << part.figures
          << (part.main ? "  " + sourceText(topology, *part.main) : "") << "\n";
    }
  }
}

std::string endText(const topology::Endpoint &endpoint, const char *index) {
  if (endpoint.isNetwork()) {
    return "net";
  }
  bool every = endpoint.index == topology::Endpoint::kEvery;
  return endpoint.group + "[" + (every ? index : std::to_string(endpoint.index)) + "]." +
         endpoint.space;
}

void writeRoutes(const Topology &topology, const topology::NodeType &node, std::ostream &out) {
  if (node.routes.empty()) {
    return;
  }
  out << "\n  Routes\n";
  for (const topology::Route &route : node.routes) {
    RouteLimit limit = limitOf(topology, node, route);
    out << "    " << padded(endText(route.source, "i") + " → " + endText(route.target, "j"), 30);
    out << padded(rateText(limit.bytesPerSecond), 11)
        << padded(secondsText(limit.latencySeconds), 9) << "bound by " << limit.resource << " (";
    for (size_t hop = 0; hop < route.via.size(); ++hop) {
      out << (hop ? ", " : "") << route.via[hop].resource;
    }
    out << ")" << (route.needs.empty() ? "" : ", needs " + route.needs) << "\n";
  }
}

void writeTiers(const Topology &topology, const topology::NodeType &node, std::ostream &out) {
  out << "\n  Memory  ";
  const char *separator = "";
  for (const topology::MemoryTier &tier : topology::memoryTiers(topology, node)) {
    out << separator << topology::tierName(tier.tier) << " " << bytesText(tier.capacityBytes);
    separator = " → ";
  }
  out << "\n";
}

void writeCodecs(const Topology &topology, std::ostream &out) {
  for (const auto &[name, type] : topology.deviceTypes) {
    for (const topology::Codec &codec : type.codecs) {
      out << "  " << padded(name, 14) << padded(codec.name, 9) << "ratio "
          << padded(countText(codec.ratio), 5) << "compress "
          << padded(rateText(codec.compressBytesPerSecond), 11) << "decompress "
          << padded(rateText(codec.decompressBytesPerSecond), 11)
          << sourceText(topology, codec.compressBytesPerSecond) << "\n";
    }
  }
}

void writeCollectives(const Topology &topology, std::ostream &out) {
  std::map<std::pair<std::string, std::string>, std::string> algorithms;
  for (const topology::CollectiveFit &fit : topology.collectives) {
    std::string level = fit.level == topology::Level::kNetwork ? "between nodes" : "in a node";
    std::string &text = algorithms[{level, topology::collectiveName(fit.kind)}];
    text += (text.empty() ? "" : ", ") + fit.algorithm +
            (fit.members > 0 ? " (" + std::to_string(fit.members) + ")" : "") + " " +
            (fit.bandwidth >= 1e17 ? "" : rateText(fit.bandwidth) + " ") +
            percentText(fit.relativeError);
  }
  for (const auto &[key, text] : algorithms) {
    out << "  " << padded(key.first, 15) << padded(key.second, 16) << text << "\n";
  }
  for (const char *level : {"in a node", "between nodes"}) {
    bool single = topology.nodeCount() == 1 && level != std::string("in a node");
    bool fitted = std::any_of(algorithms.begin(), algorithms.end(),
                              [&](const auto &entry) { return entry.first.first == level; });
    if (!single && !fitted) {
      out << "  " << padded(level, 15) << "none measured: times follow from the links and routes\n";
    }
  }
}

} // namespace

std::string drawText(const Topology &topology) {
  std::ostringstream out;
  writeHead(topology, out);
  writeTree(topology, out);
  for (const auto &[name, node] : topology.nodeTypes) {
    writeNode(topology, node, out);
    writeRoutes(topology, node, out);
    writeTiers(topology, node, out);
  }
  std::ostringstream codecs;
  writeCodecs(topology, codecs);
  if (!codecs.str().empty()) {
    out << "\nCodecs\n" << codecs.str();
  }
  out << "\nCollectives, fitted\n";
  writeCollectives(topology, out);
  return out.str();
}

} // namespace headrace::topo
