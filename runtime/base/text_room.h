// Where functions of texts write what they make.
#pragma once

#include <cstdint>
#include <string_view>

namespace headrace {

/// Memory for the text of one value, which lasts until the next one. Not thread-safe.
class TextRoom {
public:
  static constexpr uint64_t kBytesMax = UINT32_MAX; ///< that a text may have

  virtual ~TextRoom() = default;

  /// The text that `write(memory)` writes, which returns its end, of at most `most` bytes. Empty
  /// where there is no room for so many: then the room says why.
  template <typename Write> std::string_view make(uint64_t most, Write write) {
    char *memory = take(most);
    return memory ? std::string_view(memory, write(memory)) : std::string_view();
  }

protected:
  /// So many bytes; null if there are none.
  virtual char *take(uint64_t bytes) = 0;
};

} // namespace headrace
