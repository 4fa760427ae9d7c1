// The levels of a nested column as lists: each value says how deep it is there, and which list it
// goes on.
#pragma once

#include "runtime/base/list_values.h"
#include "runtime/storage/parquet/footer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::storage {

/// Purpose: makes packed lists of a column's values in the order of the file. Not thread-safe.
class ListAssembler {
public:
  explicit ListAssembler(const ListColumn &column);

  /// The next value with its definition and repetition level; `bytes` as a list has it, if it is
  /// defined. False: the levels contradict each other.
  bool add(int16_t definition, int16_t repetition, std::string_view bytes);
  /// There are no more values.
  void end() { close(0); }
  /// The rows that are complete, nothing for NULL, and forgets them.
  std::vector<std::optional<std::string>> takeRows();

private:
  struct Open {
    ElementCode code = 0; ///< of its elements
    bool isOpen = false;
    std::vector<std::optional<std::string>> elements;
  };

  void begin(size_t depth, int16_t definition, std::string_view bytes);
  void addElement(size_t depth, int16_t definition, std::string_view bytes);
  /// Ends the lists from this depth on.
  void close(size_t depth);
  /// Adds a list (or NULL) to the one that it is in.
  void put(size_t depth, std::optional<std::string> list);

  const ListColumn &column_;
  std::vector<Open> open_;
  std::vector<std::optional<std::string>> rows_;
};

} // namespace headrace::storage
