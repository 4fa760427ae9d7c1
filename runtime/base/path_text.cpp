// Patterns are glob(3)'s.
#include "runtime/base/path_text.h"

#include <cstdlib>
#include <filesystem>
#include <glob.h>

namespace headrace {

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
  glob_t found = {};
  bool matched = glob(path.c_str(), 0, nullptr, &found) == 0;
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (matched ? found.gl_pathc : 0));
  globfree(&found);
  if (paths.empty()) {
    return makeError(ErrorKind::kIo, "no file matches: ", text);
  }
  return paths;
}

} // namespace headrace
