// Telemetry: spans end up in the trace; limits hold; nothing costs when off.
// Sources: runtime/telemetry/trace_json.cpp
#include "runtime/telemetry/telemetry.h"

#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include <gtest/gtest.h>

using namespace headrace;

TEST(Telemetry, SpansBecomeEvents) {
  VirtualClock clock;
  Telemetry telemetry(clock);
  Track *track = telemetry.track(1, "worker 0");
  for (int64_t step = 1; step <= 2; ++step) {
    ScopedSpan span(track, SpanKind::kTask, "scan \"lineitem\"", TaskId(4));
    span.addRows(100);
    span.addBytes(7);
    clock.advanceTo(step * 2'000'000);
  }
  std::string json = telemetry.traceJson();
  EXPECT_NE(json.find("\"name\":\"scan \\\"lineitem\\\"\",\"cat\":\"task\",\"pid\":1"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"ts\":2000.000,\"dur\":2000.000"), std::string::npos) << json;
  EXPECT_NE(json.find("\"args\":{\"task\":4,\"rows\":100,\"bytes\":7}"), std::string::npos) << json;
}

TEST(Telemetry, ASpanComesBeforeThoseWithinIt) {
  VirtualClock clock;
  Telemetry telemetry(clock);
  Track *track = telemetry.track(0, "worker 0");
  track->add({"inner", SpanKind::kWait, {}, 1001, 1999, 0, 0});
  track->add({"first", SpanKind::kWait, {}, 1001, 1249, 0, 0});
  track->add({"outer", SpanKind::kPhase, {}, 1001, 2001, 0, 0});
  nlohmann::json events = nlohmann::json::parse(telemetry.traceJson())["traceEvents"];
  std::vector<std::string> names;
  for (const nlohmann::json &event : events) {
    if (event["ph"] == "X") {
      names.push_back(event["name"]);
      EXPECT_EQ(event["ts"], 1.0); // in steps of 125 ns
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"outer", "inner", "first"}));
  EXPECT_EQ(events.back()["dur"], 0.125);
}

TEST(Telemetry, TracesOfProcessesBecomeOne) {
  VirtualClock clock;
  std::vector<std::string> traces;
  for (int rank = 0; rank < 3; ++rank) {
    Telemetry telemetry(clock);
    ScopedSpan(telemetry.track(rank, "worker 0"), SpanKind::kIo, "load");
    traces.push_back(telemetry.traceJson());
  }
  nlohmann::json merged = nlohmann::json::parse(mergedTraces(traces));
  std::set<int> ranks;
  for (const nlohmann::json &event : merged["traceEvents"]) {
    if (event["ph"] == "X") {
      ranks.insert(event["pid"].get<int>());
    }
  }
  EXPECT_EQ(ranks, (std::set<int>{0, 1, 2}));
}

TEST(Telemetry, AFileThatCannotBeWrittenIsAnError) {
  Status status = writeTraceFile("/no/such/folder/trace.json", "{}");
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_NE(status.message().find("cannot write the trace: /no/such/folder/trace.json"),
            std::string::npos);
}

TEST(Telemetry, SpansBeyondTheLimitAreCounted) {
  VirtualClock clock;
  Telemetry telemetry(clock, {.spansMax = 2});
  Track *track = telemetry.track(0, "worker");
  for (int count = 0; count < 5; ++count) {
    ScopedSpan span(track, SpanKind::kIo, "read");
  }
  EXPECT_EQ(track->spans().size(), 2u);
  EXPECT_EQ(telemetry.droppedSpans(), 3);
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
        ScopedSpan span(track, SpanKind::kTask, "work");
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(telemetry.droppedSpans(), 0);
  nlohmann::json trace = nlohmann::json::parse(telemetry.traceJson());
  EXPECT_EQ(trace["traceEvents"].size(), 4000u + 4 + 1); // and the names of tracks and process
}
