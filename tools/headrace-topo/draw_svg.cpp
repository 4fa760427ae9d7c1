// The drawing for a page: nested cards for templates, rows of boxes and wires for a node.
#include "tools/headrace-topo/draw.h"
#include "tools/headrace-topo/layout.h"
#include "tools/headrace-topo/units.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

namespace headrace::topo {
namespace {

using topology::Topology;

constexpr double kWidth = 1240;
constexpr double kMargin = 28;
constexpr double kTreeWidth = 300;
constexpr double kRowHeight = 96;
constexpr double kBoxHeight = 30;
constexpr int64_t kUnitsMax = 12;

struct Colors {
  const char *fill;
  const char *edge;
};
constexpr std::array<Colors, 5> kColors = {{
    {"#dbe9fb", "#2f6db5"}, // processor
    {"#dcf2dc", "#3a8a3a"}, // GPU
    {"#fcebd3", "#c07a1c"}, // storage
    {"#eef0f3", "#7b8794"}, // link
    {"#ece3f7", "#7a52ad"}, // network
}};
const Colors &colorsOf(PartKind kind) { return kColors[static_cast<size_t>(kind)]; }

std::string escaped(const std::string &text) {
  std::string safe;
  for (char c : text) {
    switch (c) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    default:
      safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

/// Collects shapes; knows how far down they reach.
class Canvas {
public:
  void text(double x, double y, const std::string &text, const char *style) {
    body_ << "<text x=\"" << x << "\" y=\"" << y << "\" class=\"" << style << "\">" << escaped(text)
          << "</text>\n";
    reach(y + 8);
  }
  void box(double x, double y, double width, double height, const Colors &colors, double round) {
    body_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
          << height << "\" rx=\"" << round << "\" fill=\"" << colors.fill << "\" stroke=\""
          << colors.edge << "\"/>\n";
    reach(y + height);
  }
  void curve(double x1, double y1, double x2, double y2, const char *color, const char *style) {
    double middle = (y1 + y2) / 2;
    body_ << "<path d=\"M" << x1 << " " << y1 << " C" << x1 << " " << middle << " " << x2 << " "
          << middle << " " << x2 << " " << y2 << "\" stroke=\"" << color << "\" class=\"" << style
          << "\"/>\n";
  }
  double bottom() const { return bottom_; }

  std::string finish(const std::string &title) const {
    std::ostringstream out;
    double height = bottom_ + kMargin;
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth << "\" height=\""
        << height << "\" viewBox=\"0 0 " << kWidth << " " << height << "\" role=\"img\">\n"
        << "<title>" << escaped(title) << "</title>\n"
        << "<style>text{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2933}"
           ".h1{font-size:24px;font-weight:600}.h2{font-size:16px;font-weight:600}"
           ".label{font-size:13px;font-weight:600}.note{font-size:12px;fill:#52606d}"
           ".unit{font-size:11px;text-anchor:middle;fill:#3e4c59}"
           ".wire{fill:none;stroke-width:1.3;opacity:.6}"
           ".far{fill:none;stroke-width:1.2;opacity:.5;stroke-dasharray:3 3}</style>\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        << body_.str() << "</svg>\n";
    return out.str();
  }

private:
  void reach(double y) { bottom_ = std::max(bottom_, y); }
  std::ostringstream body_;
  double bottom_ = 0;
};

std::string sizeText(const TreeLine &line) {
  std::string text = countedText(line.ranks, "rank");
  if (line.failure != "node") {
    text += " on " + countedText(line.nodes, "node");
  }
  return text;
}

/// One card for each template, set in from the one it is in; several behind each other if many.
void drawTree(const Topology &topology, Canvas &canvas, double top) {
  canvas.text(kMargin, top, "Placement", "h2");
  double y = top + 14;
  std::vector<TreeLine> lines = treeOf(topology);
  constexpr size_t kLinesMax = 24;
  for (size_t i = 0; i < std::min(lines.size(), kLinesMax); ++i) {
    const TreeLine &line = lines[i];
    bool node = line.failure == "node";
    Colors colors = node ? Colors{"#dcf2dc", "#3a8a3a"} : Colors{"#f7f9fb", "#9aa5b1"};
    if (!node && !line.failure.empty()) {
      colors = {"#fdf3d8", "#b78b1c"};
    }
    double x = kMargin + 16 * static_cast<double>(std::min<int64_t>(line.depth, 6));
    double width = kTreeWidth - (x - kMargin) - 16;
    for (int64_t behind = std::min<int64_t>(line.count, 3) - 1; behind >= 0; --behind) {
      double shift = 4 * static_cast<double>(behind);
      canvas.box(x + shift, y + 8 - shift, width, 52, colors, 6);
    }
    canvas.text(x + 12, y + 29, integerText(line.count) + " × " + line.name, "label");
    std::string note = sizeText(line);
    if (!node && !line.failure.empty()) {
      note += line.failure == "power" ? ", one power feed" : ", fails as one";
    }
    canvas.text(x + 12, y + 48, note, "note");
    y += 72;
  }
  if (lines.size() > kLinesMax) {
    auto more = static_cast<int64_t>(lines.size() - kLinesMax);
    canvas.text(kMargin, y + 14, "… and " + integerText(more) + " more", "note");
  }
}

/// Where the units of a part stand.
struct Span {
  double left = 0;
  double width = 0;
  double y = 0;
  int64_t shown = 1; ///< units with a box; with more, the last box is the last unit
  int64_t count = 1;

  double center(int64_t unit) const {
    double each = width / static_cast<double>(shown);
    int64_t at = unit;
    return left + each * (static_cast<double>(std::min(at, shown - 1)) + 0.5);
  }
  /// Where a wire to `x` meets a unit: a single wide box is met wherever it is nearest.
  double meet(int64_t unit, double x) const {
    constexpr double kInset = 14;
    return shown == 1 ? std::clamp(x, left + kInset, left + width - kInset) : center(unit);
  }
};

void drawPart(const Part &part, const Span &span, Canvas &canvas) {
  const Colors &colors = colorsOf(part.kind);
  double each = span.width / static_cast<double>(span.shown);
  bool cut = span.shown < span.count;
  for (int64_t box = 0; box < span.shown; ++box) {
    double x = span.left + each * static_cast<double>(box);
    if (cut && box == span.shown - 2) {
      canvas.text(x + each / 2, span.y + 20, "…", "unit");
      continue;
    }
    canvas.box(x + 2, span.y, each - 4, kBoxHeight, colors, 4);
    int64_t unit = cut && box == span.shown - 1 ? span.count - 1 : box;
    std::string label = span.count == 1 ? part.name : std::to_string(unit);
    canvas.text(x + each / 2, span.y + 20, label, "unit");
  }
}

/// Text beside the rows: what the part is, what it can do, and who says so.
void drawLegend(const Part &part, double x, double y, Canvas &canvas) {
  const Colors &colors = colorsOf(part.kind);
  canvas.box(x, y - 9, 10, 10, colors, 2);
  canvas.text(x + 16, y, part.title, "label");
  canvas.text(x + 16, y + 16, part.figures, "note");
  if (part.main) {
    const topology::Provenance &from = part.main->provenance;
    std::string source = percentText(part.main->relativeError) + " " +
                         topology::originName(from.origin) +
                         (from.source.empty() ? "" : ", " + from.source);
    canvas.text(x + 16, y + 31, source, "note");
  }
}

void drawNode(const Topology &topology, const topology::NodeType &node, double top,
              Canvas &canvas) {
  constexpr double kLegendWidth = 250;
  double left = kMargin + kTreeWidth + 24;
  double wide = kWidth - kMargin - kLegendWidth - left;
  canvas.text(left, top, "Node " + node.name, "h2");
  NodeDrawing drawing = layOut(topology, node, kUnitsMax);
  std::vector<std::vector<Span>> spans;
  double y = top + 22;
  for (const std::vector<Part> &row : drawing.rows) {
    std::vector<Span> made;
    double part = wide / static_cast<double>(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      Span span;
      double gap = row.size() > 1 ? 10 : 0;
      span.left = left + part * static_cast<double>(i) + gap / 2;
      span.width = part - gap;
      span.y = y;
      span.count = row[i].count;
      span.shown = std::min(row[i].count, kUnitsMax);
      made.push_back(span);
    }
    spans.push_back(made);
    y += std::max(kRowHeight * 0.72, 48.0 * static_cast<double>(row.size()) + 8);
  }
  for (const Wire &wire : drawing.wires) {
    const Span &from = spans[wire.fromRow][wire.fromPart];
    const Span &to = spans[wire.toRow][wire.toPart];
    auto hidden = [](const Span &span, int64_t unit) {
      return span.shown < span.count && unit >= span.shown - 2;
    };
    if (hidden(from, wire.fromUnit) || hidden(to, wire.toUnit)) {
      continue;
    }
    const Part &lower = drawing.rows[wire.toRow][wire.toPart];
    const Part &upper = drawing.rows[wire.fromRow][wire.fromPart];
    const Part &colored = upper.kind == PartKind::kLink ? lower : upper;
    // Behind other boxes a wire is dashed: it has nothing to do with them.
    bool sameRow = wire.fromRow == wire.toRow;
    double start = from.meet(wire.fromUnit, to.center(wire.toUnit));
    canvas.curve(start, from.y + kBoxHeight, to.meet(wire.toUnit, start),
                 sameRow ? to.y + kBoxHeight : to.y, colorsOf(colored.kind).edge,
                 wire.toRow > wire.fromRow + 1 ? "far" : "wire");
  }
  for (size_t row = 0; row < drawing.rows.size(); ++row) {
    for (size_t part = 0; part < drawing.rows[row].size(); ++part) {
      drawPart(drawing.rows[row][part], spans[row][part], canvas);
      drawLegend(drawing.rows[row][part], left + wide + 18,
                 spans[row][part].y + 10 + 48 * static_cast<double>(part), canvas);
    }
  }
}

} // namespace

std::string drawSvg(const Topology &topology) {
  Canvas canvas;
  canvas.text(kMargin, kMargin + 20, topology.name, "h1");
  std::string head = countedText(topology.rankCount(), "rank") + " on " +
                     countedText(topology.nodeCount(), "node");
  if (topology.fabric) {
    const topology::Fabric &fabric = *topology.fabric;
    head += ", " + fabric.kind + " of " + std::to_string(fabric.tiers.size()) +
            (fabric.tiers.size() == 1 ? " tier" : " tiers") + ", " + integerText(fabric.rails) +
            (fabric.rails == 1 ? " rail" : " rails");
  }
  canvas.text(kMargin, kMargin + 44, head, "note");
  double top = kMargin + 82;
  drawTree(topology, canvas, top);
  double y = top;
  for (const auto &[name, node] : topology.nodeTypes) {
    Canvas measure; // how far this node reaches
    drawNode(topology, node, y, measure);
    drawNode(topology, node, y, canvas);
    y = measure.bottom() + 44;
  }
  return canvas.finish(topology.name + ": " + head);
}

} // namespace headrace::topo
