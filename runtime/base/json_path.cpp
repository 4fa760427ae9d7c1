// Paths are parsed once a thread, as constants come with every row.
#include "runtime/base/json_path.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace headrace::json {
namespace {

/// A number of at most 19 digits that ends before `]`.
std::optional<int64_t> placeBefore(std::string_view &rest) {
  constexpr size_t kDigitsMax = 19;
  const size_t digits = rest.find(']');
  if (digits == 0 || digits > kDigitsMax) { // also of none
    return std::nullopt;
  }
  uint64_t place = 0;
  for (const char digit : rest.substr(0, digits)) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    place = 10 * place + static_cast<uint64_t>(digit - '0');
  }
  rest.remove_prefix(digits + 1);
  return static_cast<int64_t>(std::min<uint64_t>(place, INT64_MAX));
}

/// Reads a path behind its `$`.
class Reader {
public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  Path read() {
    while (path_.isWellFormed && !rest_.empty()) {
      const char first = take();
      path_.isWellFormed =
          !rest_.empty() && (first == '.' ? readKey() : first == '[' && readPlace());
    }
    return std::move(path_);
  }

private:
  char take() {
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return first;
  }
  bool takes(std::string_view word) {
    const bool there = rest_.starts_with(word);
    rest_.remove_prefix(there ? word.size() : 0);
    return there;
  }
  bool add(Step::Kind kind, std::string key = {}, int64_t place = 0) {
    path_.findsMany |= kind >= Step::Kind::kAnyKey;
    path_.steps.push_back({kind, std::move(key), place});
    return true;
  }

  bool readKey() {
    const bool descends = takes(".");
    if (descends) {
      add(Step::Kind::kDescend);
      if (rest_.starts_with("[")) {
        return true;
      }
    }
    if (takes("*")) {
      return add(descends ? Step::Kind::kAny : Step::Kind::kAnyKey);
    }
    if (!takes("\"")) {
      const size_t end = std::min(rest_.find_first_of(".["), rest_.size());
      std::string key(rest_.substr(0, end));
      rest_.remove_prefix(end);
      return end > 0 && add(Step::Kind::kKey, std::move(key));
    }
    std::string key;
    while (!rest_.empty() && rest_.front() != '"') {
      const char letter = take();
      const bool escapes = letter == '\\' && (rest_.starts_with('"') || rest_.starts_with('\\'));
      key += escapes ? take() : letter;
    }
    return takes("\"") && !key.empty() && add(Step::Kind::kKey, std::move(key));
  }

  bool readPlace() {
    if (takes("*]")) {
      return add(Step::Kind::kAnyPlace);
    }
    const bool fromEnd = takes("#");
    if (fromEnd && takes("]")) { // behind the last
      return add(Step::Kind::kPlace, {}, INT64_MAX);
    }
    const bool isNegative = takes("-");
    if (fromEnd && !isNegative) {
      return false;
    }
    const std::optional<int64_t> place = placeBefore(rest_);
    return place && add(Step::Kind::kPlace, {}, isNegative ? -*place : *place);
  }

  std::string_view rest_;
  Path path_;
};

/// The place that a part of a pointer is of; -1 if it is none.
int64_t pointedPlace(std::string_view part) {
  std::string closed(part);
  closed += ']';
  std::string_view rest = closed;
  const std::optional<int64_t> place = placeBefore(rest);
  return !place || (part.size() > 1 && part.front() == '0') ? -1 : *place;
}

/// A pointer behind its first `/`.
Path pointer(std::string_view rest) {
  Path path;
  while (true) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    Step step{Step::Kind::kPointed, {}, pointedPlace(part)};
    for (size_t at = 0; at < part.size(); ++at) {
      const bool escapes = part[at] == '~';
      const char letter = at + 1 < part.size() ? part[at + 1] : '\0';
      if (escapes && letter != '0' && letter != '1') {
        step.kind = Step::Kind::kPlace; // nowhere
        step.place = INT64_MAX;
      }
      step.key += !escapes ? part[at] : letter == '0' ? '~' : '/';
      at += escapes ? 1 : 0;
    }
    path.steps.push_back(std::move(step));
    if (end == rest.size()) {
      return path;
    }
    rest.remove_prefix(end + 1);
  }
}

} // namespace

Path pathOf(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  if (text == "*") {
    return pathOf("$.*");
  }
  if (text.front() == '$') {
    return Reader(text.substr(1)).read();
  }
  if (text.front() == '/') {
    return pointer(text.substr(1));
  }
  return {{{Step::Kind::kKey, std::string(text)}}};
}

const Path &knownPath(std::string_view text) {
  struct Known {
    std::string text;
    Path path;
  };
  // Few bytes of a thread itself: a library that is loaded later has little room for them.
  constexpr size_t kKept = 8;
  thread_local std::vector<Known> kept;
  thread_local size_t next = 0;
  if (kept.empty()) {
    kept.resize(kKept); // an empty text means no step
  }
  for (const Known &one : kept) {
    if (one.text == text) {
      return one.path;
    }
  }
  Known &made = kept[next++ % kKept];
  made = {std::string(text), pathOf(text)};
  return made.path;
}

} // namespace headrace::json
