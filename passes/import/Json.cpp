// Reading a JSON document without trusting it.
#include "passes/import/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace headrace::import;
using nlohmann::json;

static void printPath(llvm::raw_ostream &out, const JsonPaths::Step *step) {
  if (!step) {
    return;
  }
  SmallVector<const JsonPaths::Step *> steps;
  for (; step; step = step->parent) {
    steps.push_back(step);
  }
  bool first = true;
  for (const JsonPaths::Step *part : llvm::reverse(steps)) {
    if (part->key.empty()) {
      out << "[" << part->index << "]";
    } else {
      out << (first ? "" : ".") << part->key;
    }
    first = false;
  }
}

Location Node::location() const {
  MLIRContext *context = paths->context.getContext();
  std::string text = pathText();
  return text.empty() ? Location(UnknownLoc::get(context))
                      : Location(NameLoc::get(StringAttr::get(context, text)));
}

std::string Node::pathText() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  printPath(out, path);
  return text;
}

std::string Node::keysText() const {
  if (!isObject()) {
    return value ? value->type_name() : "nothing";
  }
  SmallVector<std::string> keys;
  for (const auto &[key, member] : value->items()) {
    keys.push_back(key);
  }
  return llvm::join(keys, ", ");
}

Node Node::get(StringRef key) const {
  if (isObject()) {
    auto member = value->find(key.str());
    if (member != value->end() && !member->is_null()) {
      return Node(*paths, &*member, paths->child(path, StringRef(member.key()), 0));
    }
  }
  return absent();
}

SmallVector<StringRef> Node::keys() const {
  SmallVector<StringRef> keys;
  if (isObject()) {
    for (const auto &[key, member] : value->items()) {
      keys.push_back(key);
    }
  }
  return keys;
}

static bool equalValues(const json &a, const json &b, ArrayRef<StringRef> ignored) {
  if (a.type() != b.type() || !a.is_structured()) {
    return a == b;
  }
  if (a.size() != b.size()) {
    return false;
  }
  if (a.is_array()) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [&](const json &x, const json &y) { return equalValues(x, y, ignored); });
  }
  return llvm::all_of(a.items(), [&](const auto &field) {
    auto found = b.find(field.key());
    return found != b.end() && (llvm::is_contained(ignored, StringRef(field.key())) ||
                                equalValues(field.value(), *found, ignored));
  });
}

bool Node::equals(const Node &other, ArrayRef<StringRef> ignored) const {
  return value && other.value ? equalValues(*value, *other.value, ignored) : value == other.value;
}

std::string Node::valueText() const {
  if (!value) {
    return "nothing";
  }
  return value->is_structured() ? value->type_name()
                                : value->dump(-1, ' ', false, json::error_handler_t::replace);
}

SmallVector<Node, 4> Node::elements() const {
  SmallVector<Node, 4> nodes;
  if (value && value->is_array()) {
    for (size_t index = 0; index < value->size(); ++index) {
      nodes.push_back(Node(*paths, &(*value)[index], paths->child(path, {}, index)));
    }
  }
  return nodes;
}

Node Node::only(ArrayRef<StringRef> known, StringRef &key) const {
  for (StringRef candidate : known) {
    if (Node member = get(candidate)) {
      key = candidate;
      return member;
    }
  }
  return absent();
}

std::optional<int64_t> Node::integer() const {
  if (!value) {
    return std::nullopt;
  }
  if (value->is_number_unsigned()) {
    uint64_t number = *value->get_ptr<const json::number_unsigned_t *>();
    return number <= INT64_MAX ? std::optional<int64_t>(number) : std::nullopt;
  }
  if (value->is_number_integer()) {
    return *value->get_ptr<const json::number_integer_t *>();
  }
  int64_t number = 0;
  std::optional<StringRef> text = string();
  return text && !text->getAsInteger(10, number) ? std::optional<int64_t>(number) : std::nullopt;
}

std::optional<uint64_t> Node::natural() const {
  if (value && value->is_number_unsigned()) {
    return *value->get_ptr<const json::number_unsigned_t *>();
  }
  std::optional<int64_t> number = integer();
  return number && *number >= 0 ? std::optional<uint64_t>(*number) : std::nullopt;
}

std::optional<double> Node::real() const {
  if (value && value->is_number()) {
    return value->is_number_float()      ? *value->get_ptr<const json::number_float_t *>()
           : value->is_number_unsigned() ? *value->get_ptr<const json::number_unsigned_t *>()
                                         : *value->get_ptr<const json::number_integer_t *>();
  }
  // Substrait writes these as strings, DuckDB as words; JSON has no such numbers.
  std::optional<StringRef> text = string();
  if (text && text->ltrim('-').equals_insensitive("nan")) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "Infinity" || text == "-Infinity") {
    double infinity = std::numeric_limits<double>::infinity();
    return text->starts_with("-") ? -infinity : infinity;
  }
  return std::nullopt;
}

std::optional<bool> Node::boolean() const {
  const bool *boolean = value ? value->get_ptr<const json::boolean_t *>() : nullptr;
  return boolean ? std::optional<bool>(*boolean) : std::nullopt;
}

std::optional<StringRef> Node::string() const {
  const std::string *text = value ? value->get_ptr<const json::string_t *>() : nullptr;
  return text ? std::optional<StringRef>(*text) : std::nullopt;
}

bool Node::isNothing() const {
  if (!value || value->is_null()) {
    return true;
  }
  return value->is_boolean()      ? !*boolean()
         : value->is_structured() ? value->empty()
         : value->is_string()     ? string()->empty()
                                  : real() == 0.0;
}

FailureOr<int64_t> Node::integerOr(int64_t ifAbsent) const {
  if (!value) {
    return ifAbsent;
  }
  std::optional<int64_t> number = integer();
  if (!number) {
    return fail("expected an integer");
  }
  return *number;
}

namespace {

/// Finds where a text stops being JSON.
class ErrorLocator : public nlohmann::json_sax<json> {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string &,
                   const nlohmann::detail::exception &) override {
    position = at;
    return false;
  }
  size_t position = 0;
};

} // namespace

/// Puts quotes around words that are no JSON.
static std::string withQuotedWords(StringRef text) {
  static constexpr StringRef kWords[] = {"-Infinity", "Infinity", "-NaN", "NaN", "-NAN", "NAN"};
  std::string result;
  result.reserve(text.size());
  bool inString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (inString) {
      result += c;
      if (c == '\\' && at + 1 < text.size()) {
        result += text[++at];
      }
      inString = c != '"';
      continue;
    }
    StringRef rest = text.substr(at);
    const StringRef *word =
        llvm::find_if(kWords, [&](StringRef known) { return rest.starts_with(known); });
    if (word != std::end(kWords)) {
      result += ("\"" + *word + "\"").str();
      at += word->size() - 1;
      continue;
    }
    inString = c == '"';
    result += c;
  }
  return result;
}

std::optional<json> headrace::import::parseJson(ImportContext &context, StringRef text) {
  std::string quoted = withQuotedWords(text);
  json document = json::parse(quoted, nullptr, /*allow_exceptions=*/false);
  if (!document.is_discarded()) {
    return document;
  }
  ErrorLocator locator;
  json::sax_parse(quoted, &locator);
  StringRef before = StringRef(quoted).take_front(locator.position > 0 ? locator.position - 1 : 0);
  size_t line = before.count('\n') + 1;
  size_t column =
      before.size() - (before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1) + 1;
  (void)context.fail(UnknownLoc::get(context.getContext()),
                     "malformed JSON at line " + Twine(line) + ", column " + Twine(column),
                     ImportError::Kind::kMalformed);
  return std::nullopt;
}
