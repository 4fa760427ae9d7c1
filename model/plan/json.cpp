// JSON writer and reader over the field lists of fields.h.
#include "model/plan/json.h"

#include "model/plan/fields.h"
#include "model/plan/names.h"
#include "runtime/base/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <set>
#include <type_traits>

namespace headrace::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHexDigits[] = "0123456789abcdef";

std::string toHex(const uint8_t *data, size_t size) {
  std::string text(size * 2, '0');
  for (size_t i = 0; i < size; ++i) {
    text[2 * i] = kHexDigits[data[i] >> 4];
    text[2 * i + 1] = kHexDigits[data[i] & 15];
  }
  return text;
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool fromHex(const std::string &text, std::vector<uint8_t> &bytes) {
  if (text.size() % 2 != 0) {
    return false;
  }
  bytes.clear();
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = hexDigit(text[i]);
    int low = hexDigit(text[i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return true;
}

// ---- writing ----

template <typename T> Json write(const T &value);

/// Collects the fields that differ from those of a default-made struct.
class Writer {
public:
  template <typename T> void operator()(const char *name, const T &value) {
    json_[name] = write(value);
  }
  void bytes(const char *name, const std::vector<uint8_t> &value) {
    json_[name] = toHex(value.data(), value.size());
  }
  void kindOf(const char *name, const Task &task) { json_[name] = nameOf(task.kind()); }
  Json take() { return std::move(json_); }

private:
  Json json_ = Json::object();
};

Json writeText(const std::string &value) {
  if (utf8::isValid(value)) {
    return value;
  }
  return Json{{"hex", toHex(reinterpret_cast<const uint8_t *>(value.data()), value.size())}};
}

Json writeReal(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// The library takes -0.0 for 0.0.
bool sameValue(const Json &a, const Json &b) {
  return a == b &&
         !(a.is_number_float() && std::signbit(a.get<double>()) != std::signbit(b.get<double>()));
}

/// What fields that are not written have.
template <typename T> T defaultsFor(const T &) { return {}; }
Task defaultsFor(const Task &task) {
  Task made;
  std::visit([&](const auto &work) { made.work = std::decay_t<decltype(work)>(); }, task.work);
  return made;
}

template <typename T> Json writeStruct(const T &value) {
  auto all = [](T copy) {
    Writer writer;
    visitFields(writer, copy);
    return writer.take();
  };
  Json fields = all(value);
  // What a struct is stands there, be it the default or not.
  constexpr std::string_view kAlways[] = {"schemaMajor", "schemaMinor", "kind", "operation",
                                          "exchange"};
  Json kept = Json::object();
  const Json defaults = all(defaultsFor(value));
  for (auto &[key, field] : fields.items()) {
    bool always = std::find(std::begin(kAlways), std::end(kAlways), key) != std::end(kAlways);
    if (always || !sameValue(field, defaults[key])) {
      kept[key] = std::move(field);
    }
  }
  return kept;
}

template <typename T> struct IsVector : std::false_type {};
template <typename T> struct IsVector<std::vector<T>> : std::true_type {};

template <typename T> Json write(const T &value) {
  if constexpr (std::is_enum_v<T>) {
    return nameOf(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return writeReal(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return writeText(value);
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto &element : value) {
      array.push_back(write(element));
    }
    return array;
  } else {
    return writeStruct(value);
  }
}

// ---- reading ----

/// Shared by a whole read: the first error, and whether unknown fields may be from a newer writer.
struct ReadContext {
  Status status;
  bool newerMinor = false;

  void fail(const std::string &path, const std::string &what) {
    if (status.ok()) {
      status = makeError(ErrorKind::kCorrupt, path, ": ", what);
    }
  }
};

/// A value as it stands in a message, cut to a readable length. Never recursive: nesting is the
/// sender's.
std::string shown(const Json &value) {
  if (value.is_structured()) {
    return value.is_array() ? "an array" : "an object";
  }
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

template <typename T>
void read(ReadContext &context, const std::string &path, const Json &from, T &to);

class Reader {
public:
  Reader(ReadContext &context, const std::string &path, const Json &object)
      : context_(context), path_(path), object_(object) {}

  template <typename T> void operator()(const char *name, T &value) {
    if (const Json *field = find(name)) {
      read(context_, path_ + "." + name, *field, value);
    }
  }
  void bytes(const char *name, std::vector<uint8_t> &value) {
    const Json *field = find(name);
    if (!field) {
      return;
    }
    if (!field->is_string() || !fromHex(field->get_ref<const std::string &>(), value)) {
      context_.fail(path_ + "." + name, "expected hex digits, two a byte, got " + shown(*field));
    }
  }
  /// Leaves the task with the defaults of its kind.
  void kindOf(const char *name, Task &task) {
    const Json *field = find(name);
    std::optional<TaskKind> kind;
    if (field && field->is_string()) {
      kind = enumOf<TaskKind>(field->get_ref<const std::string &>());
    }
    if (!kind) {
      context_.fail(path_ + "." + name, field ? "unknown name: " + shown(*field) : "missing");
      return;
    }
    setKind<0>(task, static_cast<size_t>(*kind));
  }
  void refuseUnknown() {
    for (const auto &[key, value] : object_.items()) {
      if (!seen_.count(key) && !context_.newerMinor) {
        context_.fail(path_ + "." + key, "unknown field");
      }
    }
  }

private:
  template <size_t index> static void setKind(Task &task, size_t kind) {
    if constexpr (index < std::variant_size_v<TaskWork>) {
      index == kind ? void(task.work.emplace<index>()) : setKind<index + 1>(task, kind);
    }
  }
  const Json *find(const char *name) {
    seen_.insert(name);
    auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  ReadContext &context_;
  const std::string &path_;
  const Json &object_;
  std::set<std::string> seen_;
};

template <typename T>
void readInteger(ReadContext &context, const std::string &path, const Json &from, T &to) {
  auto store = [&](auto value) {
    if (std::in_range<T>(value)) {
      to = static_cast<T>(value);
    } else {
      context.fail(path, "integer out of range, got " + shown(from));
    }
  };
  if (from.is_number_unsigned()) {
    store(from.get<uint64_t>());
  } else if (from.is_number_integer()) {
    store(from.get<int64_t>());
  } else {
    context.fail(path, "expected an integer, got " + shown(from));
  }
}

void readReal(ReadContext &context, const std::string &path, const Json &from, double &to) {
  if (from.is_number()) {
    to = from.get<double>();
  } else if (from == "nan") {
    to = std::numeric_limits<double>::quiet_NaN();
  } else if (from == "inf" || from == "-inf") {
    to = from == "inf" ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
  } else {
    context.fail(path, "expected a number, got " + shown(from));
  }
}

void readText(ReadContext &context, const std::string &path, const Json &from, std::string &to) {
  std::vector<uint8_t> bytes;
  if (from.is_string()) {
    to = from.get<std::string>();
  } else if (from.is_object() && from.size() == 1 && from.contains("hex") &&
             from["hex"].is_string() &&
             fromHex(from["hex"].get_ref<const std::string &>(), bytes)) {
    to.assign(bytes.begin(), bytes.end());
  } else {
    context.fail(path, "expected a string, got " + shown(from));
  }
}

template <typename T>
void read(ReadContext &context, const std::string &path, const Json &from, T &to) {
  if (!context.status.ok()) {
    return;
  }
  if constexpr (std::is_enum_v<T>) {
    std::optional<T> value;
    if (from.is_string()) {
      value = enumOf<T>(from.get_ref<const std::string &>());
    }
    if (value) {
      to = *value;
    } else {
      context.fail(path, "unknown name: " + shown(from));
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    if (from.is_boolean()) {
      to = from.get<bool>();
    } else {
      context.fail(path, "expected true or false, got " + shown(from));
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    readReal(context, path, from, to);
  } else if constexpr (std::is_integral_v<T>) {
    readInteger(context, path, from, to);
  } else if constexpr (std::is_same_v<T, std::string>) {
    readText(context, path, from, to);
  } else if constexpr (IsVector<T>::value) {
    if (!from.is_array()) {
      return context.fail(path, "expected an array, got " + shown(from));
    }
    to.clear();
    for (size_t i = 0; i < from.size() && context.status.ok(); ++i) {
      to.emplace_back();
      read(context, path + "[" + std::to_string(i) + "]", from[i], to.back());
    }
  } else {
    if (!from.is_object()) {
      return context.fail(path, "expected an object, got " + shown(from));
    }
    Reader reader(context, path, from);
    visitFields(reader, to);
    reader.refuseUnknown();
  }
}

/// The version first: a plan of another major version may have any shape otherwise.
Status readVersion(ReadContext &context, const Json &json) {
  if (!json.is_object()) {
    return makeError(ErrorKind::kCorrupt, "plan: expected an object, got ", shown(json));
  }
  auto major = json.find("schemaMajor");
  auto minor = json.find("schemaMinor");
  if (major == json.end()) {
    return makeError(ErrorKind::kCorrupt, "plan.schemaMajor: missing; is this a plan?");
  }
  int majorValue = 0;
  int minorValue = 0;
  read(context, "plan.schemaMajor", *major, majorValue);
  if (minor != json.end()) {
    read(context, "plan.schemaMinor", *minor, minorValue);
  }
  HR_RETURN_IF_ERROR(context.status);
  if (majorValue != kSchemaMajor) {
    return makeError(ErrorKind::kMismatch, "plan.schemaMajor: this build reads version ",
                     kSchemaMajor, ", recompile the program; got ", majorValue);
  }
  context.newerMinor = minorValue > kSchemaMinor;
  return {};
}

} // namespace

std::string toJson(const Plan &plan, JsonLayout layout) {
  return write(plan).dump(layout == JsonLayout::kIndented ? 1 : -1);
}

Expected<Plan> fromJson(std::string_view text) {
  Json json;
  // The library reports where the text breaks only by exception.
  try {
    json = Json::parse(text);
  } catch (const nlohmann::json::exception &error) {
    std::string what = error.what();
    return makeError(ErrorKind::kCorrupt, "plan: not JSON: ", what.substr(what.find("] ") + 2));
  }
  ReadContext context;
  HR_RETURN_IF_ERROR(readVersion(context, json));
  Plan plan;
  read(context, "plan", json, plan);
  HR_RETURN_IF_ERROR(context.status);
  return plan;
}

std::string explanationJson(const Explanation &explanation) { return write(explanation).dump(); }

Expected<Explanation> explanationFromJson(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  ReadContext context;
  Explanation explanation;
  read(context, "explanation", json, explanation);
  HR_RETURN_IF_ERROR(context.status);
  return explanation;
}

} // namespace headrace::plan
