// Walks a JSON document and keeps the path, so that every complaint names its place
// ("$.instances[0].type"). Private to model. The first error sticks; later reads give
// defaults.
#pragma once

#include "runtime/base/status.h"

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace headrace::topology {

/// The first error of one document; shared by all readers of it.
struct ReadFailure {
  Status status;
};

enum class Presence : uint8_t { kRequired, kOptional };

/// One value of the document with its path. For an object, remembers which keys were asked for, so
/// that `finish` can refuse the others. Not thread-safe; lives shorter than the document.
class JsonReader {
public:
  JsonReader(const nlohmann::json &value, std::string path, ReadFailure &failure)
      : value_(value), path_(std::move(path)), failure_(failure) {}

  bool ok() const { return failure_.status.ok(); }
  const std::string &path() const { return path_; }
  const nlohmann::json &value() const { return value_; }
  template <typename... Parts> void fail(const Parts &...parts) {
    if (ok()) {
      failure_.status = makeError(ErrorKind::kUser, path_, ": ", parts...);
    }
  }
  /// Likewise, of the value under a key.
  template <typename... Parts> void failAt(const char *key, const Parts &...parts) {
    if (ok()) {
      failure_.status = makeError(ErrorKind::kUser, path_, ".", key, ": ", parts...);
    }
  }

  /// The one of `all` whose name is under `key`; `fallback` if the key is not there. Any other name
  /// fails: `complaint`, then the name.
  template <typename E>
  E oneOf(const char *key, Presence presence, std::initializer_list<E> all,
          const char *(*nameOf)(E), E fallback, const char *complaint) {
    std::string name = text(key, presence, nameOf(fallback));
    for (E candidate : all) {
      if (name == nameOf(candidate)) {
        return candidate;
      }
    }
    failAt(key, complaint, name);
    return fallback;
  }

  bool has(const char *key) const { return value_.is_object() && value_.contains(key); }
  bool isObject() const { return value_.is_object(); }
  /// Fails unless this is an object.
  bool expectObject();

  /// Without control characters, which a terminal would obey.
  std::string text(const char *key, Presence presence, std::string fallback = {});
  std::string asText();
  /// A finite number.
  double number(const char *key, Presence presence, double fallback = 0);
  double asNumber();
  /// Also as 16.0 or 1e3.
  int64_t integer(const char *key, Presence presence, int64_t fallback = 0);
  /// True or false; false if it is not there.
  bool flag(const char *key);

  /// Calls `visit(key, reader)` for the members of object `key`, in the order of the keys.
  void members(const char *key, Presence presence,
               const std::function<void(const std::string &, JsonReader &)> &visit);
  /// Calls `visit(reader)` for the elements of array `key`.
  void elements(const char *key, Presence presence, const std::function<void(JsonReader &)> &visit);
  /// Calls `visit(reader)` if the key is there.
  void child(const char *key, Presence presence, const std::function<void(JsonReader &)> &visit);

  /// Where this document keeps its first error, for readers of parts without a key.
  ReadFailure *failure() { return &failure_; }
  /// Keys that are allowed but that this version does not use.
  void ignore(std::initializer_list<const char *> keys);
  /// Refuses keys nobody asked for, and lists those that somebody did.
  void finish();

private:
  const nlohmann::json *find(const char *key, Presence presence);

  const nlohmann::json &value_;
  std::string path_;
  ReadFailure &failure_;
  std::set<std::string> known_;
};

/// A count as JSON Schema understands it, also 16.0; nothing if it is none, or not from 0 to 2^31.
std::optional<int64_t> countOf(const nlohmann::json &value);

/// A value for a message: scalars as they are (cut to 80 bytes), others by kind and size.
std::string shownValue(const nlohmann::json &value);

/// Parses text. Refuses with a place, before anything is kept: syntax errors (by line and column),
/// and by path what is too much (16 MiB, 2^18 values, 32 levels, names of 128 bytes, texts of 4
/// KiB) and keys that stand twice in an object.
Expected<nlohmann::json> parseJson(std::string_view text);

} // namespace headrace::topology
