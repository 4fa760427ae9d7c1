// parseJson: one pass over the text that keeps almost nothing decides whether it may be read at
// all.
#include "model/topology/json_reader.h"

#include <algorithm>

namespace headrace::topology {
namespace {

constexpr size_t kTextBytesMax = size_t{16} << 20;
constexpr size_t kValuesMax = size_t{1} << 18;
constexpr size_t kDepthMax = 32;
constexpr size_t kNameBytesMax = 128;
constexpr size_t kStringBytesMax = 4096;
constexpr size_t kShownMax = 40;

/// Follows the document and stops at the first thing that goes too far.
class TextCheck : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit TextCheck(std::string_view text) : text_(text) {}

  const Status &status() const { return status_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t &) override { return value(); }
  bool string(string_t &text) override {
    if (!value()) {
      return false;
    }
    return text.size() <= kStringBytesMax || refuse("texts of more than ", kStringBytesMax,
                                                    " bytes are not supported, got ", text.size());
  }
  bool binary(binary_t &) override { return value(); }
  bool start_object(size_t) override { return start(Kind::kObject); }
  bool key(string_t &name) override {
    Frame &frame = frames_.back();
    if (name.size() > kNameBytesMax) {
      frame.key.clear();
      return refuse("names of more than ", kNameBytesMax, " bytes are not supported, got ",
                    name.size());
    }
    if (!frame.keys.insert(name).second) {
      frame.key.clear();
      return refuse("name appears twice: ", name);
    }
    frame.key = name;
    return true;
  }
  bool end_object() override { return end(); }
  bool start_array(size_t) override { return start(Kind::kArray); }
  bool end_array() override { return end(); }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    // The word that the reader stopped in or behind; it counts bytes from 1.
    size_t end = std::min(position, text_.size());
    size_t start = end;
    while (start > 0 && isWord(text_[start - 1])) {
      --start;
    }
    while (end < text_.size() && isWord(text_[end])) {
      ++end;
    }
    if (start == end && position <= text_.size()) {
      start -= start > 0 ? 1 : 0; // a mark: "," or "}"
    }
    size_t newlines = static_cast<size_t>(
        std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(start), '\n'));
    size_t lineStart = text_.rfind('\n', start == 0 ? 0 : start - 1);
    lineStart = newlines == 0 ? 0 : lineStart + 1;
    std::string found(text_.substr(start, std::min(end - start, kShownMax)));
    bool nothing = text_.substr(start).find_first_not_of(" \t\r\n") == std::string_view::npos;
    status_ = makeError(ErrorKind::kUser, "line ", newlines + 1, ", column ", start - lineStart + 1,
                        ": not valid JSON",
                        nothing ? ": the text ends too early" : ", got " + shownValue(found));
    return false;
  }

private:
  enum class Kind : uint8_t { kObject, kArray };
  struct Frame {
    Kind kind = Kind::kObject;
    size_t elements = 0;        ///< of an array: begun so far
    std::string key;            ///< of an object: the present one
    std::set<std::string> keys; ///< of an object: seen so far
  };

  static bool isWord(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '+' || c == '-' || c == '_';
  }
  std::string path() const {
    std::string text = "$";
    for (const Frame &frame : frames_) {
      if (frame.kind == Kind::kArray && frame.elements > 0) {
        text += "[" + std::to_string(frame.elements - 1) + "]";
      } else if (!frame.key.empty()) {
        text += "." + frame.key;
      }
    }
    return text;
  }
  template <typename... Parts> bool refuse(const Parts &...parts) {
    status_ = makeError(ErrorKind::kUser, path(), ": ", parts...);
    return false;
  }
  bool value() {
    if (!frames_.empty() && frames_.back().kind == Kind::kArray) {
      ++frames_.back().elements;
    }
    return ++values_ <= kValuesMax ||
           refuse("more than ", kValuesMax,
                  " values are not supported; use templates (groups), which nest at most 16 deep");
  }
  bool start(Kind kind) {
    if (!value()) {
      return false;
    }
    if (frames_.size() == kDepthMax) {
      return refuse("more than ", kDepthMax, " levels of brackets are not supported");
    }
    frames_.push_back({kind, 0, {}, {}});
    return true;
  }
  bool end() {
    frames_.pop_back();
    return true;
  }

  std::string_view text_;
  std::vector<Frame> frames_;
  size_t values_ = 0;
  Status status_;
};

} // namespace

Expected<nlohmann::json> parseJson(std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return makeError(
        ErrorKind::kUser, "$: more than ", kTextBytesMax,
        " bytes are not supported; use templates (groups), which nest at most 16 deep, got ",
        text.size());
  }
  TextCheck check(text);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &check)) {
    return check.status();
  }
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
}

} // namespace headrace::topology
