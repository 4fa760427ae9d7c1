// JsonReader: reads with paths and sticky errors.
#include "runtime/model/topology/json_reader.h"

#include <cmath>

namespace headrace::topology {

std::string shownValue(const nlohmann::json &value) {
  constexpr size_t kShownMax = 80;
  if (value.is_structured()) {
    return (value.is_array() ? "an array of " : "an object of ") + std::to_string(value.size());
  }
  std::string text = value.dump();
  return text.size() <= kShownMax ? text : text.substr(0, kShownMax) + "…";
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
  return value_.get<std::string>();
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
    fail("expected a finite number");
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
  // Above 2^31 no count of devices, cores or ranks makes sense, and products stay within 64 bits.
  constexpr int64_t kCountMax = int64_t{1} << 31;
  if (!found->is_number_integer() || found->get<int64_t>() < 0 ||
      found->get<int64_t>() > kCountMax) {
    reader.fail("expected an integer from 0 to ", kCountMax, ", got ", shownValue(*found));
    return fallback;
  }
  return found->get<int64_t>();
}

void JsonReader::members(const char *key, Presence presence,
                         const std::function<void(const std::string &, JsonReader &)> &visit) {
  child(key, presence, [&](JsonReader &object) {
    if (!object.expectObject()) {
      return;
    }
    for (const auto &[name, value] : object.value().items()) {
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
      fail("unknown key: ", key, "; known here: ", known);
      return;
    }
  }
}

} // namespace headrace::topology
