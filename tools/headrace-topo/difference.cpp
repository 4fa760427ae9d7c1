// Walks two canonical documents side by side.
#include "tools/headrace-topo/difference.h"

#include <nlohmann/json.hpp>

namespace headrace::topo {
namespace {

using Json = nlohmann::ordered_json;

/// Scalars and short lists as they are; of objects the keys.
std::string shown(const Json &value) {
  constexpr size_t kShownMax = 100;
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

void compare(const Json &left, const Json &right, const std::string &path,
             std::vector<Difference> &found) {
  if (left == right) {
    return;
  }
  if (left.is_object() && right.is_object()) {
    for (const auto &[key, value] : left.items()) {
      std::string inner = path + "." + key;
      if (auto other = right.find(key); other != right.end()) {
        compare(value, *other, inner, found);
      } else {
        found.push_back({inner, shown(value), ""});
      }
    }
    for (const auto &[key, value] : right.items()) {
      if (!left.contains(key)) {
        found.push_back({path + "." + key, "", shown(value)});
      }
    }
    return;
  }
  if (left.is_array() && right.is_array()) {
    for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      std::string inner = path + "[" + std::to_string(i) + "]";
      if (i >= left.size()) {
        found.push_back({inner, "", shown(right[i])});
      } else if (i >= right.size()) {
        found.push_back({inner, shown(left[i]), ""});
      } else {
        compare(left[i], right[i], inner, found);
      }
    }
    return;
  }
  found.push_back({path, shown(left), shown(right)});
}

} // namespace

std::vector<Difference> differences(const topology::Topology &left,
                                    const topology::Topology &right) {
  std::vector<Difference> found;
  compare(Json::parse(topology::formatTopology(left, topology::FigureText::kFull)),
          Json::parse(topology::formatTopology(right, topology::FigureText::kFull)), "$", found);
  return found;
}

} // namespace headrace::topo
