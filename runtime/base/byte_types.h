// Types whose values are bytes in the place of a text, which a cast to a text writes otherwise.
#pragma once

#include "runtime/base/logical_type.h"

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

struct ByteType {
  LogicalKind kind;
  const char *functions; ///< of `functions`_print and `functions`_parse, its casts
  const char *named;     ///< with its article: what a text should have been
  std::string (*text)(std::string_view bytes);
  /// Nothing of a text that is none.
  std::optional<std::string> (*parse)(std::string_view text);
};

/// Null for other types.
const ByteType *byteTypeOf(LogicalKind kind);

} // namespace headrace
