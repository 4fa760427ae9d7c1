// Where a command writes its text: standard output, or a file that appears whole or not at all.
#pragma once

#include "tools/command_line/output_file.h"

#include <optional>

namespace headrace {

/// Not thread-safe.
class TextOutput {
public:
  /// A name that cannot be written is found at once, before any work. An empty path is standard
  /// output. Errors: kIo.
  Status open(const std::string &path);
  Status write(const std::string &text);

private:
  std::optional<OutputFile> target_;
};

} // namespace headrace
