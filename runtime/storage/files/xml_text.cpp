// Elements of one name are not within each other there.
#include "runtime/storage/files/xml_text.h"

#include <array>
#include <utility>

namespace headrace::storage {

std::vector<std::string_view> xmlElements(std::string_view document, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  std::vector<std::string_view> elements;
  for (size_t at = document.find(open); at != std::string_view::npos;
       at = document.find(open, at)) {
    at += open.size();
    const size_t end = document.find(close, at);
    if (end == std::string_view::npos) {
      break;
    }
    elements.push_back(document.substr(at, end - at));
    at = end;
  }
  return elements;
}

std::string xmlText(std::string_view document, std::string_view name) {
  const std::vector<std::string_view> elements = xmlElements(document, name);
  std::string text(elements.empty() ? "" : elements.front());
  constexpr std::array<std::pair<std::string_view, char>, 6> kEntities = {
      {{"&lt;", '<'},
       {"&gt;", '>'},
       {"&quot;", '"'},
       {"&#34;", '"'},
       {"&apos;", '\''},
       {"&amp;", '&'}}}; // the last: what it gives is no entity
  for (const auto &[entity, character] : kEntities) {
    for (size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1)) {
      text.replace(at, entity.size(), 1, character);
    }
  }
  return text;
}

} // namespace headrace::storage
