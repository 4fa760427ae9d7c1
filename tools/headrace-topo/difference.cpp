// Walks two canonical documents side by side.
#include "tools/headrace-topo/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace headrace::topo {
namespace {

using Json = nlohmann::ordered_json;

/// "2.96e-05": what was written, without the rounding of its last bits.
std::string shownNumber(const Json &value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value.get<double>());
  return value.is_number_float() ? text : value.dump();
}

/// Scalars and short lists as they are; of objects the keys.
std::string shown(const Json &value) {
  constexpr size_t kShownMax = 100;
  if (value.is_number()) {
    return shownNumber(value);
  }
  std::string text = value.dump();
  if (value.is_object() && value.size() > 1) {
    text = "{";
    for (const auto &[key, inner] : value.items()) {
      text += (text.size() > 1 ? ", " : "") + key + ": …";
    }
    text += "}";
  }
  if (text.size() <= kShownMax) {
    return text;
  }
  size_t end = kShownMax;
  while ((text[end] & 0xc0) == 0x80) { // not inside a character
    --end;
  }
  return text.substr(0, end) + "…";
}

bool isFigure(const Json &value) { return value.is_object() && value.contains("v"); }

double achieved(const Json &figure) { return figure["v"].get<double>() * figure.value("eff", 1.0); }

std::string ratioText(double left, double right) {
  char text[32];
  std::snprintf(text, sizeof text, "×%.3g", right / left);
  return text;
}

class Comparer {
public:
  void compare(const Json &left, const Json &right, const std::string &path) {
    if (left == right) {
      return;
    }
    if (isFigure(left) && isFigure(right)) {
      compareFigures(left, right, path);
    } else if (left.is_object() && right.is_object()) {
      compareMembers(left, right, path);
    } else if (left.is_array() && right.is_array()) {
      for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        std::string inner = path + "[" + std::to_string(i) + "]";
        if (i >= left.size()) {
          add({inner, "", shown(right[i]), ""});
        } else if (i >= right.size()) {
          add({inner, shown(left[i]), "", ""});
        } else {
          compare(left[i], right[i], inner);
        }
      }
    } else if (left.is_number() && right.is_number() && left != 0 && !path.ends_with(".rel_err")) {
      add({path, shown(left), shown(right),
           " (" + ratioText(left.get<double>(), right.get<double>()) + ")"});
    } else {
      add({path, shown(left), shown(right), ""});
    }
  }

  std::vector<Difference> found() { return std::move(found_); }

private:
  void add(Difference difference) { found_.push_back(std::move(difference)); }

  /// What is achieved, against the errors of both; then what else the figures say of themselves.
  void compareFigures(const Json &left, const Json &right, const std::string &path) {
    double first = achieved(left);
    double second = achieved(right);
    if (first != second) {
      double error = std::hypot(left.value("rel_err", 0.0), right.value("rel_err", 0.0));
      bool within = std::abs(second - first) <= error * std::max(first, second);
      std::string ratio = first > 0 ? ratioText(first, second) + ", " : "";
      add({path, shown(first), shown(second),
           " (" + ratio + (within ? "within the error)" : "more than the error)")});
    }
    auto rest = [](Json figure) {
      figure.erase("v");
      figure.erase("eff");
      return figure;
    };
    compareMembers(rest(left), rest(right), path);
  }

  void compareMembers(const Json &left, const Json &right, const std::string &path) {
    bool types = path == "$.device_types" || path == "$.node_types" || path == "$.groups";
    for (const auto &[key, value] : left.items()) {
      if (auto other = right.find(key); other != right.end()) {
        compare(value, *other, path + "." + key);
        continue;
      }
      std::string counterpart = types ? counterpartOf(key, left, right) : "";
      if (counterpart.empty()) {
        add({path + "." + key, shown(value), "", ""});
      } else {
        add({path, key, counterpart, ""});
        compare(value, right[counterpart], path + "." + counterpart);
      }
    }
    for (const auto &[key, value] : right.items()) {
      bool matched = left.contains(key) || (types && !counterpartOf(key, right, left).empty());
      if (!matched) {
        add({path + "." + key, "", shown(value), ""});
      }
    }
  }

  /// The one type of the other side that nothing there has the name of, if on both sides there is
  /// one such of this class.
  static std::string counterpartOf(const std::string &key, const Json &mine, const Json &others) {
    std::string kind = mine[key].value("class", "");
    auto alone = [&](const Json &side, const Json &other) {
      std::vector<std::string> names;
      for (const auto &[name, value] : side.items()) {
        if (!other.contains(name) && value.value("class", "") == kind) {
          names.push_back(name);
        }
      }
      return names.size() == 1 ? names.front() : std::string();
    };
    return alone(mine, others).empty() ? "" : alone(others, mine);
  }

  std::vector<Difference> found_;
};

} // namespace

std::vector<Difference> differences(const topology::Topology &left,
                                    const topology::Topology &right) {
  Comparer comparer;
  comparer.compare(Json::parse(topology::formatTopology(left, topology::FigureText::kFull)),
                   Json::parse(topology::formatTopology(right, topology::FigureText::kFull)), "$");
  return comparer.found();
}

} // namespace headrace::topo
