// Files that are gone when they are closed, whatever becomes of the process.
#pragma once

#include <string>

namespace headrace {

/// $TMPDIR, or /var/tmp: /tmp is often memory.
std::string temporaryDirectory();

/// The descriptor of a new file in a directory, to be read and written; negative: errno says why.
int openUnnamedFile(const std::string &directory);

} // namespace headrace
