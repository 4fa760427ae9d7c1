// Parses endpoints and hops of routes.
#include "model/topology/route_text.h"

#include <charconv>

namespace headrace::topology {
namespace {

/// "name[index].suffix" in its parts; index and suffix may be missing.
struct BracketText {
  std::string name;
  std::string index;
  std::string suffix;
};

std::optional<BracketText> splitBrackets(std::string_view text) {
  BracketText parts;
  size_t nameEnd = text.find_first_of("[.");
  parts.name = text.substr(0, nameEnd);
  if (parts.name.empty()) {
    return std::nullopt;
  }
  std::string_view rest = nameEnd == std::string_view::npos ? "" : text.substr(nameEnd);
  if (rest.starts_with('[')) {
    size_t close = rest.find(']');
    if (close == std::string_view::npos || close == 1) {
      return std::nullopt;
    }
    parts.index = rest.substr(1, close - 1);
    rest = rest.substr(close + 1);
  }
  if (!rest.empty()) {
    if (!rest.starts_with('.') || rest.size() == 1) {
      return std::nullopt;
    }
    parts.suffix = rest.substr(1);
  }
  return parts;
}

std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

std::optional<IndexExpression> parseIndex(std::string_view text) {
  IndexExpression index;
  if (std::optional<int64_t> constant = parseInteger(text)) {
    index.constant = *constant;
    return index;
  }
  if (text.empty() || (text[0] != 'i' && text[0] != 'j')) {
    return std::nullopt;
  }
  index.base = text[0] == 'i' ? IndexExpression::Base::kSource : IndexExpression::Base::kTarget;
  if (text.size() == 1) {
    return index;
  }
  std::optional<int64_t> divisor = text[1] == '/' ? parseInteger(text.substr(2)) : std::nullopt;
  if (!divisor || *divisor == 0) {
    return std::nullopt;
  }
  index.divisor = *divisor;
  return index;
}

std::optional<Direction> parseDirection(std::string_view text) {
  if (text.empty()) {
    return Direction::kNone;
  }
  if (text == "out" || text == "up") {
    return Direction::kOut;
  }
  if (text == "in" || text == "down") {
    return Direction::kIn;
  }
  if (text == "read") {
    return Direction::kRead;
  }
  if (text == "write") {
    return Direction::kWrite;
  }
  return std::nullopt;
}

} // namespace

Endpoint readEndpoint(JsonReader &reader, const NodeType &node) {
  std::string text = reader.asText();
  if (!reader.ok() || text == "net") {
    return {};
  }
  if (text == "host") {
    return {"cpu", "host"};
  }
  std::optional<BracketText> parts = splitBrackets(text);
  if (!parts || parts->suffix.empty()) {
    reader.fail("expected an endpoint such as gpu[i].hbm, host or net, got ", text);
    return {};
  }
  if (!node.findGroup(parts->name)) {
    reader.fail("unknown device group: ", parts->name);
    return {};
  }
  Endpoint endpoint{parts->name, parts->suffix};
  std::optional<IndexExpression> index = parseIndex(parts->index.empty() ? "i" : parts->index);
  if (!index || index->divisor != 1) {
    reader.fail("expected an index i, j or a number, got ", parts->index);
  } else if (index->base == IndexExpression::Base::kConstant) {
    endpoint.index = index->constant;
  }
  return endpoint;
}

Hop readHop(JsonReader &reader) {
  std::string text = reader.asText();
  std::optional<BracketText> parts = splitBrackets(text);
  if (!reader.ok() || !parts) {
    reader.fail("expected a hop such as nvl[i].out or dram, got ", text);
    return {};
  }
  Hop hop;
  hop.resource = parts->name;
  if (!parts->index.empty()) {
    std::optional<IndexExpression> index = parseIndex(parts->index);
    if (!index) {
      reader.fail("expected an index i, j, i/2 or a number, got ", parts->index);
      return {};
    }
    hop.index = *index;
  }
  std::optional<Direction> direction = parseDirection(parts->suffix);
  if (!direction) {
    reader.fail("expected a direction in, out, up, down, read or write, got ", parts->suffix);
    return {};
  }
  hop.direction = *direction;
  return hop;
}

std::string hopText(const Hop &hop) {
  std::string text = hop.resource;
  const IndexExpression &index = hop.index;
  if (index.base != IndexExpression::Base::kConstant) {
    text += index.base == IndexExpression::Base::kSource ? "[i" : "[j";
    text += index.divisor == 1 ? "]" : "/" + std::to_string(index.divisor) + "]";
  } else if (index.constant != 0) {
    text += "[" + std::to_string(index.constant) + "]";
  }
  constexpr const char *kDirections[] = {"", ".out", ".in", ".read", ".write"};
  return text + kDirections[static_cast<size_t>(hop.direction)];
}

std::string endpointText(const Endpoint &endpoint, const char *index) {
  if (endpoint.isNetwork()) {
    return "net";
  }
  bool every = endpoint.index == Endpoint::kEvery;
  return endpoint.group + "[" + (every ? index : std::to_string(endpoint.index)) + "]." +
         endpoint.space;
}

} // namespace headrace::topology
