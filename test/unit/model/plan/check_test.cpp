// Every rule of the checker refuses the least change that breaks it, and says rule, task and place.
// Sources: model/plan/check_graph.cpp
#include "model/plan/reservations.h"
#include "model/plan/shared_loads.h"
#include "test/unit/model/plan/changed_plan.h"

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

TEST(PlanCheck, AcceptsTheSample) {
  EXPECT_EQ(checked([](Plan &) {}), "ok");
}

TEST(PlanCheck, Version) {
  EXPECT_NE(checked([](Plan &p) { p.schemaMajor = 99; }).find("rule version: plan schema"),
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
  EXPECT_EQ(checked([](Plan &p) { run(p, 3).kernel = 5; }),
            "rule range: task 3 'probe' (run): no such kernel: 5");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].after = {-1}; }),
            "rule range: task 3 'probe' (run): no such task: -1");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[0].as<LoadTask>()->outputStream = 9; }),
            "rule range: task 0 'load u' (load): no such stream: 9");
  EXPECT_EQ(checked([](Plan &p) { run(p, 3).states[0].state = 2; }),
            "rule range: task 3 'probe' (run): no such state: 2");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[3].place = 2; }),
            "rule range: task 3 'probe' (run): no such place: 2");
  EXPECT_EQ(checked([](Plan &p) { p.kernels[0].places = {2}; }),
            "rule range: kernel 0 'build': no such place: 2");
  EXPECT_EQ(checked([](Plan &p) { p.states[1].mergeKernel = 8; }),
            "rule range: state 1 'sum': no such kernel: 8");
  EXPECT_EQ(checked([](Plan &p) { p.mesh = {{"data", 0}}; }),
            "rule range: mesh axis is empty: data");
  EXPECT_EQ(
      checked([](Plan &p) { p.buffers = {{"b", Tier::kHost, Element::kF32, {2}, {{1, {0}}}}}; }),
      "rule range: buffer 0 'b': no such dimension: 1");
  auto split = [](std::vector<Split> splits) {
    return checked(
        [&](Plan &p) { p.buffers = {{"b", Tier::kHost, Element::kF32, {2, 4}, splits}}; });
  };
  EXPECT_EQ(split({{0, {0}}}), "ok");
  EXPECT_EQ(split({{0, {}}}), "rule range: buffer 0 'b': a dimension is split over no axis: 0");
  EXPECT_EQ(split({{0, {0}, true}}),
            "rule range: buffer 0 'b': only a split of unknown extent is ragged");
  EXPECT_EQ(split({{1, {0}}, {1, {0}}}), "rule range: buffer 0 'b': a dimension is split twice");
  for (std::vector<Split> bad : {std::vector<Split>{{0, {1}}}, {{0, {0}}, {1, {0}}}}) {
    EXPECT_EQ(split(bad), "rule range: buffer 0 'b': it is split over axes that the mesh does not "
                          "have, or over one twice");
  }
  EXPECT_EQ(checked([](Plan &p) { p.buffers = {{"b", Tier::kHost, Element::kF32, {-2}}}; }),
            "rule range: buffer 0 'b': extent, got -2");
  EXPECT_NE(checked([](Plan &p) { p.holes.resize(kElementsMax + 1); }).find("rule range: a table"),
            std::string::npos);
}

TEST(PlanCheck, Windows) {
  // {hash, i64 x, i64? w, f64 f, text s} and a function into w.
  auto window = [](const std::function<void(State &, WindowColumn &)> &change) {
    return checked([&](Plan &p) {
      State state;
      state.name = "w";
      state.kind = StateKind::kWindow;
      state.rowBytes = 64;
      state.fields = {
          {.name = "x", .type = HR_I64, .offset = 8},
          {.name = "w", .type = HR_I64, .offset = 16, .nullable = true, .validOffset = 60},
          {.name = "f", .type = HR_F64, .offset = 24},
          {.name = "s", .type = HR_STRING, .offset = 32}};
      WindowColumn column{.function = WindowFunction::kLag, .result = 1, .input = 0};
      change(state, column);
      state.windows = {column};
      p.states.push_back(state);
    });
  };
  std::string subject = "state 2 'w': ";
  EXPECT_EQ(window([](State &, WindowColumn &) {}), "ok");
  EXPECT_EQ(window([](State &s, WindowColumn &) { s.order = {{7, false, false}}; }),
            "rule range: " + subject + "no such field: 7");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.count.field = 4; }),
            "rule range: " + subject + "no such field: 4");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.input = kNone; }),
            "rule operands: " + subject + "a window function lacks its input");
  EXPECT_EQ(window([](State &s, WindowColumn &) { s.fields[1].nullable = false; }),
            "rule operands: " + subject +
                "a window function has a result of another type than its input");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.function = WindowFunction::kPercentRank; }),
            "rule operands: " + subject + "a window function cannot set a field of type: i64");
  EXPECT_EQ(window([](State &, WindowColumn &w) {
              w.function = WindowFunction::kFold;
              w.input = 3;
            }),
            "rule operands: " + subject + "a window function cannot set a field of type: i64");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.function = WindowFunction::kCollect; }),
            "rule operands: " + subject +
                "lists are collected into a text, got a field of type: i64");
  auto quantiles = [](State &s, WindowColumn &w) {
    s.fields[3].nullable = true;
    s.fields[3].validOffset = 61;
    w = {.function = WindowFunction::kQuantiles, .result = 3, .input = 3};
    w.end.edge = FrameEdge::kCurrentRow;
    w.order = {{0, false, false}};
    w.shares = {{1, 2}};
  };
  EXPECT_EQ(window(quantiles), "ok");
  using Change = void (*)(WindowColumn &);
  for (Change change : {Change([](WindowColumn &w) { w.shares.clear(); }),
                        Change([](WindowColumn &w) { w.shares.push_back({3, 2}); }),
                        Change([](WindowColumn &w) { w.order.clear(); })}) {
    EXPECT_EQ(window([&](State &s, WindowColumn &w) {
                quantiles(s, w);
                change(w);
              }),
              "rule operands: " + subject + "quantiles need an order, and shares from 0 to 1");
  }
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.distinct = true; }),
            "rule operands: " + subject +
                "only a count or a fold of an input, or lists in an order, can be distinct, got "
                "lag");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.order = {{9, false, false}}; }),
            "rule range: " + subject + "no such field: 9");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.order = {{0, false, false}}; }),
            "rule operands: " + subject +
                "only what takes rows of a frame one by one has an order, got lag");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.function = WindowFunction::kLastValue; }),
            "rule operands: " + subject + "a window function lacks its frame");
  EXPECT_EQ(window([](State &, WindowColumn &w) {
              w.unit = FrameUnit::kRange;
              w.start = {FrameEdge::kPreceding, {0, 0}};
            }),
            "rule operands: " + subject + "a frame by values needs one order key, got 0");
  EXPECT_EQ(window([](State &, WindowColumn &w) { w.unit = FrameUnit::kGroups; }),
            "rule operands: " + subject + "a frame of groups of peers needs an order");
}

TEST(PlanCheck, StreamsOfSeveralWriters) {
  auto second = [](Plan &p) {
    p.streams[2].writers = 2;
    Task more = p.tasks[3];
    more.name = "another probe";
    more.as<RunTask>()->inputStream = kNone;
    more.as<RunTask>()->sourceState = 0;
    more.as<RunTask>()->part = 1;
    p.tasks.push_back(more);
  };
  EXPECT_EQ(checked([&](Plan &p) {
              second(p);
              p.streams[2].writers = 3;
            })
                .find("rule endpoints: stream 2 'joined' needs as many run tasks that write it, "
                      "each as another part, as it has writers, 3"),
            0u);
  EXPECT_EQ(checked([&](Plan &p) {
              second(p);
              p.tasks.back().as<RunTask>()->part = 0;
            })
                .find("rule endpoints: stream 2 'joined' needs as many run tasks that write it, "
                      "each as another part"),
            0u);
  EXPECT_NE(
      checked([](Plan &p) { p.streams[2].writers = 2; }).find("rule endpoints: stream 2 'joined'"),
      std::string::npos);
}

TEST(PlanCheck, LiteralRows) {
  auto values = [](Plan &p, size_t cells) {
    p.slots[0].kind = SlotKind::kValues;
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
              p.states[1].directory = plan::Directory::kRanks;
            }).find("rule layout: state 1 'sum': a directory by key"),
            std::string::npos);
  EXPECT_EQ(checked([](Plan &p) {
              p.states[0].directory = plan::Directory::kRanks;
              p.states[0].directKeyOffset = 16;
            }),
            "rule range: state 0 'u table': extent of a directory by key, got 0");
}

TEST(PlanCheck, Operands) {
  EXPECT_EQ(checked([](Plan &p) { run(p, 3).kernel = kNone; }),
            "rule operands: task 3 'probe' (run): needs a kernel");
  EXPECT_EQ(checked([](Plan &p) { run(p, 3).sourceState = 0; }),
            "rule operands: task 3 'probe' (run): needs exactly one source: a stream or a state");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[4].as<ExchangeTask>()->channel = kNone; }),
            "rule operands: task 4 'gather' (exchange): needs an input stream, an output stream "
            "and a channel");
  EXPECT_EQ(checked([](Plan &p) { p.slots[0].kind = SlotKind::kTensor; }),
            "rule operands: task 0 'load u' (load): needs a slot of rows");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[4].as<ExchangeTask>()->exchange = ExchangeKind::kHash; }),
            "rule operands: task 4 'gather' (exchange): a hash exchange, and only it, reads a "
            "partitioned run: task 3 'probe' (run)");
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[4].as<ExchangeTask>()->exchange = ExchangeKind::kRange; }),
      "rule operands: task 4 'gather' (exchange): needs an order if it is by range, and only then");
  EXPECT_EQ(checked([](Plan &p) {
              p.tasks[4].as<ExchangeTask>()->exchange = ExchangeKind::kRange;
              p.tasks[4].as<ExchangeTask>()->order = {{9, false, false}};
            }),
            "rule operands: task 4 'gather' (exchange): needs an order by columns of its stream");
  EXPECT_EQ(
      checked([](Plan &p) { run(p, 6).partitioned = true; }),
      "rule operands: task 6 'emit' (run): partitioned rows go to a hash exchange, got task 7 "
      "'result' (result)");
  EXPECT_EQ(checked([](Plan &p) { addTask(p, ReleaseTask{0}); }),
            "rule operands: task 8 (release): needs the reserve task that it ends");
  EXPECT_EQ(checked([](Plan &p) { p.kernels[0].symbol = ""; }),
            "rule operands: kernel 0 '': no symbol");
}

TEST(PlanCheck, Written) {
  EXPECT_EQ(checkedTensors([](Plan &p) {
              int32_t output = addTensor(p, {4});
              addTask(p, TensorResultTask{output});
            }),
            "rule written: task 0 (tensor_result): reads buffer 'a', which needs one writer that "
            "ends before, got none");
  auto reshape = [](std::vector<int32_t> after) {
    return checkedTensors([&](Plan &p) {
      int32_t input = addInput(p, {4});
      int32_t output = addTensor(p, {4});
      addTask(p, ComputeTask{ComputeKind::kReshape, kNone, {input}, {output}, {}}, after);
    });
  };
  EXPECT_EQ(reshape({0}), "ok");
  EXPECT_EQ(reshape({}), "rule written: task 1 (compute): reads buffer 'a', which needs one writer "
                         "that ends before, got task 0 (input)");
}

TEST(PlanCheck, LoadsFeedRuns) {
  EXPECT_EQ(
      checked([](Plan &p) {
        p.streams.push_back(p.streams[0]);
        addTask(p, LoadTask{.slot = 0, .outputStream = 5});
        p.streams.push_back(p.streams[0]);
        addTask(p, ExchangeTask{ExchangeKind::kBroadcast, 1, {0}, 5, 6});
        addTask(p, RunTask{.kernel = 0, .inputStream = 6, .states = {{0, StateUse::kPerWorker}}});
        p.tasks[3].after = {1, 10};
      }),
      "rule operands: task 9 (exchange): encoded morsels of a load are read by run tasks only");
}

TEST(PlanCheck, Sharing) {
  auto shared = [](int32_t load, const std::function<void(Plan &)> &change) {
    std::string said = checked([&](Plan &p) {
      p.tasks[load].as<LoadTask>()->split = {0};
      p.tasks[load].as<LoadTask>()->shared = true;
      change(p);
      shareLoads(p);
      EXPECT_EQ(p.tasks[load].as<LoadTask>()->shared, whyNotShared(p, load) == nullptr);
      p.tasks[load].as<LoadTask>()->shared = true;
    });
    const std::string rule = "ranks cannot share its morsels: ";
    const size_t why = said.find(rule);
    return why == std::string::npos ? said : said.substr(why + rule.size());
  };
  EXPECT_EQ(shared(0, [](Plan &) {}), "ok");
  EXPECT_EQ(shared(2, [](Plan &) {}), "ok");
  EXPECT_EQ(shared(2, [](Plan &p) { p.tasks[2].as<LoadTask>()->split = {}; }),
            "every rank reads all of the table");
  EXPECT_EQ(shared(2,
                   [](Plan &p) {
                     p.slots[1].kind = SlotKind::kValues;
                     p.slots[1].cells.resize(1);
                   }),
            "it loads no table");
  EXPECT_EQ(shared(0, [](Plan &p) { p.states[0].firstCome = true; }),
            "a state keeps the first rows that come");
  EXPECT_EQ(shared(2, [](Plan &p) { p.states[1].firstCome = true; }), "ok") << "behind an exchange";
  for (bool agreed : {false, true}) {
    EXPECT_EQ(shared(2,
                     [&](Plan &p) {
                       p.holes = {{"u rows", {}, 1, agreed}};
                       addTask(p, ChooseTask{0, 0, {2, 3}, {}}, {1});
                     }),
              agreed ? "ok" : "not every rank may come to it");
  }
  Plan tensor = samplePlan();
  tensor.tasks[2].as<LoadTask>()->split = {0};
  tensor.tasks[4].work = ToTensorTask{2, {0}, {addTensor(tensor, {kUnknownExtent}, 0)}};
  EXPECT_STREQ(whyNotShared(tensor, 2), "its rows become a rank's part of a tensor");
  Plan resident = samplePlan();
  resident.tasks[2].as<LoadTask>()->split = {0};
  resident.tasks[4].work = ResultTask{2};
  EXPECT_EQ(whyNotShared(resident, 2), nullptr);
  resident.resident = true;
  EXPECT_STREQ(whyNotShared(resident, 2), "its rows stay on the rank that reads them");
}

TEST(PlanCheck, Region) {
  EXPECT_EQ(
      checked([](Plan &p) {
        p.holes = {{"rows", {}, 1, true}};
        addTask(p, RunTask{.kernel = 0, .sourceState = 0, .outputStream = 2}, {1});
        addTask(p, ChooseTask{0, 0, {8}, {8}}, {1});
      }),
      "rule region: task 9 (choose): a task of its body is in another body too: task 8 (run)");
  EXPECT_EQ(checked([](Plan &p) {
              p.holes = {{"rows", {}, 1, true}};
              addTask(p, ChooseTask{.hole = 0});
            }),
            "rule region: task 8 (choose): chooses by hole 'rows' but does not wait for the end of "
            "task 1 'build u' (run)");
}

TEST(PlanCheck, Endpoints) {
  EXPECT_EQ(checked([](Plan &p) { p.streams[2].capacityChunks = 0; }),
            "rule endpoints: stream 2 'joined' has no capacity");
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[7].work = ResultTask{3}; }),
      "rule endpoints: stream 3 'gathered' needs exactly one consumer, got task 5 'sum' (run), "
      "task 7 'result' (result)");
  EXPECT_EQ(checked([](Plan &p) { p.tasks[0].as<LoadTask>()->outputStream = 1; }),
            "rule endpoints: stream 0 'u rows' needs exactly one producer, got none");
}

TEST(PlanCheck, StreamsMayEndInBothBranchesOfAChoose) {
  auto choose = [](std::vector<int32_t> thenTasks, std::vector<int32_t> elseTasks) {
    return checked([&](Plan &p) {
      p.holes = {{"u rows", {}, 1, true}};
      Task second = p.tasks[3];
      p.tasks.push_back(second);
      addTask(p, ChooseTask{0, 0, thenTasks, elseTasks}, {1});
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
    addTask(p, LoadTask{.slot = 0, .outputStream = 5});
    addTask(p, RunTask{.kernel = 0, .inputStream = 5, .states = {{0, StateUse::kPerWorker}}}, {2});
    run(p, 3).states.clear();
    p.tasks[3].after = {1, 8};
  });
  EXPECT_EQ(
      message.substr(0, 86),
      "rule deadlock: task 2 'load t' (load): full streams can hold each other up: task 2 'lo")
      << message;
}

/// "joined" and the rows of another run of "u" go by hash; both exchanges agree on heavy keys.
void pairExchanges(Plan &p) {
  p.streams.push_back(p.streams[0]);
  p.streams.push_back(p.streams[0]);
  p.streams.push_back(p.streams[0]);
  run(p, 3).partitioned = true;
  *p.tasks[4].as<ExchangeTask>() = {.channel = 0,
                                    .axes = {0},
                                    .inputStream = 2,
                                    .outputStream = 3,
                                    .pair = 0,
                                    .heavy = HeavyRows::kSpread,
                                    .keys = {0}};
  addTask(p, LoadTask{.slot = 0, .outputStream = 5}); // task 8
  addTask(p, RunTask{.kernel = 0, .inputStream = 5, .outputStream = 6, .partitioned = true});
  addTask(p, ExchangeTask{.channel = 1,
                          .axes = {0},
                          .inputStream = 6,
                          .outputStream = 7,
                          .pair = 0,
                          .heavy = HeavyRows::kSpread,
                          .keys = {0}});
  addTask(p, RunTask{.kernel = 2, .inputStream = 7, .states = {{1, StateUse::kPerWorker}}});
  p.tasks[6].after.push_back(11);
}

TEST(PlanCheck, Pairs) {
  EXPECT_EQ(checked(pairExchanges), "ok");
  auto broken = [](const std::function<void(Plan &)> &change) {
    return checked([&](Plan &p) {
      pairExchanges(p);
      change(p);
    });
  };
  EXPECT_EQ(
      broken([](Plan &p) { p.tasks[10].as<ExchangeTask>()->pair = 1; }),
      "rule pairs: task 4 'gather' (exchange): needs one other exchange over the same axes, by "
      "as many keys, in pair 0, got task 4 'gather' (exchange)");
  // Each waits for the first rows of the other.
  EXPECT_EQ(broken([](Plan &p) { p.tasks[9].after = {5}; }).substr(0, 13), "rule acyclic:");
  EXPECT_EQ(
      broken([](Plan &p) {
        p.streams.push_back(p.streams[0]);
        p.streams[5].parts = 2;
        p.tasks[8].as<LoadTask>()->outputStream = 8;
        addTask(p, RunTask{.kernel = 0, .inputStream = 8, .outputStream = 5, .partitioned = true});
        addTask(p, RepeatTask{{9}}, {12});
      }),
      "rule pairs: task 10 (exchange): gets its rows in rounds, the first of which may have none");
  EXPECT_EQ(broken([](Plan &p) { p.tasks[10].as<ExchangeTask>()->keys = {1}; }),
            "rule operands: task 10 (exchange): needs keys among the columns of its stream");
  const char *unpaired = "rule operands: task 10 (exchange): needs keys if it is one of a pair, "
                         "and heavy rows only then";
  EXPECT_EQ(broken([](Plan &p) { p.tasks[10].as<ExchangeTask>()->keys = {}; }), unpaired);
  EXPECT_EQ(broken([](Plan &p) { p.tasks[10].as<ExchangeTask>()->pair = kNone; }), unpaired);
  EXPECT_EQ(
      broken([](Plan &p) { p.tasks[10].as<ExchangeTask>()->exchange = ExchangeKind::kBroadcast; }),
      "rule operands: task 10 (exchange): needs an exchange by hash if it has keys");
}

TEST(PlanCheck, MovableKeys) {
  auto movable = [](const std::function<void(Plan &)> &change) {
    return checked([&](Plan &p) {
      pairExchanges(p);
      p.movableKeys = true;
      change(p);
    });
  };
  EXPECT_EQ(movable([](Plan &) {}), "ok");
  const char *needs =
      "rule operands: task 10 (exchange): needs to go over all ranks where keys are movable";
  EXPECT_EQ(movable([](Plan &p) { p.tasks[10].as<ExchangeTask>()->axes = {}; }), needs);
}

TEST(PlanCheck, Filled) {
  EXPECT_EQ(
      checked([](Plan &p) { p.tasks[3].after = {}; }),
      "rule filled: task 3 'probe' (run): reads state 'u table' but does not wait for the end of "
      "task 1 'build u' (run)");
  EXPECT_EQ(checked([](Plan &p) { run(p, 1).states[0].state = 1; }),
            "rule filled: task 3 'probe' (run): reads a state that no task fills: u table");
}

void reserve(Plan &plan, int32_t state, uint64_t bytes, std::vector<int32_t> after) {
  addTask(plan, ReserveTask{state, {.min = bytes}}, std::move(after));
}

TEST(PlanCheck, Reserved) {
  auto plan = [](const std::function<void(Plan &)> &change) {
    return checked([&](Plan &p) {
      reserve(p, 0, 100, {}); // 8
      reserve(p, 1, 100, {}); // 9
      p.tasks[1].after = {8};
      p.tasks[5].after = {9};
      change(p);
    });
  };
  EXPECT_EQ(plan([](Plan &) {}), "ok");
  EXPECT_EQ(plan([](Plan &p) { p.tasks[1].after = {}; }),
            "rule reserved: task 1 'build u' (run): uses state 'u table' without a reservation of "
            "it that lives until it ends");
  EXPECT_EQ(plan([](Plan &p) { p.tasks[9].as<ReserveTask>()->state = 0; }),
            "rule reserved: task 5 'sum' (run): uses state 'sum' without a reservation of it that "
            "lives until it ends");
  EXPECT_EQ(plan([](Plan &p) { addTask(p, ReleaseTask{8}, {1}); }), // while it is probed
            "rule reserved: task 3 'probe' (run): uses state 'u table' without a reservation of it "
            "that lives until it ends");
  EXPECT_EQ(plan([](Plan &p) { addTask(p, ReleaseTask{8}, {3}); }), "ok");
  EXPECT_EQ(plan([](Plan &p) { addTask(p, ReleaseTask{8}); }),
            "rule reserved: task 10 (release): releases twice or too early: task 8 (reserve)");
}

TEST(PlanCheck, Capacity) {
  auto plan = [](uint64_t first, uint64_t second, bool releaseBetween) {
    return checked(
        [&](Plan &p) {
          // Without the exchange between them, the sum starts after the probe.
          reserve(p, 0, first, {});   // 8: for the build
          reserve(p, 1, second, {1}); // 9: for the sum
          p.tasks[1].after = {8};
          p.tasks[5].after = {9};
          if (releaseBetween) {
            run(p, 3).states.clear();
            addTask(p, ReleaseTask{8}, {1});
            p.tasks[9].after = {10};
          }
        },
        CheckOptions{{{Tier::kHost, 150}, {Tier::kDevice, 1}}});
  };
  EXPECT_EQ(plan(100, 50, false), "ok");
  EXPECT_EQ(plan(100, 51, false), "rule capacity: task 9 (reserve): reservations and tensors in "
                                  "tier host that are live together "
                                  "need at least 151 bytes, it has 150");
  EXPECT_EQ(plan(100, 51, true), "ok");
}

TEST(PlanCheck, ReservationsOfTheOtherBranchAreNotLive) {
  Plan plan;
  plan.states.resize(1);
  reserve(plan, 0, 100, {});
  reserve(plan, 0, 70, {});
  addTask(plan, ChooseTask{kNone, 0, {0}, {1}});
  PeakReservation peak = peakReservation(plan, Tier::kHost);
  EXPECT_EQ(peak.bytes, 100u);
  EXPECT_EQ(peak.task, 0);
  plan.tasks[2].work = ChooseTask{kNone, 0, {0}, {}};
  EXPECT_EQ(peakReservation(plan, Tier::kHost).bytes, 170u);
  EXPECT_EQ(peakReservation(plan, Tier::kDevice).task, kNone);
  plan.states[0].tier = Tier::kDevice;
  EXPECT_EQ(peakReservation(plan, Tier::kDevice).bytes, 170u);
}

TEST(PlanCheck, TensorsAreLiveFromTheirWriterToTheirLastReader) {
  Plan plan; // a chain of four tensors: two at a time
  for (int32_t i = 0; i < 4; ++i) {
    plan.buffers[addTensor(plan, {25})].bytes = 100;
    std::vector<int32_t> before = i ? std::vector<int32_t>{i - 1} : std::vector<int32_t>{};
    addTask(plan, ComputeTask{.inputs = before, .outputs = {i}}, before);
  }
  EXPECT_EQ(peakReservation(plan, Tier::kHost).bytes, 200u);
  EXPECT_EQ(usersOfBuffers(plan), (std::vector<int32_t>{2, 2, 2, 1}));
  // The first is read again at the end, or is a result.
  plan.tasks[3].as<ComputeTask>()->inputs.push_back(0);
  EXPECT_EQ(peakReservation(plan, Tier::kHost).bytes, 300u);
  plan.tasks[3].as<ComputeTask>()->inputs.pop_back();
  addTask(plan, TensorResultTask{1}, {3});
  EXPECT_EQ(peakReservation(plan, Tier::kHost).bytes, 300u);
  EXPECT_EQ(peakReservation(plan, Tier::kHost).task, 3);
  // Without an order all may be live.
  for (Task &task : plan.tasks) {
    task.after.clear();
  }
  EXPECT_EQ(peakReservation(plan, Tier::kHost).bytes, 400u);
}

TEST(PlanCheck, OfATensorARankHoldsItsPart) {
  Plan plan;
  plan.mesh = {{"r", 4}};
  Buffer &divided = plan.buffers[addTensor(plan, {10, 5})];
  divided.bytes = 200;
  divided.splits = {{0, {0}}};
  addTask(plan, ComputeTask{.outputs = {0}}, {});
  EXPECT_EQ(peakReservation(plan, Tier::kHost).bytes, 200u);
  EXPECT_EQ(peakReservation(plan, Tier::kHost, 1).bytes, 200u);
  EXPECT_EQ(peakReservation(plan, Tier::kHost, 4).bytes, 60u); // three rows of ten
}

TEST(PlanCheck, Collectives) {
  auto collective = [](Plan &p, std::vector<int32_t> after) {
    after.push_back(0);
    int32_t output = addTensor(p, {4});
    addTask(p, CollectiveTask{.axes = {0}, .input = 0, .output = output}, after);
  };
  EXPECT_EQ(checkedTensors([&](Plan &p) {
              addInput(p, {4});
              collective(p, {});
              collective(p, {1});
            }),
            "ok");
  EXPECT_EQ(checkedTensors([&](Plan &p) {
              addInput(p, {4});
              collective(p, {});
              collective(p, {});
            }),
            "rule collectives: task 2 (collective): has no order with task 1 (collective), so "
            "ranks may meet them differently");
  EXPECT_EQ(checkedTensors([&](Plan &p) {
              p.holes = {{"rows", {}, 0, false}};
              addInput(p, {4});
              collective(p, {});
              addTask(p, ChooseTask{0, 0, {1}, {}}, {0});
            }),
            "rule collectives: task 1 (collective): is chosen by a hole that ranks do not agree "
            "on: rows");
}

TEST(PlanCheck, MessagesCarryThePlace) {
  Plan plan = samplePlan();
  plan.tasks[3].after = {};
  EXPECT_EQ(check(plan).place(), "t join u");
}

} // namespace
} // namespace headrace::plan
