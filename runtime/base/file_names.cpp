// Paths are read from their separators alone.
#include "runtime/base/file_names.h"

#include <algorithm>

namespace headrace::file_names {
namespace {

std::string_view separators(std::string_view named) {
  return named == "forward_slash" || named == "system" ? "/" : named == "backslash" ? "\\" : "/\\";
}

} // namespace

std::string_view last(std::string_view path, std::string_view separator) {
  const size_t at = path.find_last_of(separators(separator));
  return at == path.npos ? path : path.substr(at + 1);
}

std::string_view stem(std::string_view path, std::string_view separator) {
  const std::string_view name = last(path, separator);
  return name.substr(0, name.find_last_of('.'));
}

std::string_view first(std::string_view path, std::string_view separator) {
  const size_t at = path.find_first_of(separators(separator));
  return at == path.npos ? path.substr(0, 0) : path.substr(0, at == 0 ? 1 : at);
}

std::string_view folders(std::string_view path, std::string_view separator) {
  const size_t at = path.find_last_of(separators(separator));
  const bool isRoot = at == 0 && path.size() == 1;
  return isRoot ? path : path.substr(0, at == path.npos ? 0 : at);
}

std::vector<std::string_view> parts(std::string_view path, std::string_view separator) {
  std::vector<std::string_view> found;
  const std::string_view cut = separators(separator);
  for (size_t from = 0; from < path.size();) {
    const size_t at = std::min(path.find_first_of(cut, from), path.size());
    if (at > from || from == 0) {
      found.push_back(path.substr(from, at > from ? at - from : 1));
    }
    from = at + 1;
  }
  return found;
}

} // namespace headrace::file_names
