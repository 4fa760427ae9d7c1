// XML from outside, read with libxml2 or refused with the reason.
#pragma once

#include "runtime/base/status.h"

#include <libxml/tree.h>
#include <memory>
#include <string>

namespace headrace::topo {

using XmlDocument = std::unique_ptr<xmlDoc, void (*)(xmlDocPtr)>;

/// No network, no entities, no huge documents. Errors: kUser, with the file as place: "not `what`",
/// the reason and the line.
Expected<XmlDocument> readXml(const std::string &path, const char *what);

} // namespace headrace::topo
