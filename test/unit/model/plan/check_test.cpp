// Every rule of the checker refuses the least change that breaks it, and says rule, task and place.
#include "model/plan/check.h"
#include "model/plan/reservations.h"
#include "test/unit/model/plan/sample_plan.h"

#include <functional>
#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

/// The message for the sample plan after `change`, or "ok".
std::string checked(const std::function<void(Plan &)> &change, const CheckOptions &options = {}) {
  Plan plan = samplePlan();
  change(plan);
  Status status = check(plan, options);
  return status.ok() ? "ok" : status.message();
}

void addTask(Plan &plan, TaskKind kind, std::vector<int32_t> after,
             const std::function<void(Task &)> &change = {}) {
  Task task;
  task.kind = kind;
  task.after = std::move(after);
  if (change) {
    change(task);
  }
  plan.tasks.push_back(task);
}

TEST(PlanCheck, AcceptsTheSample) {
  EXPECT_EQ(checked([](Plan &) {}), "ok");
}

TEST(PlanCheck, Version) {
  EXPECT_NE(checked([](Plan &p) { p.schemaMajor = 7; }).find("rule version: plan schema"),
            std::string::npos);
  EXPECT_NE(checked([](Plan &p) { p.abiVersion = 99; }).find("rule version: kernel ABI"),
            std::string::npos);
  EXPECT_NE(checked([](Plan &p) {
              p.importsHash = "0";
            }).find("rule version: imports: this build offers catalogue "),
            std::string::npos);
  EXPECT_EQ(checked([](Plan &p) { p.isa = "z80"; }), "rule version: unknown instruction set: z80");
  Plan plan = samplePlan();
  plan.abiVersion = 99;
  EXPECT_EQ(check(plan).kind(), ErrorKind::kMismatch);
}

TEST(PlanCheck, Range) {
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].kernel = 5; }),
            "rule range: task 3 'probe' (run): no such kernel: 5");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].after = {-1}; }),
            "rule range: task 3 'probe' (run): no such task: -1");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[0].outputStream = 9; }),
            "rule range: task 0 'load u' (load): no such stream: 9");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].states[0].state = 2; }),
            "rule range: task 3 'probe' (run): no such state: 2");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].place = 2; }),
            "rule range: task 3 'probe' (run): no such place: 2");
  EXPECT_EQ(checked([](Plan &p) { p.kernels[0].places = {2}; }),
            "rule range: kernel 0 'build': no such place: 2");
  EXPECT_EQ(checked([](Plan &p) { p.states[1].mergeKernel = 8; }),
            "rule range: state 1 'sum': no such kernel: 8");
  EXPECT_EQ(checked([](Plan &p) { p.mesh = {{"data", 0}}; }),
            "rule range: mesh axis is empty: data");
  EXPECT_EQ(checked([](Plan &p) { p.buffers = {{"b", "host", "f16", {2}}}; }),
            "rule range: buffer 0 'b': unknown element: f16");
  EXPECT_EQ(checked([](Plan &p) { p.buffers = {{"b", "host", "f32", {2}, 1}}; }),
            "rule range: buffer 0 'b': no such dimension: 1");
  EXPECT_EQ(checked([](Plan &p) { p.buffers = {{"b", "host", "f32", {-2}}}; }),
            "rule range: buffer 0 'b': extent, got -2");
  EXPECT_NE(checked([](Plan &p) { p.holes.resize(kElementsMax + 1); }).find("rule range: a table"),
            std::string::npos);
}

TEST(PlanCheck, StreamsOfSeveralWriters) {
  auto second = [](Plan &p) {
    p.streams[2].writers = 2;
    Task more = p.tasks[3];
    more.name = "another probe";
    more.inputStream = kNone;
    more.sourceState = 0;
    p.tasks.push_back(more);
  };
  EXPECT_EQ(checked([&](Plan &p) {
              second(p);
              p.streams[2].writers = 3;
            })
                .find("rule endpoints: stream 2 'joined' needs as many run tasks that write it as "
                      "it has writers, 3"),
            0u);
  EXPECT_NE(
      checked([](Plan &p) { p.streams[2].writers = 2; }).find("rule endpoints: stream 2 'joined'"),
      std::string::npos);
}

TEST(PlanCheck, LiteralRows) {
  auto values = [](Plan &p, size_t cells) {
    p.slots[0].kind = "values";
    p.slots[0].cells.resize(cells);
  };
  EXPECT_EQ(checked([&](Plan &p) { values(p, 3); }), "ok");
  EXPECT_EQ(checked([&](Plan &p) { values(p, 0); }), "ok");
  EXPECT_EQ(checked([&](Plan &p) {
              values(p, 3);
              p.slots[0].columns.clear();
            }),
            "rule operands: task 0 'load u' (load): needs one cell per column in every row of its "
            "values");
}

TEST(PlanCheck, Layout) {
  EXPECT_EQ(checked([](Plan &p) { p.states[0].fields[0].offset = 17; }),
            "rule layout: state 0 'u table': field 'a' ends at byte 25 of a row of 24");
  EXPECT_EQ(
      checked([](Plan &p) { p.states[0].fields[0].offset = 8; }),
      "rule layout: state 0 'u table': field 'a' overlaps another field or the header at byte 8");
  EXPECT_EQ(checked([](Plan &p) { p.states[1].identity.pop_back(); }),
            "rule layout: state 1 'sum': identity of 16 bytes expected, got 15");
  EXPECT_EQ(checked([](Plan &p) { p.states[0].rowBytes = 15; }),
            "rule layout: state 0 'u table': row too short for its header, got 15");
  EXPECT_EQ(checked([](Plan &p) { p.states[0].rowBytes = 1u << 21; }),
            "rule layout: state 0 'u table': a row of more than 1 MiB, got 2097152");
  EXPECT_NE(checked([](Plan &p) {
              p.kernels[1].literals[1].offset = 24;
            }).find("rule layout: kernel 1 'probe': literal outside"),
            std::string::npos);
  EXPECT_EQ(checked([](Plan &p) { p.kernels[1].literals[0].offset = 24; }),
            "rule layout: kernel 1 'probe': literals overlap at offset 24");
  EXPECT_NE(checked([](Plan &p) {
              p.states[1].direct = true;
            }).find("rule layout: state 1 'sum': direct"),
            std::string::npos);
  EXPECT_EQ(checked([](Plan &p) {
              p.states[0].direct = true;
              p.states[0].directKeyOffset = 16;
            }),
            "rule range: state 0 'u table': extent of a direct join table, got 0");
}

TEST(PlanCheck, Operands) {
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].kernel = kNone; }),
            "rule operands: task 3 'probe' (run): needs a kernel");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].sourceState = 0; }),
            "rule operands: task 3 'probe' (run): needs exactly one source: a stream or a state");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[4].channel = kNone; }),
            "rule operands: task 4 'gather' (exchange): needs an input stream, an output stream "
            "and a channel");
  EXPECT_EQ(checked([](Plan &p) { p.slots[0].kind = "tensor"; }),
            "rule operands: task 0 'load u' (load): needs one output buffer for a tensor");
  EXPECT_EQ(checked([](Plan &p) { p.states[0].kind = StateKind::kSortBuffer; }),
            "rule operands: state 0 'u table': a sort buffer needs a compareKernel");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[4].exchange = ExchangeKind::kHash; }),
            "rule operands: task 4 'gather' (exchange): a hash exchange, and only it, reads a "
            "partitioned run: task 3 'probe' (run)");
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[6].partitioned = true; }),
      "rule operands: task 6 'emit' (run): partitioned rows go to a hash exchange, got task 7 "
      "'result' (result)");
  EXPECT_EQ(checked([](Plan &p) { addTask(p, TaskKind::kRelease, {}); }),
            "rule operands: task 8 (release): needs the reserve task that it ends");
  EXPECT_EQ(checked([](Plan &p) { p.kernels[0].symbol = ""; }),
            "rule operands: kernel 0 '': no symbol");
  EXPECT_EQ(checked([](Plan &p) {
              p.tasks[5].kind = TaskKind::kResult;
              p.tasks[6].after = {};
              p.tasks[6].sourceState = kNone;
              p.tasks[6].inputStream = 1;
              p.tasks[3].kind = TaskKind::kCommit;
            }).substr(0, 14),
            "rule endpoints");
}

TEST(PlanCheck, LoadsFeedRuns) {
  EXPECT_EQ(
      checked([](Plan &p) {
        p.streams.push_back(p.streams[0]);
        addTask(p, TaskKind::kLoad, {}, [](Task &t) {
          t.slot = 0;
          t.outputStream = 5;
        });
        p.streams.push_back(p.streams[0]);
        addTask(p, TaskKind::kExchange, {}, [](Task &t) {
          t.exchange = ExchangeKind::kBroadcast;
          t.channel = 1;
          t.inputStream = 5;
          t.outputStream = 6;
        });
        addTask(p, TaskKind::kRun, {}, [](Task &t) {
          t.kernel = 0;
          t.inputStream = 6;
          t.states = {{0, StateUse::kPerWorker}};
        });
        p.tasks[3].after = {1, 10};
      }),
      "rule operands: task 9 (exchange): encoded morsels of a load are read by run tasks only");
}

TEST(PlanCheck, Region) {
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].body = {1}; }),
            "rule region: task 3 'probe' (run): only choose and repeat tasks have bodies");
  EXPECT_EQ(checked([](Plan &p) {
              addTask(p, TaskKind::kCommit, {});
              addTask(p, TaskKind::kRepeat, {}, [](Task &t) { t.body = {8}; });
            }),
            "rule region: task 9 (repeat): a repeat needs a bound of at most 2^32 trips, got 0");
  EXPECT_EQ(
      checked([](Plan &p) {
        p.holes = {{"rows", {}, "rows", 1, true}};
        addTask(p, TaskKind::kCommit, {});
        addTask(p, TaskKind::kChoose, {1}, [](Task &t) {
          t.hole = 0;
          t.thenTasks = {8};
          t.elseTasks = {8};
        });
      }),
      "rule region: task 9 (choose): a task of its body is in another body too: task 8 (commit)");
  EXPECT_EQ(checked([](Plan &p) {
              p.holes = {{"rows", {}, "rows", 1, true}};
              addTask(p, TaskKind::kChoose, {}, [](Task &t) { t.hole = 0; });
            }),
            "rule region: task 8 (choose): chooses by hole 'rows' but does not wait for the end of "
            "task 1 'build u' (run)");
}

TEST(PlanCheck, Endpoints) {
  EXPECT_EQ(checked([](Plan &p) { p.streams[2].capacityChunks = 0; }),
            "rule endpoints: stream 2 'joined' has no capacity");
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[7].inputStream = 3; }),
      "rule endpoints: stream 3 'gathered' needs exactly one consumer, got task 5 'sum' (run), "
      "task 7 'result' (result)");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[0].outputStream = 1; }),
            "rule endpoints: stream 0 'u rows' needs exactly one producer, got none");
}

TEST(PlanCheck, StreamsMayEndInBothBranchesOfAChoose) {
  auto choose = [](std::vector<int32_t> thenTasks, std::vector<int32_t> elseTasks) {
    return checked([&](Plan &p) {
      p.holes = {{"u rows", {}, "rows", 1, true}};
      Task second = p.tasks[3];
      p.tasks.push_back(second);
      addTask(p, TaskKind::kChoose, {1}, [&](Task &t) {
        t.hole = 0;
        t.thenTasks = thenTasks;
        t.elseTasks = elseTasks;
      });
    });
  };
  EXPECT_EQ(choose({3}, {8}), "ok");
  EXPECT_EQ(choose({3, 8}, {}).substr(0, 38), "rule endpoints: stream 1 't rows' need");
}

TEST(PlanCheck, Schema) {
  EXPECT_EQ(
      checked([](Plan &p) { p.streams[3].schema.columns[0].nullable = true; }),
      "rule schema: task 4 'gather' (exchange): stream 2 'joined' and stream 3 'gathered' have "
      "different types");
  EXPECT_EQ(
      checked([](Plan &p) { p.slots[0].columns[0].type = HR_I32; }),
      "rule schema: task 0 'load u' (load): column 0 has different types in the slot ('a') and "
      "the stream ('a')");
  EXPECT_EQ(checked([](Plan &p) { p.result.columns[0].type = HR_F64; }),
            "rule schema: task 7 'result' (result): stream 4 'sums' and the plan's result have "
            "different types");
}

TEST(PlanCheck, Acyclic) {
  EXPECT_EQ(checked([](Plan &p) { p.tasks[1].after = {3}; }).substr(0, 13), "rule acyclic:");
}

TEST(PlanCheck, DeadlockOfOneEdge) {
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[5].after = {4}; }),
      "rule deadlock: task 5 'sum' (run): starts only after its producer ends: task 4 'gather' "
      "(exchange); materialise stream 3 'gathered' in a state");
}

TEST(PlanCheck, DeadlockThroughAnotherStream) {
  // Two chains: each consumer starts only after the end of the other chain's producer.
  std::string message = checked([](Plan &p) {
    p.streams.push_back(p.streams[0]);
    addTask(p, TaskKind::kLoad, {}, [](Task &t) {
      t.slot = 0;
      t.outputStream = 5;
    });
    addTask(p, TaskKind::kRun, {2}, [](Task &t) {
      t.kernel = 0;
      t.inputStream = 5;
      t.states = {{0, StateUse::kPerWorker}};
    });
    p.tasks[3].states.clear();
    p.tasks[3].after = {1, 8};
  });
  EXPECT_EQ(
      message.substr(0, 86),
      "rule deadlock: task 2 'load t' (load): full streams can hold each other up: task 2 'lo")
      << message;
}

TEST(PlanCheck, Filled) {
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[3].after = {}; }),
      "rule filled: task 3 'probe' (run): reads state 'u table' but does not wait for the end of "
      "task 1 'build u' (run)");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[1].states[0].state = 1; }),
            "rule filled: task 3 'probe' (run): reads a state that no task fills: u table");
}

void reserve(Plan &plan, uint64_t bytes, std::vector<int32_t> after) {
  addTask(plan, TaskKind::kReserve, std::move(after), [&](Task &t) { t.bytes.min = bytes; });
}

TEST(PlanCheck, Reserved) {
  EXPECT_EQ(
      checked([](Plan &p) { reserve(p, 100, {}); }),
      "rule reserved: task 1 'build u' (run): uses memory without a reservation that lives until "
      "it ends");
  EXPECT_EQ(checked([](Plan &p) {
              reserve(p, 100, {});
              addTask(p, TaskKind::kRelease, {}, [](Task &t) { t.reservation = 8; });
            }),
            "rule reserved: task 9 (release): releases twice or too early: task 8 (reserve)");
}

TEST(PlanCheck, Capacity) {
  auto plan = [](uint64_t first, uint64_t second, bool releaseBetween) {
    return checked(
        [&](Plan &p) {
          reserve(p, first, {}); // 8: for the build
          p.tasks[1].after = {8};
          reserve(p, second, {3}); // 9: for the sum, after the probe
          p.tasks[3].after = {1};
          p.tasks[5].after = {8};
          if (releaseBetween) {
            addTask(p, TaskKind::kRelease, {7}, [](Task &t) { t.reservation = 8; });
            p.tasks[9].after = {10};
          }
        },
        CheckOptions{{{"host", 150}}});
  };
  EXPECT_EQ(plan(100, 50, false), "ok");
  EXPECT_EQ(plan(100, 51, false), "rule capacity: task 9 (reserve): reservations and tensors in "
                                  "tier host that are live together "
                                  "need at least 151 bytes, it has 150");
  EXPECT_EQ(plan(100, 51, true), "ok");
}

TEST(PlanCheck, ReservationsOfTheOtherBranchAreNotLive) {
  Plan plan;
  reserve(plan, 100, {});
  reserve(plan, 70, {});
  addTask(plan, TaskKind::kChoose, {}, [](Task &t) { t.thenTasks = {0}, t.elseTasks = {1}; });
  PeakReservation peak = peakReservation(plan, "host");
  EXPECT_EQ(peak.bytes, 100u);
  EXPECT_EQ(peak.task, 0);
  plan.tasks[2].elseTasks = {};
  EXPECT_EQ(peakReservation(plan, "host").bytes, 170u);
  EXPECT_EQ(peakReservation(plan, "device").task, kNone);
}

TEST(PlanCheck, TensorsAreLiveFromTheirWriterToTheirLastReader) {
  Plan plan; // a chain of four tensors: two at a time
  for (int32_t i = 0; i < 4; ++i) {
    Buffer buffer{std::to_string(i), "host", "f32", {25}};
    buffer.bytes = 100;
    plan.buffers.push_back(buffer);
    addTask(plan, TaskKind::kCompute, i ? std::vector<int32_t>{i - 1} : std::vector<int32_t>{},
            [&](Task &t) {
              t.inputs = i ? std::vector<int32_t>{i - 1} : std::vector<int32_t>{};
              t.outputs = {i};
            });
  }
  EXPECT_EQ(peakReservation(plan, "host").bytes, 200u);
  EXPECT_EQ(usersOfBuffers(plan), (std::vector<int32_t>{2, 2, 2, 1}));
  // The first is read again at the end, or is a result.
  plan.tasks[3].inputs.push_back(0);
  EXPECT_EQ(peakReservation(plan, "host").bytes, 300u);
  plan.tasks[3].inputs.pop_back();
  addTask(plan, TaskKind::kResult, {3}, [](Task &t) { t.buffer = 1; });
  EXPECT_EQ(peakReservation(plan, "host").bytes, 300u);
  EXPECT_EQ(peakReservation(plan, "host").task, 3);
  // Without an order all may be live.
  for (Task &task : plan.tasks) {
    task.after.clear();
  }
  EXPECT_EQ(peakReservation(plan, "host").bytes, 400u);
}

TEST(PlanCheck, AReservationOfAStateDoesNotReadIt) {
  EXPECT_EQ(checked([](Plan &p) {
              reserve(p, 100, {}); // 8
              p.tasks[8].sourceState = 0;
              p.tasks[1].after = {8};
              p.tasks[5].after = {8};
            }),
            "ok");
}

TEST(PlanCheck, Collectives) {
  auto collective = [](Plan &p, std::vector<int32_t> after) {
    if (p.buffers.empty()) {
      p.buffers = {{"a", "host", "f32", {4}}, {"b", "host", "f32", {4}}};
    }
    addTask(p, TaskKind::kCollective, std::move(after), [](Task &t) {
      t.operation = "all_reduce";
      t.inputs = {0};
      t.outputs = {1};
    });
  };
  EXPECT_EQ(checked([&](Plan &p) {
              collective(p, {});
              collective(p, {8});
            }),
            "ok");
  EXPECT_EQ(
      checked([&](Plan &p) {
        collective(p, {});
        collective(p, {});
      }),
      "rule collectives: task 9 (collective): has no order with task 8 (collective), so ranks may "
      "meet them differently");
  EXPECT_EQ(checked([&](Plan &p) {
              p.holes = {{"rows", {}, "rows", 1, false}};
              collective(p, {});
              addTask(p, TaskKind::kChoose, {1}, [](Task &t) {
                t.hole = 0;
                t.thenTasks = {8};
              });
            }),
            "rule collectives: task 8 (collective): is chosen by a hole that ranks do not agree "
            "on: rows");
}

TEST(PlanCheck, MessagesCarryThePlace) {
  Plan plan = samplePlan();
  plan.tasks[3].after = {};
  EXPECT_EQ(check(plan).place(), "t join u");
}

} // namespace
} // namespace headrace::plan
