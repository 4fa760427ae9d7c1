// Functions of structs and of maps, which are lists of structs with a key and a value.
#include "runtime/base/list_functions.h"

#include "runtime/base/text_functions.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace headrace {
namespace {

using Element = std::optional<std::string_view>;

constexpr uint32_t kKey = 0, kValue = 1;

List kept(TextRoom &room, const std::string &bytes) {
  return List(
      room.make(bytes.size(), [&](char *to) { return std::copy(bytes.begin(), bytes.end(), to); }));
}

/// The places of entries by their keys; nothing if one is NULL or there twice.
using Keys = std::unordered_map<std::string_view, uint32_t>;
std::optional<Keys> keysOf(const ListView &entries) {
  Keys keys;
  for (uint32_t place = 0; place < entries.size(); ++place) {
    const Element key =
        entries.isValid(place) ? ListView(entries.bytes(place)).element(kKey) : std::nullopt;
    if (!key || !keys.emplace(*key, place).second) {
      return std::nullopt;
    }
  }
  return keys;
}

} // namespace

List listOf(TextRoom &room, ElementCode code, const std::vector<Element> &elements) {
  uint64_t textBytes = 0;
  for (const Element &element : elements) {
    textBytes += element ? element->size() : 0;
  }
  return List(room.make(ListWriter::bytesOf(code, elements.size(), textBytes), [&](char *to) {
    ListWriter writer(to, code, static_cast<uint32_t>(elements.size()));
    for (const Element &element : elements) {
      writer.add(element);
    }
    return writer.end();
  }));
}

List structOf(TextRoom &room, const Lists &fields) {
  std::vector<FieldBytes> all;
  for (const TextValue &field : fields.values) {
    const ListView only(field.text);
    all.push_back({only.code(), only.size() == 0 ? std::nullopt : only.element(0)});
  }
  return kept(room, packedStruct(all));
}

List structsOf(TextRoom &room, const List &like, const Lists &fields) {
  std::vector<std::optional<std::string>> structs;
  for (uint32_t place = 0; place < like.view.size(); ++place) {
    std::optional<std::string> &made = structs.emplace_back();
    if (like.view.isValid(place)) {
      std::vector<FieldBytes> all;
      for (const TextValue &field : fields.values) {
        const ListView list(field.text);
        all.push_back({list.code(), place < list.size() ? list.element(place) : std::nullopt});
      }
      made = packedStruct(all);
    }
  }
  return listOf(room, elementCode({LogicalKind::kStruct}),
                std::vector<Element>(structs.begin(), structs.end()));
}

List fieldsOf(TextRoom &room, const List &list, int64_t n) {
  const auto field = static_cast<uint32_t>(n - 1);
  std::vector<Element> elements;
  ElementCode code = 0;
  for (uint32_t place = 0; place < list.view.size(); ++place) {
    const ListView one(list.view.bytes(place)); // without fields where it is NULL
    const bool isThere = field < one.size();
    elements.push_back(isThere ? one.element(field) : std::nullopt);
    code = isThere ? one.code(field) : code;
  }
  return listOf(room, code, elements);
}

MaybeList entriesOf(TextRoom &room, const List &keys, const List &values) {
  if (keys.view.size() != values.view.size()) {
    return std::nullopt;
  }
  std::vector<std::string> entries;
  for (uint32_t place = 0; place < keys.view.size(); ++place) {
    const FieldBytes fields[] = {{keys.view.code(), keys.view.element(place)},
                                 {values.view.code(), values.view.element(place)}};
    entries.push_back(packedStruct(fields));
  }
  const List all = listOf(room, elementCode({LogicalKind::kStruct}),
                          std::vector<Element>(entries.begin(), entries.end()));
  return checkedEntries(room, all);
}

MaybeList checkedEntries(TextRoom & /*room*/, const List &entries) {
  return keysOf(entries.view) ? MaybeList(entries) : std::nullopt;
}

List valuesAt(TextRoom &room, const List &entries, const List &key) {
  const Element wanted = key.view.size() == 0 ? std::nullopt : key.view.element(0);
  for (uint32_t place = 0; wanted && place < entries.view.size(); ++place) {
    const ListView entry(entries.view.bytes(place));
    if (entry.element(kKey) == wanted) {
      return listOf(room, entry.code(kValue), {entry.element(kValue)});
    }
  }
  return listOf(room, 0, {});
}

List countedEntries(TextRoom &room, const List &list) {
  const ElementCode number = elementCode({LogicalKind::kU64});
  std::vector<std::string> entries;
  uint64_t count = 0;
  for (uint32_t place = 0; place < list.view.size(); ++place) {
    ++count;
    const Element element = list.view.element(place);
    if (!element) {
      break;
    }
    const bool isLast = place + 1 == list.view.size();
    if (isLast || list.view.element(place + 1) != element) {
      const ElementBytes size = ElementBytes::ofInteger(number, count);
      const FieldBytes fields[] = {{list.view.code(), element}, {number, size.view()}};
      entries.push_back(packedStruct(fields));
      count = 0;
    }
  }
  return listOf(room, elementCode({LogicalKind::kStruct}),
                std::vector<Element>(entries.begin(), entries.end()));
}

List mergedEntries(TextRoom &room, const Lists &maps) {
  std::vector<Element> entries;
  Keys places;
  for (const TextValue &map : maps.values) {
    const ListView list(map.text);
    for (uint32_t place = 0; place < list.size(); ++place) {
      const Element entry = list.element(place);
      const Element key = ListView(list.bytes(place)).element(kKey);
      const auto [known, isNew] =
          places.emplace(key.value_or(std::string_view()), static_cast<uint32_t>(entries.size()));
      if (isNew) {
        entries.push_back(entry);
      } else {
        entries[known->second] = entry;
      }
    }
  }
  return listOf(room, elementCode({LogicalKind::kStruct}), entries);
}

} // namespace headrace
