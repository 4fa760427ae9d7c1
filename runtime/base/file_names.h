// Parts of the paths of files in texts.
#pragma once

#include <string_view>
#include <vector>

// `separator` is "forward_slash", "backslash" or "system" (a slash); of any other text it is either
// slash.
namespace headrace::file_names {

/// What is behind the last separator, and that without what is behind its last '.'.
std::string_view last(std::string_view path, std::string_view separator);
std::string_view stem(std::string_view path, std::string_view separator);
/// The first folder: a separator, if the path begins with it; empty if there is no folder.
std::string_view first(std::string_view path, std::string_view separator);
/// What is before the last separator; empty if there is none.
std::string_view folders(std::string_view path, std::string_view separator);
/// All parts that are not empty; the separator first, if the path begins with it.
std::vector<std::string_view> parts(std::string_view path, std::string_view separator);

} // namespace headrace::file_names
