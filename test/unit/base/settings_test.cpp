// The settings table: names derived once, ranges checked, environment read.
#include "runtime/base/settings.h"

#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>

using namespace headrace;

TEST(Settings, NamesAreDerivedFromTheTable) {
  std::set<std::string> flags;
  for (const SettingInfo &info : settingTable()) {
    EXPECT_TRUE(flags.insert(settingFlag(info)).second);
    EXPECT_NE(settingsMarkdown().find("`" + settingVariable(info) + "`"), std::string::npos);
  }
  EXPECT_TRUE(flags.count("--exchange-buffer"));
}

TEST(Settings, EveryDefaultIsAcceptedByItsOwnCheck) {
  Settings settings;
  for (const SettingInfo &info : settingTable()) {
    Status status = settings.set(info.name, *settings.get(info.name));
    EXPECT_TRUE(status.ok()) << status.toString();
  }
}

TEST(Settings, SetByFieldFlagAndVariable) {
  Settings settings;
  ASSERT_TRUE(settings.set("exchangeBuffer", "64KiB").ok());
  EXPECT_EQ(settings.exchangeBuffer, 64 << 10);
  ASSERT_TRUE(settings.set("--exchange-buffer", "1MB").ok());
  EXPECT_EQ(settings.exchangeBuffer, 1'000'000);
  ASSERT_TRUE(settings.set("HEADRACE_DETERMINISTIC", "on").ok());
  EXPECT_TRUE(settings.deterministic);
  EXPECT_EQ(*settings.get("deterministic"), "on");
  ASSERT_TRUE(settings.set("random_seed", "3").ok());
  EXPECT_EQ(settings.randomSeed, 3);
}

TEST(Settings, EachRunHasASeed) {
  Settings settings;
  EXPECT_GE(settings.runSeed(), 0);
  EXPECT_NE(settings.runSeed(), settings.runSeed());
  settings.randomSeed = 7;
  EXPECT_EQ(settings.runSeed(), 7);
}

TEST(Settings, RefusesWhatItCannotUse) {
  Settings settings;
  auto message = [&](const char *name, const char *text) {
    Status status = settings.set(name, text);
    EXPECT_EQ(status.kind(), ErrorKind::kUser);
    return status.message();
  };
  EXPECT_EQ(message("speed", "1"), "unknown setting: speed");
  EXPECT_EQ(message("threads", "two"), "threads: expected an integer, got: two");
  EXPECT_EQ(message("--ranks", "0"), "--ranks must be within 1 to 1024 ranks, got: 0");
  EXPECT_EQ(message("ranks", "1000000"), "ranks must be within 1 to 1024 ranks, got: 1000000");
  EXPECT_EQ(message("peerTimeout", "-5"), "peerTimeout must be within 0 to 86400 seconds, got: -5");
  EXPECT_EQ(message("memory", "4 gigs"),
            "memory: expected bytes such as 512MiB or 4GB, got: 4 gigs");
  EXPECT_EQ(message("checksums", "yes"), "checksums must be on or off, got: yes");
  EXPECT_EQ(message("log", "loud"), "log must be one of off|error|warning|info|debug, got: loud");
  EXPECT_EQ(settings.ranks, 1);
}

TEST(Settings, EnvironmentOverridesDefaults) {
  setenv("HEADRACE_EXCHANGE_WINDOW", "8", 1);
  Expected<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->exchangeWindow, 8);
  setenv("HEADRACE_EXCHANGE_WINDOW", "many", 1);
  Expected<Settings> broken = Settings::fromEnvironment();
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.status().place(), "environment variable HEADRACE_EXCHANGE_WINDOW");
  unsetenv("HEADRACE_EXCHANGE_WINDOW");
}

TEST(Settings, PathsBeginAtHome) {
  Settings settings;
  ASSERT_TRUE(settings.set("--trace", "~/t.json").ok());
  EXPECT_EQ(settings.trace, std::string(std::getenv("HOME")) + "/t.json");
  ASSERT_TRUE(settings.set("spillDirectory", "a b/~").ok());
  EXPECT_EQ(settings.spillDirectory, "a b/~");
  for (const SettingInfo &info : settingTable()) {
    EXPECT_FALSE(settingRange(info).empty()) << info.name;
    bool isPath = info.type == SettingType::kPath;
    EXPECT_EQ(settingRange(info) == "PATH", isPath) << info.name;
  }
}

TEST(Settings, ADefaultIsShownAsWhatItStandsFor) {
  std::map<std::string, std::string> shown;
  for (const SettingInfo &info : settingTable()) {
    shown[info.name] = settingDefault(info);
    EXPECT_NE(shown[info.name], "0 B") << info.name;
    EXPECT_EQ(shown[info.name] == "none", std::string(info.name) == "trace") << info.name;
  }
  EXPECT_EQ(shown["memory"], "70 % of the machine's or its control group's");
  EXPECT_EQ(shown["deviceMemory"], "90 % of it");
  EXPECT_EQ(shown["spillDirectory"], "$TMPDIR, or /var/tmp");
  EXPECT_EQ(shown["threads"], "one a core");
  EXPECT_EQ(shown["peerTimeout"], "8");
}

TEST(Settings, ZeroMeansTheMachine) {
  Settings settings;
  EXPECT_GT(settings.memoryBytes(), int64_t{64} << 20);
  EXPECT_GE(settings.workerCount(), 1);
  settings.threads = 3;
  settings.memory = 4096;
  EXPECT_EQ(settings.workerCount(), 3);
  EXPECT_EQ(settings.memoryBytes(), 4096);
}

TEST(Settings, Bytes) {
  EXPECT_EQ(*parseBytes("1.5 GiB"), int64_t{3} << 29);
  EXPECT_EQ(*parseBytes("0"), 0);
  for (const char *thousand : {"1kB", "1KB", "1kb", "1K", "1 k", "1000B", "1000b"}) {
    EXPECT_EQ(*parseBytes(thousand), 1000) << thousand;
  }
  for (const char *kibi : {"1KiB", "1kiB", "1kib", "1KIB", "1024"}) {
    EXPECT_EQ(*parseBytes(kibi), 1024) << kibi;
  }
  EXPECT_EQ(*parseBytes("2m"), 2'000'000);
  EXPECT_EQ(*parseBytes("2gb"), 2'000'000'000);
  EXPECT_EQ(*parseBytes("1tib"), int64_t{1} << 40);
  EXPECT_FALSE(parseBytes("-1").ok());
  EXPECT_FALSE(parseBytes("").ok());
  EXPECT_FALSE(parseBytes("1e30").ok());
}
