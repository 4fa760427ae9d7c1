// prettyJson: tries one line of 100 columns, else one member a line.
#include "model/topology/pretty_json.h"

#include <charconv>

namespace headrace::topology {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kColumns = 100;

std::string number(double value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return error == std::errc() ? std::string(text, end) : "0";
}

std::string oneLine(const Json &value) {
  if (value.is_number_float()) {
    return number(value.get<double>());
  }
  if (!value.is_structured()) {
    return value.dump();
  }
  std::string text(1, value.is_array() ? '[' : '{');
  for (auto it = value.begin(); it != value.end(); ++it) {
    text += it == value.begin() ? "" : ", ";
    text += value.is_object() ? Json(it.key()).dump() + ": " : "";
    text += oneLine(*it);
  }
  return text + (value.is_array() ? ']' : '}');
}

void print(const Json &value, size_t indent, size_t used, std::string &text) {
  std::string line = oneLine(value);
  if (!value.is_structured() || value.empty() || used + line.size() + 1 <= kColumns) {
    text += line;
    return;
  }
  text += value.is_array() ? "[\n" : "{\n";
  std::string margin(indent + 2, ' ');
  for (auto it = value.begin(); it != value.end(); ++it) {
    std::string key = value.is_object() ? Json(it.key()).dump() + ": " : "";
    text += (it == value.begin() ? "" : ",\n") + margin + key;
    print(*it, indent + 2, margin.size() + key.size(), text);
  }
  text += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

} // namespace

std::string prettyJson(const Json &document) {
  std::string text;
  print(document, 0, kColumns, text);
  return text + "\n";
}

} // namespace headrace::topology
