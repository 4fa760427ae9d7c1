// JsonReader: reads with paths and sticky errors.
#include "model/topology/json_reader.h"

#include <cmath>

namespace headrace::topology {
namespace {

constexpr double kCountMax = double{1u << 31};

/// C0, DEL, and C1 as UTF-8 writes it.
bool hasControlCharacter(const std::string &text) {
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    unsigned char before = i > 0 ? static_cast<unsigned char>(text[i - 1]) : 0;
    if (c < 0x20 || c == 0x7f || (before == 0xc2 && c < 0xa0)) {
      return true;
    }
  }
  return false;
}

} // namespace

std::string shownValue(const nlohmann::json &value) {
  constexpr size_t kShownMax = 80;
  if (value.is_structured()) {
    return (value.is_array() ? "an array of " : "an object of ") + std::to_string(value.size());
  }
  // Pure ASCII: what a terminal might obey, and bytes that are no UTF-8, are escaped.
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= kShownMax ? text : text.substr(0, kShownMax) + "…";
}

std::optional<int64_t> countOf(const nlohmann::json &value) {
  // Above 2^31 no count of devices, cores or ranks makes sense, and products stay within 64 bits.
  double number = value.is_number() ? value.get<double>() : -1;
  bool whole = number >= 0 && number <= kCountMax && number == std::floor(number);
  return whole ? std::optional<int64_t>(static_cast<int64_t>(number)) : std::nullopt;
}

bool JsonReader::expectObject() {
  if (!value_.is_object()) {
    fail("expected an object, got ", value_.type_name());
    return false;
  }
  return true;
}

const nlohmann::json *JsonReader::find(const char *key, Presence presence) {
  known_.insert(key);
  if (!ok() || !expectObject()) {
    return nullptr;
  }
  auto it = value_.find(key);
  if (it == value_.end()) {
    if (presence == Presence::kRequired) {
      fail("missing key: ", key);
    }
    return nullptr;
  }
  return &*it;
}

std::string JsonReader::text(const char *key, Presence presence, std::string fallback) {
  const nlohmann::json *found = find(key, presence);
  return found ? JsonReader(*found, path_ + "." + key, failure_).asText() : std::move(fallback);
}

std::string JsonReader::asText() {
  if (!value_.is_string()) {
    fail("expected a string, got ", value_.type_name());
    return {};
  }
  std::string text = value_.get<std::string>();
  if (hasControlCharacter(text)) {
    fail("control characters are not supported, got ", shownValue(value_));
    return {};
  }
  return text;
}

double JsonReader::number(const char *key, Presence presence, double fallback) {
  const nlohmann::json *found = find(key, presence);
  return found ? JsonReader(*found, path_ + "." + key, failure_).asNumber() : fallback;
}

double JsonReader::asNumber() {
  if (!value_.is_number()) {
    fail("expected a number in SI units without suffix, got ", shownValue(value_));
    return 0;
  }
  double number = value_.get<double>();
  if (!std::isfinite(number)) {
    fail("expected a finite number"); // no test: the parser refuses numbers that are too large
    return 0;
  }
  return number;
}

int64_t JsonReader::integer(const char *key, Presence presence, int64_t fallback) {
  const nlohmann::json *found = find(key, presence);
  if (!found) {
    return fallback;
  }
  JsonReader reader(*found, path_ + "." + key, failure_);
  std::optional<int64_t> count = countOf(*found);
  if (!count) {
    reader.fail("expected an integer from 0 to ", static_cast<int64_t>(kCountMax), ", got ",
                shownValue(*found));
  }
  return count.value_or(fallback);
}

void JsonReader::members(const char *key, Presence presence,
                         const std::function<void(const std::string &, JsonReader &)> &visit) {
  child(key, presence, [&](JsonReader &object) {
    if (!object.expectObject()) {
      return;
    }
    for (const auto &[name, value] : object.value().items()) {
      if (name.empty() || hasControlCharacter(name)) {
        object.fail("a name needs letters, and no control characters, got ", shownValue(name));
        return;
      }
      JsonReader reader(value, object.path() + "." + name, failure_);
      visit(name, reader);
      if (!ok()) {
        return;
      }
    }
  });
}

void JsonReader::elements(const char *key, Presence presence,
                          const std::function<void(JsonReader &)> &visit) {
  child(key, presence, [&](JsonReader &array) {
    if (!array.value().is_array()) {
      array.fail("expected an array, got ", array.value().type_name());
      return;
    }
    for (size_t i = 0; i < array.value().size() && ok(); ++i) {
      JsonReader reader(array.value()[i], array.path() + "[" + std::to_string(i) + "]", failure_);
      visit(reader);
    }
  });
}

void JsonReader::child(const char *key, Presence presence,
                       const std::function<void(JsonReader &)> &visit) {
  if (const nlohmann::json *found = find(key, presence)) {
    JsonReader reader(*found, path_ + "." + key, failure_);
    visit(reader);
  }
}

void JsonReader::ignore(std::initializer_list<const char *> keys) {
  known_.insert(keys.begin(), keys.end());
}

bool JsonReader::flag(const char *key) {
  const nlohmann::json *found = find(key, Presence::kOptional);
  if (found && !found->is_boolean()) {
    JsonReader(*found, path_ + "." + key, failure_)
        .fail("expected true or false, got ", shownValue(*found));
    return false;
  }
  return found && found->get<bool>();
}

void JsonReader::finish() {
  if (!ok() || !value_.is_object()) {
    return;
  }
  for (const auto &[key, value] : value_.items()) {
    if (!known_.contains(key)) {
      std::string known;
      for (const std::string &name : known_) {
        known += (known.empty() ? "" : ", ") + name;
      }
      fail("unknown key: ", hasControlCharacter(key) ? shownValue(key) : key,
           "; known here: ", known);
      return;
    }
  }
}

} // namespace headrace::topology
