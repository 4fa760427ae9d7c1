// Expat calls back for every start and end of an element; what is open is a path into the tree.
#include "tools/headrace-topo/xml_file.h"

#include <expat.h>
#include <fstream>
#include <memory>
#include <sstream>

namespace headrace::topo {
namespace {

constexpr size_t kDepthMax = 256;

class Document {
public:
  explicit Document(XML_Parser parser) : parser_(parser) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void *self, const char *name, const char **attributes) {
          static_cast<Document *>(self)->open(name, attributes);
        },
        [](void *self, const char *) { static_cast<Document *>(self)->open_.pop_back(); });
    XML_SetEntityDeclHandler(parser, [](void *self, const char *, int, const char *, int,
                                        const char *, const char *, const char *, const char *) {
      static_cast<Document *>(self)->refuse("entities are not supported");
    });
  }

  /// Empty if the text is XML and nothing in it is refused.
  std::string parse(const std::string &text) {
    XML_Status status = XML_Parse(parser_, text.data(), static_cast<int>(text.size()), XML_TRUE);
    return status == XML_STATUS_OK || !refusal_.empty()
               ? refusal_
               : XML_ErrorString(XML_GetErrorCode(parser_));
  }

  XmlElement &root() { return root_; }

private:
  void open(const char *name, const char **attributes) {
    if (open_.size() == kDepthMax) {
      return refuse("too many elements within each other");
    }
    XmlElement element{name, static_cast<int64_t>(XML_GetCurrentLineNumber(parser_)), {}, {}};
    for (; *attributes; attributes += 2) {
      element.attributes[attributes[0]] = attributes[1];
    }
    if (open_.empty()) {
      root_ = std::move(element);
      open_.push_back(&root_);
    } else {
      // Only the last child of an element is ever open, so that its place stays.
      open_.push_back(&open_.back()->children.emplace_back(std::move(element)));
    }
  }

  void refuse(const char *reason) {
    refusal_ = reason;
    XML_StopParser(parser_, XML_FALSE);
  }

  XML_Parser parser_;
  XmlElement root_;
  std::vector<XmlElement *> open_;
  std::string refusal_;
};

} // namespace

std::string XmlElement::attribute(const std::string &name) const {
  auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

Expected<XmlElement> readXml(const std::string &path, const char *what) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                 XML_ParserFree);
  Document document(parser.get());
  if (std::string reason = document.parse(text.str()); !reason.empty()) {
    return makeError(ErrorKind::kUser, "not ", what, ": ", reason, ", line ",
                     XML_GetCurrentLineNumber(parser.get()))
        .at(path);
  }
  return std::move(document.root());
}

} // namespace headrace::topo
