// Writes log lines: one write a line, so that lines of threads and of ranks do not mix.
#include "runtime/base/log.h"

#include <cstdio>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"

namespace headrace {

std::atomic<LogLevel> detail::currentLogLevel{LogLevel::kOff};

namespace {
constexpr const char *kNames[] = {"off", "error", "warning", "info", "debug"};
} // namespace

const char *logLevelName(LogLevel level) { return kNames[static_cast<size_t>(level)]; }

std::optional<LogLevel> parseLogLevel(std::string_view name) {
  for (size_t index = 0; index < std::size(kNames); ++index) {
    if (name == kNames[index]) {
      return static_cast<LogLevel>(index);
    }
  }
  return std::nullopt;
}

void setLogLevel(LogLevel level) {
  detail::currentLogLevel.store(level, std::memory_order_relaxed);
}

void detail::writeLog(LogLevel level, const std::string &text) {
  char stamp[96];
  double seconds = static_cast<double>(RealClock::instance().nowNanoseconds()) * 1e-9;
  int length = std::snprintf(stamp, sizeof(stamp), "headrace %.6f [%d] %s: ", seconds,
                             static_cast<int>(getpid()), logLevelName(level));
  std::string line(stamp, static_cast<size_t>(length));
  if (currentWork) {
    line += std::string(currentWork) + ": ";
  }
  line += text;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace headrace
