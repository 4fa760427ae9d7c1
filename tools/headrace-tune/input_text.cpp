// Reads at once: what the commands parse is held as a whole.
#include "tools/headrace-tune/input_text.h"

#include <fstream>
#include <iostream>
#include <sstream>

namespace headrace::tune {

Expected<std::string> readInput(const std::string &path, const char *what) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return makeError(ErrorKind::kUser, "cannot open ", what, ": ", path);
  }
  text << file.rdbuf();
  return text.str();
}

} // namespace headrace::tune
