// XML from outside as a tree of elements, read with expat or refused with the reason.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headrace::topo {

struct XmlElement {
  std::string name;
  int64_t line = 0;
  std::map<std::string, std::string> attributes;
  std::vector<XmlElement> children;

  /// Empty if it is not there.
  std::string attribute(const std::string &name) const;
};

/// The root element. No network, no entities, at most 256 elements deep. Errors: kUser, with the
/// file as place: "not `what`", the reason and the line.
Expected<XmlElement> readXml(const std::string &path, const char *what);

} // namespace headrace::topo
