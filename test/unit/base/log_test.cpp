// Logging: silent by default, one line a message, parts not formatted when off.
#include "runtime/base/log.h"

#include <gtest/gtest.h>

using namespace headrace;

namespace {
struct CountsFormatting {
  int &count;
  friend std::ostream &operator<<(std::ostream &out, const CountsFormatting &part) {
    ++part.count;
    return out << "part";
  }
};
} // namespace

TEST(Log, OffByDefaultAndThenByLevel) {
  int formatted = 0;
  testing::internal::CaptureStderr();
  log(LogLevel::kError, CountsFormatting{formatted});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(formatted, 0);

  setLogLevel(LogLevel::kWarning);
  testing::internal::CaptureStderr();
  log(LogLevel::kWarning, "low on memory: ", 3);
  log(LogLevel::kInfo, CountsFormatting{formatted});
  std::string text = testing::internal::GetCapturedStderr();
  setLogLevel(LogLevel::kOff);
  EXPECT_NE(text.find("warning: low on memory: 3\n"), std::string::npos) << text;
  EXPECT_EQ(formatted, 0);
}

TEST(Log, LevelsHaveNames) {
  EXPECT_EQ(parseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(parseLogLevel("loud"), std::nullopt);
  EXPECT_STREQ(logLevelName(LogLevel::kInfo), "info");
}
