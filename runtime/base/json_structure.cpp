// What values of JSON have in common: json_structure.
#include "runtime/base/json_functions.h"
#include "runtime/base/json_text.h"
#include "runtime/base/json_values.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::json {
namespace {

/// What all values have that were added.
class Structure {
public:
  void add(const Value &value) {
    what_ = together(what_, of(value));
    if (what_ == What::kArray && value.kind() == Kind::kArray) {
      eachIn(value, [&](Text, const Value &inner) { field("").add(inner); });
    } else if (what_ == What::kObject && value.kind() == Kind::kObject) {
      eachIn(value, [&](Text key, const Value &inner) {
        Texts room;
        field(plainKey(room, key)).add(inner);
      });
    }
  }

  void append(std::string &to) const {
    if (what_ == What::kArray) {
      to += '[';
      const Structure nothing;
      (fields_.empty() ? nothing : *fields_.front().second).append(to);
      to += ']';
    } else if (what_ == What::kObject && !fields_.empty()) {
      char before = '{';
      for (const auto &[key, inner] : fields_) {
        to += std::exchange(before, ',');
        appendString(key, to);
        to += ':';
        inner->append(to);
      }
      to += '}';
    } else {
      constexpr Text kNames[] = {"NULL",   "BOOLEAN", "UBIGINT", "BIGINT", "HUGEINT",
                                 "DOUBLE", "VARCHAR", "JSON",    "JSON",   "JSON"};
      to.append("\"").append(kNames[static_cast<size_t>(what_)]).append("\"");
    }
  }

private:
  enum class What : uint8_t {
    kNull,
    kBoolean,
    kUnsigned,
    kSigned,
    kHuge,
    kReal,
    kText,
    kArray,
    kObject, ///< without fields as what differs
    kMixed
  };

  static What of(const Value &value) {
    switch (value.kind()) {
    case Kind::kNull:
      return What::kNull;
    case Kind::kBoolean:
      return What::kBoolean;
    case Kind::kString:
      return What::kText;
    case Kind::kArray:
      return What::kArray;
    case Kind::kObject:
      return What::kObject;
    case Kind::kNumber:
      break;
    }
    const Text name = typeOf(value).substr(1);
    return name == "DOUBLE" ? What::kReal : name == "BIGINT" ? What::kSigned : What::kUnsigned;
  }

  static What together(What one, What other) {
    const auto [less, more] = std::minmax(one, other);
    if (less == more || less == What::kNull) {
      return more;
    }
    const bool areNumbers = less >= What::kUnsigned && more <= What::kReal;
    return !areNumbers ? What::kMixed : more == What::kReal ? What::kReal : What::kHuge;
  }

  Structure &field(Text key) {
    const auto [known, isNew] = places_.try_emplace(std::string(key), fields_.size());
    if (isNew) {
      fields_.emplace_back(known->first, std::make_unique<Structure>());
    }
    return *fields_[known->second].second;
  }

  What what_ = What::kNull;
  std::vector<std::pair<std::string, std::unique_ptr<Structure>>> fields_; ///< as they came
  std::unordered_map<std::string, size_t> places_;
};

} // namespace

MaybeText structureOf(TextRoom &room, Text text) {
  Value value;
  if (!read(text, value) || depthOf(value) > kDepthMax) {
    return std::nullopt;
  }
  Structure structure;
  structure.add(value);
  std::string made;
  structure.append(made);
  return room.make(made.size(), [&](char *to) { return std::ranges::copy(made, to).out; });
}

} // namespace headrace::json
