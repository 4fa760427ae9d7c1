// Patterns are glob(3)'s; for ** they are asked in every folder.
#include "runtime/base/path_text.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <glob.h>
#include <string_view>

namespace headrace {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> globbed(const std::string &pattern) {
  glob_t found = {};
  const bool matched = glob(pattern.c_str(), 0, nullptr, &found) == 0;
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (matched ? found.gl_pathc : 0));
  globfree(&found);
  return paths;
}

/// A path as a pattern that matches it alone.
std::string escaped(const std::string &path) {
  std::string pattern;
  for (char each : path) {
    pattern += std::string_view("*?[\\").find(each) == std::string_view::npos ? "" : "\\";
    pattern += each;
  }
  return pattern;
}

/// Where a component "**" begins; npos if there is none.
size_t anyFolders(const std::string &pattern) {
  for (size_t at = pattern.find("**"); at != std::string::npos; at = pattern.find("**", at + 1)) {
    const size_t end = at + 2;
    if ((at == 0 || pattern[at - 1] == '/') && (end == pattern.size() || pattern[end] == '/')) {
      return at;
    }
  }
  return std::string::npos;
}

std::vector<std::string> matching(const std::string &pattern) {
  const size_t at = anyFolders(pattern);
  if (at == std::string::npos) {
    return globbed(pattern);
  }
  const bool isLast = at + 2 == pattern.size();
  const std::string rest = isLast ? "/*" : pattern.substr(at + 2);
  std::vector<std::string> paths;
  for (const std::string &top : globbed(at == 0 ? "." : pattern.substr(0, at))) {
    std::vector<std::string> folders{at == 0 ? "." : top};
    std::error_code ignored;
    for (fs::recursive_directory_iterator
             entry(folders.front(), fs::directory_options::skip_permission_denied, ignored),
         end;
         !ignored && entry != end; entry.increment(ignored)) {
      if (entry->is_directory(ignored)) {
        folders.push_back(entry->path().string());
      }
    }
    for (std::string &folder : folders) {
      folder.resize(folder.ends_with('/') ? folder.size() - 1 : folder.size());
      std::vector<std::string> inside = matching(escaped(folder) + rest);
      paths.insert(paths.end(), inside.begin(), inside.end());
    }
  }
  if (isLast) {
    std::erase_if(paths, [](const std::string &path) { return fs::is_directory(path); });
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

} // namespace

std::string homePath(const std::string &path) {
  const char *home = std::getenv("HOME");
  bool homely = path == "~" || path.starts_with("~/");
  return homely && home ? home + path.substr(1) : path;
}

Expected<std::vector<std::string>> matchingPaths(const std::string &text) {
  std::string path = homePath(text);
  std::error_code ignored;
  if (path.find_first_of("*?[") == std::string::npos || std::filesystem::exists(path, ignored)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> paths = matching(path);
  if (paths.empty()) {
    return makeError(ErrorKind::kIo, "no file matches: ", text);
  }
  return paths;
}

} // namespace headrace
