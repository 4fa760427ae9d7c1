// Reading, checking and printing settings.
#include "runtime/base/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sched.h>
#include <thread>

#include "runtime/base/log.h"
#include "runtime/base/path_text.h"
#include "runtime/base/readable.h"
#include "runtime/base/usable_memory.h"

namespace headrace {

namespace {

constexpr SettingInfo kTable[] = {
#define HR_SETTING_INTEGER(name, initial, unit, minimum, maximum, doc)                             \
  {#name,                                                                                          \
   SettingType::kInteger,                                                                          \
   unit,                                                                                           \
   static_cast<double>(minimum),                                                                   \
   static_cast<double>(maximum),                                                                   \
   "",                                                                                             \
   doc},
#define HR_SETTING_BYTES(name, initial, minimum, maximum, doc)                                     \
  {#name,                                                                                          \
   SettingType::kBytes,                                                                            \
   "bytes",                                                                                        \
   static_cast<double>(minimum),                                                                   \
   static_cast<double>(maximum),                                                                   \
   "",                                                                                             \
   doc},
#define HR_SETTING_REAL(name, initial, unit, minimum, maximum, doc)                                \
  {#name, SettingType::kReal, unit, minimum, maximum, "", doc},
#define HR_SETTING_FLAG(name, initial, doc) {#name, SettingType::kFlag, "", 0, 1, "on|off", doc},
#define HR_SETTING_TEXT(name, initial, choices, doc)                                               \
  {#name, SettingType::kText, "", 0, 0, choices, doc},
#define HR_SETTING_PATH(name, initial, doc) {#name, SettingType::kPath, "", 0, 0, "", doc},
#include "runtime/base/settings.def"
};

/// A field of Settings by its place in kTable; the pointer's type is that of its SettingType.
void *fieldAt(Settings &settings, size_t index) {
  void *fields[] = {
#define HR_SETTING_INTEGER(name, initial, unit, minimum, maximum, doc) &settings.name,
#define HR_SETTING_BYTES(name, initial, minimum, maximum, doc) &settings.name,
#define HR_SETTING_REAL(name, initial, unit, minimum, maximum, doc) &settings.name,
#define HR_SETTING_FLAG(name, initial, doc) &settings.name,
#define HR_SETTING_TEXT(name, initial, choices, doc) &settings.name,
#define HR_SETTING_PATH(name, initial, doc) &settings.name,
#include "runtime/base/settings.def"
  };
  return fields[index];
}

std::string joinWords(std::string_view camel, char separator, int (*change)(int)) {
  std::string text;
  for (char letter : camel) {
    if (letter >= 'A' && letter <= 'Z') {
      text += separator;
    }
    text += static_cast<char>(change(static_cast<unsigned char>(letter)));
  }
  return text;
}

int toLower(int letter) { return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter; }
int toUpper(int letter) { return letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter; }

Expected<size_t> findSetting(std::string_view name) {
  for (size_t index = 0; index < std::size(kTable); ++index) {
    std::string flag = settingFlag(kTable[index]);
    if (name == kTable[index].name || name == flag || name == std::string_view(flag).substr(2) ||
        name == settingVariable(kTable[index]) ||
        name == joinWords(kTable[index].name, '_', toLower)) {
      return index;
    }
  }
  return makeError(ErrorKind::kUser, "unknown setting: ", name);
}

bool isChoice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    size_t end = choices.find('|');
    if (choices.substr(0, end) == text) {
      return true;
    }
    choices = end == std::string_view::npos ? std::string_view() : choices.substr(end + 1);
  }
  return false;
}

Expected<double> parseReal(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return makeError(ErrorKind::kUser, "expected a number, got: ", text);
  }
  return value;
}

Expected<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return makeError(ErrorKind::kUser, "expected an integer, got: ", text);
  }
  return value;
}

/// "1024", "0.5": no exponents for integers.
std::string numberText(double value) {
  bool isInteger = value == std::floor(value) && std::abs(value) < 1e18;
  return isInteger ? std::to_string(static_cast<int64_t>(value)) : detail::joinText(value);
}

/// `name`: as the caller spells it.
Status checkRange(const SettingInfo &info, std::string_view name, double value) {
  if (value < info.minimum || value > info.maximum) {
    return makeError(ErrorKind::kUser, name, " must be within ", numberText(info.minimum), " to ",
                     numberText(info.maximum), *info.unit ? " " : "", info.unit,
                     ", got: ", numberText(value));
  }
  return {};
}

} // namespace

std::span<const SettingInfo> settingTable() { return kTable; }

std::string settingFlag(const SettingInfo &setting) {
  return "--" + joinWords(setting.name, '-', toLower);
}

std::string settingVariable(const SettingInfo &setting) {
  return "HEADRACE_" + joinWords(setting.name, '_', toUpper);
}

Status Settings::set(std::string_view name, std::string_view text) {
  HR_ASSIGN_OR_RETURN(size_t index, findSetting(name));
  const SettingInfo &info = kTable[index];
  void *field = fieldAt(*this, index);
  switch (info.type) {
  case SettingType::kInteger:
  case SettingType::kBytes: {
    Expected<int64_t> value =
        info.type == SettingType::kBytes ? parseBytes(text) : parseInteger(text);
    if (!value.ok()) {
      return makeError(ErrorKind::kUser, name, ": ", value.status().message());
    }
    HR_RETURN_IF_ERROR(checkRange(info, name, static_cast<double>(*value)));
    *static_cast<int64_t *>(field) = *value;
    return {};
  }
  case SettingType::kReal: {
    Expected<double> value = parseReal(text);
    if (!value.ok()) {
      return makeError(ErrorKind::kUser, name, ": ", value.status().message());
    }
    HR_RETURN_IF_ERROR(checkRange(info, name, *value));
    *static_cast<double *>(field) = *value;
    return {};
  }
  case SettingType::kFlag:
    if (!isChoice(info.choices, text)) {
      return makeError(ErrorKind::kUser, name, " must be on or off, got: ", text);
    }
    *static_cast<bool *>(field) = text == "on";
    return {};
  case SettingType::kText:
    if (!isChoice(info.choices, text)) {
      return makeError(ErrorKind::kUser, name, " must be one of ", info.choices, ", got: ", text);
    }
    *static_cast<std::string *>(field) = std::string(text);
    return {};
  case SettingType::kPath:
    *static_cast<std::string *>(field) = homePath(std::string(text));
    return {};
  }
  return {};
}

Expected<std::string> Settings::get(std::string_view name) const {
  HR_ASSIGN_OR_RETURN(size_t index, findSetting(name));
  // Only read through here; the table of fields exists once, for the mutable case.
  const void *field = fieldAt(const_cast<Settings &>(*this), index);
  switch (kTable[index].type) {
  case SettingType::kInteger:
  case SettingType::kBytes:
    return std::to_string(*static_cast<const int64_t *>(field));
  case SettingType::kReal:
    return detail::joinText(*static_cast<const double *>(field));
  case SettingType::kFlag:
    return std::string(*static_cast<const bool *>(field) ? "on" : "off");
  case SettingType::kText:
  case SettingType::kPath:
    return *static_cast<const std::string *>(field);
  }
  return std::string();
}

Expected<Settings> Settings::fromEnvironment() {
  Settings settings;
  HR_RETURN_IF_ERROR(settings.readEnvironment());
  return settings;
}

Status Settings::readEnvironment() {
  for (const SettingInfo &info : kTable) {
    std::string variable = settingVariable(info);
    if (const char *text = std::getenv(variable.c_str())) {
      if (Status status = set(info.name, text); !status.ok()) {
        return status.at("environment variable " + variable);
      }
    }
  }
  return {};
}

void Settings::applyLog() const {
  if (std::optional<LogLevel> level = parseLogLevel(log)) { // set() has checked the name
    setLogLevel(*level);
  }
}

int64_t Settings::memoryBytes() const {
  if (memory > 0) {
    return memory;
  }
  return usableMemoryBytes() / 10 * 7;
}

int64_t Settings::runSeed() const {
  if (randomSeed >= 0) {
    return randomSeed;
  }
  std::random_device device;
  return static_cast<int64_t>((uint64_t{device()} << 32 | device()) >> 1);
}

int Settings::workerCount() const {
  if (threads > 0) {
    return static_cast<int>(threads);
  }
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) {
    return CPU_COUNT(&cores);
  }
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

std::string boundText(const SettingInfo &info, double bound) {
  return info.type == SettingType::kReal    ? detail::joinText(bound)
         : info.type == SettingType::kBytes ? formatBytes(bound)
                                            : std::to_string(std::llround(bound));
}

/// What the end of a setting's doc says that a value stands for: "; 0: one a core". Else empty.
std::string_view meaningOf(const SettingInfo &info, const std::string &value) {
  const std::string before = "; " + (value.empty() ? "empty" : value) + ": ";
  const std::string_view doc = info.doc;
  const size_t at = doc.find(before);
  return at == std::string_view::npos ? std::string_view() : doc.substr(at + before.size());
}

} // namespace

std::string settingDefault(const SettingInfo &info) {
  std::string text = *Settings().get(info.name);
  if (std::string_view words = meaningOf(info, text); !words.empty()) {
    return std::string(words);
  }
  return info.type == SettingType::kBytes ? formatBytes(std::stoll(text))
         : text.empty()                   ? "none"
                                          : text;
}

std::string settingRange(const SettingInfo &info) {
  if (info.type == SettingType::kFlag || info.type == SettingType::kText) {
    return info.choices;
  }
  if (info.type == SettingType::kPath) {
    return "PATH";
  }
  std::string top = info.maximum >= 9.2e18 ? "" : boundText(info, info.maximum);
  const bool hasUnit = info.type != SettingType::kBytes && *info.unit;
  std::string unit = hasUnit ? std::string(" ") + info.unit : "";
  return boundText(info, info.minimum) + ".." + top + unit;
}

std::string settingsHelp() {
  std::string text;
  for (const SettingInfo &info : kTable) {
    text += detail::joinText("  ", settingFlag(info), " ", settingRange(info), "\n      ", info.doc,
                             " (default: ", settingDefault(info), ")\n");
  }
  return text;
}

std::string settingsMarkdown() {
  std::string text = "| flag | variable | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const SettingInfo &info : kTable) {
    std::string range = settingRange(info);
    for (size_t at = 0; (at = range.find('|', at)) != std::string::npos; at += 2) {
      range.insert(at, "\\");
    }
    text += detail::joinText("| `", settingFlag(info), "` | `", settingVariable(info), "` | `",
                             settingDefault(info), "` | ", range, " | ", info.doc, " |\n");
  }
  return text;
}

Expected<int64_t> parseBytes(std::string_view text) {
  auto malformed = [&] {
    return makeError(ErrorKind::kUser, "expected bytes such as 512MiB or 4GB, got: ", text);
  };
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) {
    return malformed();
  }
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') {
    unit.remove_prefix(1);
  }
  struct Unit {
    const char *name;
    double factor;
  };
  // In any case: there are no bits, so that "mb" is no other than "MB".
  constexpr Unit kUnits[] = {{"", 1},          {"b", 1},
                             {"k", 1e3},       {"kb", 1e3},
                             {"m", 1e6},       {"mb", 1e6},
                             {"g", 1e9},       {"gb", 1e9},
                             {"t", 1e12},      {"tb", 1e12},
                             {"kib", 1 << 10}, {"mib", 1 << 20},
                             {"gib", 1 << 30}, {"tib", double(int64_t{1} << 40)}};
  std::string small(unit);
  std::transform(small.begin(), small.end(), small.begin(), toLower);
  for (const Unit &candidate : kUnits) {
    if (small == candidate.name) {
      double bytes = value * candidate.factor;
      if (bytes >= 9.2e18) {
        return malformed();
      }
      return static_cast<int64_t>(bytes);
    }
  }
  return malformed();
}

} // namespace headrace
