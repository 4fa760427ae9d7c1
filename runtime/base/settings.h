// Settings: every knob of the runtime, declared once in settings.def.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace headrace {

enum class SettingType : uint8_t { kInteger, kBytes, kReal, kFlag, kText, kPath };

/// What is known of a setting without an instance: for help texts, Python attributes and the docs.
struct SettingInfo {
  const char *name; ///< as in settings.def: exchangeBuffer
  SettingType type;
  const char *unit;
  double minimum;
  double maximum;
  const char *choices; ///< of flags and texts: "a|b|c"
  const char *doc;
};

/// The values of all settings. A plain value: copied into a session, read-only while a plan runs.
/// Thread-safe as any const value is.
class Settings {
public:
#define HR_SETTING_INTEGER(name, initial, unit, minimum, maximum, doc) int64_t name = initial;
#define HR_SETTING_BYTES(name, initial, minimum, maximum, doc) int64_t name = initial;
#define HR_SETTING_REAL(name, initial, unit, minimum, maximum, doc) double name = initial;
#define HR_SETTING_FLAG(name, initial, doc) bool name = initial;
#define HR_SETTING_TEXT(name, initial, choices, doc) std::string name = initial;
#define HR_SETTING_PATH(name, initial, doc) std::string name = initial;
#include "runtime/base/settings.def"

  /// Defaults, then the environment's HEADRACE_* variables; an unusable value is a user error.
  static Expected<Settings> fromEnvironment();
  /// The environment's variables over what is set so far; errors likewise.
  Status readEnvironment();

  /// Sets one from text. The name may be spelled as the field, the flag or the variable.
  /// Fails (kUser) for an unknown name, a malformed value or one out of range; then nothing
  /// changed.
  Status set(std::string_view name, std::string_view text);

  /// The current value as set() would take it.
  Expected<std::string> get(std::string_view name) const;

  /// `memory`, with 0 resolved to 70 % of usableMemoryBytes().
  int64_t memoryBytes() const;
  /// `randomSeed`, with -1 resolved to another number each time.
  int64_t runSeed() const;
  /// `threads`, with 0 resolved to the cores this process may use.
  int workerCount() const;
  /// Makes `log` the process's level.
  void applyLog() const;
};

/// All settings in the order of settings.def.
std::span<const SettingInfo> settingTable();

/// "--exchange-buffer" and "HEADRACE_EXCHANGE_BUFFER" for exchangeBuffer.
std::string settingFlag(const SettingInfo &setting);
std::string settingVariable(const SettingInfo &setting);

/// "1..1024 threads", "on|off", "PATH": what values it takes.
std::string settingRange(const SettingInfo &setting);
/// "1 MiB", "4", "none": its default, as a user reads it.
std::string settingDefault(const SettingInfo &setting);

/// A line for each, for the help of a command: flag, range, meaning, default.
std::string settingsHelp();

/// The table as Markdown, for the documentation page.
std::string settingsMarkdown();

/// Reads 1048576, 512MiB, 4GB, 1.5 GiB. Fails (kUser) for anything else.
Expected<int64_t> parseBytes(std::string_view text);

} // namespace headrace
