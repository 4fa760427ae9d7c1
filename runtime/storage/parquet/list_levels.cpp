// Lists from levels, from the outermost to the innermost.
#include "runtime/storage/parquet/list_levels.h"

#include <utility>

namespace headrace::storage {

ListAssembler::ListAssembler(const ListColumn &column)
    : column_(column), open_(column.levels.size()) {
  const ElementCode inner = elementCode({LogicalKind::kList});
  for (Open &list : open_) {
    list.code = &list == &open_.back() ? elementCode(column.element.type) : inner;
  }
}

bool ListAssembler::add(int16_t definition, int16_t repetition, std::string_view bytes) {
  const auto depth = static_cast<size_t>(repetition);
  if (repetition < 0 || depth > open_.size()) {
    return false;
  }
  close(depth);
  if (depth == 0) {
    begin(0, definition, bytes);
    return true;
  }
  const ListColumn::Level &level = column_.levels[depth - 1];
  if (!open_[depth - 1].isOpen) {
    // DuckDB writes an array that is NULL as often as it has elements.
    return definition < level.list;
  }
  if (definition < level.element) {
    return false;
  }
  addElement(depth - 1, definition, bytes);
  return true;
}

void ListAssembler::begin(size_t depth, int16_t definition, std::string_view bytes) {
  if (definition < column_.levels[depth].list) {
    put(depth, std::nullopt);
    return;
  }
  open_[depth].isOpen = true;
  if (definition >= column_.levels[depth].element) {
    addElement(depth, definition, bytes);
  }
}

void ListAssembler::addElement(size_t depth, int16_t definition, std::string_view bytes) {
  if (depth + 1 < open_.size()) {
    begin(depth + 1, definition, bytes);
  } else if (definition == column_.definitionMax) {
    open_[depth].elements.emplace_back(bytes);
  } else {
    open_[depth].elements.emplace_back();
  }
}

void ListAssembler::put(size_t depth, std::optional<std::string> list) {
  (depth == 0 ? rows_ : open_[depth - 1].elements).push_back(std::move(list));
}

void ListAssembler::close(size_t depth) {
  for (size_t inner = open_.size(); inner-- > depth;) {
    Open &list = open_[inner];
    if (!list.isOpen) {
      continue;
    }
    uint64_t textBytes = 0;
    for (const auto &element : list.elements) {
      textBytes += element ? element->size() : 0;
    }
    std::string bytes(ListWriter::bytesOf(list.code, list.elements.size(), textBytes), '\0');
    ListWriter writer(bytes.data(), list.code, static_cast<uint32_t>(list.elements.size()));
    for (const auto &element : list.elements) {
      writer.add(element ? std::optional<std::string_view>(*element) : std::nullopt);
    }
    list.elements.clear();
    list.isOpen = false;
    put(inner, std::move(bytes));
  }
}

std::vector<std::optional<std::string>> ListAssembler::takeRows() {
  return std::exchange(rows_, {});
}

} // namespace headrace::storage
