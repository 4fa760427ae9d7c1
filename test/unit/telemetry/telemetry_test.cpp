// Telemetry: spans end up in the trace and the totals; limits hold; nothing costs when off.
#include "runtime/telemetry/telemetry.h"

#include <thread>

#include <gtest/gtest.h>

using namespace headrace;

TEST(Telemetry, SpansBecomeTotalsAndTrace) {
  VirtualClock clock;
  Telemetry telemetry(clock);
  Track *track = telemetry.track(1, "worker 0");
  for (int64_t step = 1; step <= 2; ++step) {
    ScopedSpan span(track, SpanKind::kTask, telemetry.intern("scan \"lineitem\""), TaskId(4));
    span.addRows(100);
    clock.advanceTo(step * 2'000'000);
  }
  {
    ScopedSpan wait(track, SpanKind::kWait, "credits", TaskId(4));
    clock.advanceTo(5'000'000);
  }
  telemetry.counter(1, "bytes sent").add(7);
  telemetry.counter(1, "bytes sent").add(5);

  std::vector<Telemetry::Total> totals = telemetry.totals();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].count, 2);
  EXPECT_EQ(totals[0].nanoseconds, 4'000'000);
  EXPECT_EQ(totals[0].longestNanoseconds, 2'000'000);
  EXPECT_EQ(totals[0].rows, 200);
  EXPECT_EQ(totals[1].kind, SpanKind::kWait);
  EXPECT_EQ(totals[1].nanoseconds, 1'000'000);

  std::string json = telemetry.traceJson();
  EXPECT_NE(json.find("\"name\":\"scan \\\"lineitem\\\"\",\"cat\":\"task\",\"pid\":1"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"ts\":2000.000,\"dur\":2000.000"), std::string::npos) << json;
  EXPECT_NE(json.find("\"args\":{\"value\":12}"), std::string::npos) << json;
  EXPECT_NE(telemetry.summary().find("rank 1  bytes sent: 12\n"), std::string::npos);
}

TEST(Telemetry, SpansBeyondTheLimitAreCounted) {
  VirtualClock clock;
  Telemetry telemetry(clock, {.spansMax = 2});
  Track *track = telemetry.track(0, "worker");
  for (int count = 0; count < 5; ++count) {
    ScopedSpan span(track, SpanKind::kIo, "read");
  }
  EXPECT_EQ(track->spans().size(), 2u);
  EXPECT_EQ(track->droppedSpans(), 3);
  EXPECT_NE(telemetry.summary().find("--trace-events): 3"), std::string::npos);
}

TEST(Telemetry, NullTrackRecordsNothing) {
  ScopedSpan span(nullptr, SpanKind::kTask, "nothing");
  span.addRows(1);
}

TEST(Telemetry, ManyThreads) {
  Telemetry telemetry(RealClock::instance());
  std::vector<std::thread> threads;
  for (int index = 0; index < 4; ++index) {
    threads.emplace_back([&telemetry] {
      Track *track = telemetry.track(0, "worker");
      for (int count = 0; count < 1000; ++count) {
        ScopedSpan span(track, SpanKind::kTask, telemetry.intern("work"));
        telemetry.counter(0, "morsels").add(1);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(telemetry.counter(0, "morsels").value(), 4000);
  EXPECT_EQ(telemetry.totals().at(0).count, 4000);
}
