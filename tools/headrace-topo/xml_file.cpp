// What is wrong is said by us, once.
#include "tools/headrace-topo/xml_file.h"

#include <libxml/parser.h>

namespace headrace::topo {

Expected<XmlDocument> readXml(const std::string &path, const char *what) {
  constexpr int kOptions = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
  XmlDocument document(xmlReadFile(path.c_str(), nullptr, kOptions), &xmlFreeDoc);
  if (document && xmlDocGetRootElement(document.get())) {
    return document;
  }
  const xmlError *error = xmlGetLastError();
  std::string reason = error && error->message ? error->message : "not XML";
  while (!reason.empty() && reason.back() == '\n') {
    reason.pop_back();
  }
  int line = error ? error->line : 0;
  return makeError(ErrorKind::kUser, "not ", what, ": ", reason,
                   line > 0 ? ", line " + std::to_string(line) : "")
      .at(path);
}

} // namespace headrace::topo
