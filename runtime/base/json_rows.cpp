// The rows of json_each and json_tree.
#include "runtime/base/ascii.h"
#include "runtime/base/json_functions.h"
#include "runtime/base/json_text.h"
#include "runtime/base/json_values.h"
#include "runtime/base/list_values.h"
#include "runtime/base/stop.h"

#include <algorithm>
#include <array>
#include <vector>

namespace headrace::json {
namespace {

using Behind = Scanner::Behind;
using Search = Scanner::Search;

/// How many keys and values begin in a part of well-formed JSON.
uint64_t begunIn(Text text) {
  constexpr Text kBetween = " \t\r\n,:]}";
  uint64_t count = 0;
  for (size_t at = text.find_first_not_of(kBetween); at < text.size();
       at = text.find_first_not_of(kBetween, at)) {
    ++count;
    const char first = text[at++];
    if (first == '"') {
      while (text[at] != '"') {
        at += text[at] == '\\' ? 2 : 1;
      }
      ++at;
    } else if (first != '[' && first != '{') {
      at = std::min(text.find_first_of(kBetween, at), text.size());
    }
  }
  return count;
}

/// A path from the root: one key is a path, too. Empty: it is none.
std::string fromRoot(Text path) {
  if (path.starts_with('$')) {
    return std::string(path);
  }
  const bool isKey = !path.empty() && !path.starts_with('/') && path.find('"') == Text::npos;
  return isKey ? "$.\"" + std::string(path) + '"' : std::string();
}

/// A step to a key, in quotes unless it is a word.
void appendKeyStep(Text key, std::string &path) {
  const auto isLetter = [](char letter) {
    return lowerAscii(letter) >= 'a' && lowerAscii(letter) <= 'z';
  };
  const bool isWord =
      !key.empty() && isLetter(key.front()) && std::ranges::all_of(key, [&](char letter) {
        return isLetter(letter) || letter == '_' || (letter >= '0' && letter <= '9');
      });
  path += isWord ? "." : ".\"";
  for (const char letter : key) {
    path += letter == '"' || letter == '\\' ? "\\" : "";
    path += letter;
  }
  path += isWord ? "" : "\"";
}

/// The rows as structs of a list.
class Rows {
public:
  struct Place {
    MaybeText key;
    uint64_t id;
    std::optional<uint64_t> parent;
    Text fullKey, path;
  };

  void add(const Value &value, const Place &place) {
    Texts room;
    const Text text = written(room, value);
    const bool isAtom = !isNested(value) && value.kind() != Kind::kNull;
    const ElementCode word = codeOf(LogicalKind::kString), number = codeOf(LogicalKind::kU64);
    const ElementBytes id = ElementBytes::ofInteger(number, place.id);
    const ElementBytes parent = ElementBytes::ofInteger(number, place.parent.value_or(0));
    rows_.push_back(packedStruct(
        std::array<FieldBytes, 8>{{{word, place.key},
                                   {word, text},
                                   {word, typeOf(value).substr(1)},
                                   {word, isAtom ? MaybeText(text) : std::nullopt},
                                   {number, id.view()},
                                   {number, place.parent ? MaybeText(parent.view()) : std::nullopt},
                                   {word, place.fullKey},
                                   {word, place.path}}}));
    bytes_ += rows_.back().size();
  }
  /// There is no room for more.
  bool areTooMany() const { return bytes_ > TextRoom::kBytesMax; }

  List listed(TextRoom &room) const {
    if (areTooMany()) {
      return List(room.make(UINT64_MAX, [](char *to) { return to; }));
    }
    return listOf(room, codeOf(LogicalKind::kStruct), {rows_.begin(), rows_.end()});
  }

private:
  static ElementCode codeOf(LogicalKind kind) {
    LogicalType type;
    type.kind = kind;
    return elementCode(type);
  }

  std::vector<std::string> rows_;
  uint64_t bytes_ = 0;
};

/// An object or array whose values are gone through.
struct Open {
  Open(const Value &value, uint64_t number, size_t pathBytes)
      : scanner(value.text), isObject(value.kind() == Kind::kObject), id(number), path(pathBytes),
        next(scanner.enter()) {}

  Scanner scanner;
  bool isObject;
  uint64_t id, place = 0;
  size_t path; ///< bytes of the path to it
  Behind next;
};

/// Adds the rows of what is in a value, with `deep` of all in it, each in front of what is in it.
void addInside(const Value &root, uint64_t id, std::string path, bool deep, Rows &rows) {
  std::vector<Open> open;
  open.emplace_back(root, id, path.size());
  uint64_t begun = id + 1;
  StopCheck check;
  while (!open.empty() && !rows.areTooMany()) {
    Open &in = open.back();
    path.resize(in.path);
    Text key;
    Value value;
    if (in.next != Behind::kMore || (in.isObject && !in.scanner.readKey(key)) ||
        !in.scanner.readValue(value)) { // it is well-formed
      open.pop_back();
      continue;
    }
    if (check.isStoppedAfter(value.text.size())) {
      return;
    }
    in.next = in.scanner.behind();
    Texts room;
    std::string place;
    if (in.isObject) {
      ++begun;
      key = plainKey(room, key);
      appendKeyStep(key, path);
    } else {
      place = std::to_string(in.place++);
      key = place;
      path.append("[").append(place).append("]");
    }
    rows.add(value, {key, begun, deep ? std::optional(in.id) : std::nullopt, path,
                     Text(path).substr(0, in.path)});
    if (deep && isNested(value)) {
      open.emplace_back(value, begun++, path.size());
    } else {
      begun += begunIn(value.text);
    }
  }
}

} // namespace

MaybeList rowsOf(TextRoom &room, Text text, Text path, RowsOf which) {
  const std::string from = fromRoot(path);
  Value root;
  const Search search = from.empty() ? Search::kMalformed : find(text, knownPath(from), root);
  if (search == Search::kMalformed) {
    return std::nullopt;
  }
  Rows rows;
  if (search == Search::kThere) {
    const uint64_t id =
        begunIn(text.substr(0, static_cast<size_t>(root.text.data() - text.data())));
    if (which == RowsOf::kTree || !isNested(root)) {
      rows.add(root, {std::nullopt, id, std::nullopt, from, from});
    }
    if (isNested(root)) {
      addInside(root, id, from, which == RowsOf::kTree, rows);
    }
  }
  return rows.listed(room);
}

} // namespace headrace::json
