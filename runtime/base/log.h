// Logging to standard error: off unless asked for (setting `log`), one line a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace headrace {

/// How much is said; each level includes those before it.
enum class LogLevel : uint8_t { kOff, kError, kWarning, kInfo, kDebug };

/// "off", "error", "warning", "info" or "debug".
const char *logLevelName(LogLevel level);
std::optional<LogLevel> parseLogLevel(std::string_view name);

/// The process's level. Thread-safe.
void setLogLevel(LogLevel level);

namespace detail {
extern std::atomic<LogLevel> currentLogLevel;
void writeLog(LogLevel level, const std::string &text);
} // namespace detail

inline bool logs(LogLevel level) {
  return level <= detail::currentLogLevel.load(std::memory_order_relaxed);
}

/// log(LogLevel::kInfo, "plan loaded: ", path): the parts are only formatted if the level is on.
template <typename... Parts> void log(LogLevel level, const Parts &...parts) {
  if (logs(level)) {
    detail::writeLog(level, detail::joinText(parts...));
  }
}

} // namespace headrace
