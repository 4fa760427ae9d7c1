// A compilation that is given up ends with an error, and the session compiles the next program.
#include "passes/driver/session.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace::driver {
namespace {

/// The union of many scans: a kernel for each.
SessionRequest unionOf(int scans) {
  const std::string result = R"(!frame.table<"u": i64>)";
  std::string text = "func.func @main() -> " + result + " {\n", inputs, types;
  for (int scan = 0; scan < scans; ++scan) {
    const std::string number = std::to_string(scan), comma = scan > 0 ? ", " : "";
    const std::string type = "!frame.table<\"a" + number + "\": i64>";
    text += "%" + number + " = frame.scan \"t" + number + "\" [\"a\"] : " + type + "\n";
    inputs += comma + "%" + number;
    types += comma + type;
  }
  text += "%u = frame.union " + inputs + " : " + types + " -> " + result;
  SessionRequest request;
  request.mlir = text + "\nreturn %u : " + result + "\n}\n";
  return request;
}

TEST(CompilerSession, what_is_interrupted_ends_with_an_error) {
  CompilerSession session;
  int asked = 0;
  SessionAnswer answer = session.compileMlir(unionOf(4000), [&] { return ++asked > 0; });
  EXPECT_GT(asked, 0);
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.errorKind, "cancelled");
  EXPECT_EQ(answer.error, "the compilation was stopped");
  EXPECT_TRUE(answer.planJson.empty());
  answer = session.compileMlir(unionOf(2), [] { return false; });
  EXPECT_TRUE(answer.ok) << answer.error;
}

TEST(CompilerSession, text_is_asked_of_phases_that_there_are) {
  SessionRequest request = unionOf(2);
  request.dumpPhases = {"form", ""};
  SessionAnswer answer = CompilerSession().compileMlir(request, [] { return false; });
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.errorKind, "user");
  EXPECT_EQ(answer.error, "no such phase (import, optimize, shard, form, lower, schedule): ");
}

} // namespace
} // namespace headrace::driver
