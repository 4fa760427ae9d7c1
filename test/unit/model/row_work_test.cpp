// Steps have the terms of the tasks that they become, and cost what the simulator's lanes make of
// them.
#include "model/cost/row_work.h"
#include "model/cost/task_time.h"
#include "model/cost/tensor_work.h"
#include "model/plan/page_form.h"

#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

using plan::StateKind;
using plan::StateUse;
using plan::WorkKind;

/// A run task over chunks of one i64 and one i32 column, with one state.
plan::Plan planWith(StateKind kind, StateUse use, std::vector<plan::Work> work) {
  plan::Plan plan;
  plan.streams = {
      {"rows",
       {{{"k", HR_I64, {LogicalKind::kI64}, false}, {"v", HR_I32, {LogicalKind::kI32}, false}}},
       4,
       65536}};
  plan.states.resize(1);
  plan.states[0].kind = kind;
  plan.states[0].rowBytes = 32;
  plan.kernels.resize(1);
  plan.kernels[0].work = std::move(work);
  plan.tasks.resize(1);
  plan.tasks[0].work = plan::RunTask{.kernel = 0, .inputStream = 0, .states = {{0, use}}};
  return plan;
}

const RowShape kRow = {.columns = 2, .bytes = 12};

Terms withoutZeros(Terms terms) {
  std::erase_if(terms, [](const auto &term) { return term.second == 0; });
  return terms;
}

TEST(RowWork, a_probe_has_the_terms_of_its_task) {
  plan::Plan plan = planWith(StateKind::kJoinTable, StateUse::kShared,
                             {{WorkKind::kHash, 0, 1, plan::kNone},
                              {WorkKind::kProbe, 0, 1, 0},
                              {WorkKind::kMatch, 1, 1, 0}});
  for (double stateRows : {10.0, 1e5, 1e7}) {
    for (double matches : {2e5, 1e6, 3e6}) { // the last walk along chains
      TaskRows rows;
      rows.source = 1e6;
      rows.stages = {matches};
      rows.states = {stateRows};
      StateShape state = shapeOf(plan.states[0], stateRows);
      EXPECT_EQ(withoutZeros(runTerms(plan, plan.tasks[0], rows)),
                withoutZeros(probeTable(state, 1e6, matches, 1, 0, {}).lanes))
          << stateRows << " " << matches;
    }
  }
}

TEST(RowWork, a_directory_filled_in_order_takes_the_lines_it_fills) {
  StateShape state{.kind = StateKind::kJoinTable,
                   .rows = 1e4,
                   .rowBytes = 24,
                   .directory = plan::Directory::kArray,
                   .extent = 6e6};
  Terms sparse = endTerms(state, 1e4, {.order = RowOrder::kClustered, .lanes = 2});
  EXPECT_NEAR(sparse["build_line"], 1e4, 100); // each row on a line of its own
  EXPECT_EQ(sparse.count("build_row"), 0u);
  state.rows = 6e6;
  EXPECT_NEAR(endTerms(state, 6e6, {.order = RowOrder::kClustered, .lanes = 2})["build_line"],
              750e3, 1e3); // all
  Terms random = endTerms(state, 6e6, {.lanes = 2});
  EXPECT_EQ(random["build_row"], 6e6);
  EXPECT_EQ(random["rank_row"], 0);
  state.directory = plan::Directory::kRanks;
  EXPECT_EQ(endTerms(state, 6e6, {.lanes = 2})["rank_row"], 6e6) << "keys are found first";
  EXPECT_EQ(random.count("build_line"), 0u);
}

TEST(RowWork, copies_of_a_table_share_the_large_caches_only) {
  auto probes = [](double rows, double copies) {
    StateShape state{.kind = StateKind::kJoinTable, .rows = rows, .rowBytes = 32};
    Arrival arrival;
    arrival.copies = copies;
    return probeTable(state, 1e6, 1e6, 1, 0, arrival).lanes;
  };
  EXPECT_EQ(probes(1000, 2), probes(1000, 1)); // in the core's own cache
  EXPECT_GT(probes(2e5, 2)["line_32m"], 1.2 * probes(2e5, 1)["line_32m"]);
  EXPECT_LT(probes(2e5, 2)["line_4m"], 0.9 * probes(2e5, 1)["line_4m"]);
}

TEST(RowWork, a_table_by_key_is_not_hashed) {
  plan::Plan plan = planWith(StateKind::kJoinTable, StateUse::kShared,
                             {{WorkKind::kProbe, 0, 1, 0}, {WorkKind::kMatch, 1, 1, 0}});
  plan.states[0].directory = plan::Directory::kRanks;
  plan.states[0].extent = 1 << 20;
  TaskRows rows;
  rows.source = rows.stages.emplace_back(5000);
  rows.states = {1000};
  StateShape state = shapeOf(plan.states[0], 1000);
  EXPECT_EQ(withoutZeros(runTerms(plan, plan.tasks[0], rows)),
            withoutZeros(probeTable(state, 5000, 5000, 1, 0, {}).lanes));
}

TEST(RowWork, a_build_has_the_terms_of_its_task_and_its_end) {
  plan::Plan plan = planWith(StateKind::kJoinTable, StateUse::kPerWorker,
                             {{WorkKind::kHash, 0, 1, plan::kNone},
                              {WorkKind::kInsert, 0, 1, 0},
                              {WorkKind::kInsertByte, 0, 32, plan::kNone}});
  TaskRows rows;
  rows.source = 2e5;
  rows.states = {2e5};
  StepWork step = buildTable(shapeOf(plan.states[0], 2e5), 1, 0, {});
  Terms run = runTerms(plan, plan.tasks[0], rows);
  add(run, finishTerms(plan, plan.tasks[0], rows)); // directories are built by all lanes
  EXPECT_EQ(withoutZeros(run), withoutZeros(step.lanes));
}

TEST(RowWork, groups_have_the_terms_of_their_task_and_its_end) {
  plan::Plan plan = planWith(StateKind::kGroupTable, StateUse::kPerWorker,
                             {{WorkKind::kHash, 0, 2, plan::kNone},
                              {WorkKind::kGroup, 0, 1, 0},
                              {WorkKind::kScalar, 0, 2, plan::kNone},
                              {WorkKind::kFoldGroup, 0, 3, plan::kNone}});
  TaskRows rows;
  rows.source = 1e6;
  rows.states = {3e4};
  rows.lanes = 4;
  StepWork step = groupRows(shapeOf(plan.states[0], 3e4), 1e6, 2, 3, {.lanes = 4});
  Terms run = runTerms(plan, plan.tasks[0], rows);
  add(run, finishTerms(plan, plan.tasks[0], rows)); // all lanes merge
  EXPECT_EQ(withoutZeros(run), withoutZeros(step.lanes));
}

TEST(RowWork, groups_found_by_codes_have_the_terms_of_their_task) {
  plan::Plan plan = planWith(StateKind::kGroupTable, StateUse::kPerWorker,
                             {{WorkKind::kMapped, 0, 1, plan::kNone},
                              {WorkKind::kScalar, 0, 2, plan::kNone},
                              {WorkKind::kFoldGroup, 0, 3, plan::kNone}});
  TaskRows rows;
  rows.source = 1e6;
  rows.states = {7};
  rows.lanes = 4;
  StateShape state = shapeOf(plan.states[0], 7);
  state.stringKeys = 1;
  state.coded = true;
  Terms run = runTerms(plan, plan.tasks[0], rows);
  StepWork step = foldRows(state, 1e6, 2, 3, {.lanes = 4});
  EXPECT_EQ(withoutZeros(run), withoutZeros(step.lanes));
}

TEST(RowWork, groups_that_come_in_runs_are_merged_even_by_one_lane) {
  StateShape state{.kind = StateKind::kGroupTable, .rows = 1.5e6, .rowBytes = 32};
  Terms forgotten = endTerms(state, 6e6, {.order = RowOrder::kClustered, .lanes = 1});
  EXPECT_EQ(forgotten["merge_row"], 1.5e6);
  EXPECT_EQ(endTerms(state, 3e6, {.order = RowOrder::kClustered, .lanes = 1}).count("merge_row"),
            0u)
      << "short runs";
  EXPECT_EQ(endTerms(state, 6e6, {.lanes = 1}).count("merge_row"), 0u);
  // Every lane has its own groups of the order, and each group of none.
  EXPECT_EQ(endTerms(state, 6e6, {.order = RowOrder::kClustered, .lanes = 2})["merge_row"], 1.5e6);
  EXPECT_EQ(endTerms(state, 6e6, {.lanes = 2})["merge_row"], 3e6);
}

TEST(RowWork, chunks_have_the_terms_of_their_tasks) {
  plan::Plan plan = planWith(StateKind::kScalar, StateUse::kPerWorker,
                             {{WorkKind::kRow, 0, 1, plan::kNone},
                              {WorkKind::kTake, 0, 2, plan::kNone},
                              {WorkKind::kDecodeByte, 0, 12, plan::kNone},
                              {WorkKind::kEmit, 0, 1, plan::kNone},
                              {WorkKind::kEmitByte, 0, 12, plan::kNone}});
  TaskRows rows;
  rows.source = 3e5;
  rows.bytes = 3e5 * 12;
  rows.pieces = piecesOf(3e5);
  rows.states = {1};
  StepWork step = receiveRows(3e5, kRow);
  step += emitRows(3e5, kRow);
  EXPECT_EQ(withoutZeros(runTerms(plan, plan.tasks[0], rows)), withoutZeros(step.lanes));
  plan::ExchangeTask exchange;
  exchange.inputStream = 0;
  plan.tasks[0].work = exchange;
  Terms sent = transferTerms(3e5, kRow.columns, 3e5 * kRow.bytes, piecesOf(3e5), 2);
  EXPECT_EQ(exchangeTerms(plan, plan.tasks[0], rows, 2), sent);
  exchange.exchange = plan::ExchangeKind::kRange;
  plan.tasks[0].work = exchange;
  EXPECT_EQ(exchangeTerms(plan, plan.tasks[0], rows, 1).count("range_row"), 0u) << "nothing is cut";
  add(sent, rangeRows(3e5, kRow).oneLane);
  EXPECT_EQ(exchangeTerms(plan, plan.tasks[0], rows, 2), sent);
  EXPECT_EQ(sent["range_value"], 6e5);
}

TEST(RowWork, rows_of_a_state_are_as_wide_as_they_are_laid_out) {
  EXPECT_EQ(stateRowBytes(StateKind::kJoinTable, kRow), 32); // 16 + 12, to whole words
  EXPECT_EQ(stateRowBytes(StateKind::kGroupTable, kRow), 24);
  EXPECT_EQ(stateRowBytes(StateKind::kSortBuffer, {.columns = 1, .nullable = 1, .bytes = 8}), 16);
}

CostModel modelOf(topology::Topology topology, int64_t ranks, int64_t threads) {
  return *CostModel::create(std::move(topology), flatMesh("m", "r", ranks), threads);
}

TEST(RowWork, lanes_divide_work_but_not_its_end) {
  CostModel one = modelOf(topology::machineTopology({4, 8e9}, 1), 1, 0);
  ASSERT_EQ(one.workers().threads, 4);
  CostModel four = modelOf(topology::machineTopology({4, 8e9}, 4), 4, 4);
  StepWork step;
  step.rows = 4 * 65536 * 16;
  step.lanes["row"] = 1e9;
  step.oneLane["build_row"] = 1e6;
  double row = assumedSeconds().at("row") * 1e9;
  double build = assumedSeconds().at("build_row") * 1e6;
  EXPECT_NEAR(secondsOf(one, step), row / 4 + build, 0.02 * row);
  EXPECT_NEAR(secondsOf(four, step), row + build, 1e-9);
  // Ranks that share a core take turns; one that works alone does not.
  CostModel crowded = modelOf(topology::machineTopology({2, 8e9}, 4), 4, 2);
  EXPECT_NEAR(secondsOf(crowded, step), 2 * (row + build), 1e-9);
  EXPECT_NEAR(secondsOf(crowded, step, Workers::Others::kIdle), row + build, 1e-9);
}

TEST(RowWork, a_sort_has_the_terms_of_its_task_and_goes_through_rows_that_lie_anywhere) {
  plan::Plan plan = planWith(StateKind::kSortBuffer, StateUse::kPerWorker, {});
  TaskRows rows;
  rows.source = 3e6;
  rows.states = {3e6};
  rows.lanes = 2;
  StateShape state = shapeOf(plan.states[0], 3e6);
  StepWork step = sortRows(state, 3e6, kRow, 2);
  EXPECT_EQ(finishTerms(plan, plan.tasks[0], rows), endTerms(state, 3e6, {.lanes = 2}));
  for (const auto &[name, units] : endTerms(state, 3e6, {.lanes = 2})) {
    EXPECT_EQ(step.lanes.at(name), units) << name;
  }
  EXPECT_TRUE(step.oneLane.empty());
  // Two and a half million rows by two keys, eight rows with the first in common, take 130 ms of
  // cores (270 before the rows of those to come were asked for).
  CostModel one = modelOf(topology::machineTopology({1, 8e9}, 1), 1, 1);
  state.orderWords = 2;
  double seconds = secondsOf(one.device(), endTerms(state, 2.5e6, {.lanes = 1}));
  EXPECT_GT(seconds, 0.09);
  EXPECT_LT(seconds, 0.2);
  state.limit = 10;
  EXPECT_LT(secondsOf(one, sortRows(state, 3e6, kRow, 1)), 0.1);
}

TEST(RowWork, rows_that_are_alike_go_back_to_their_keys) {
  StateShape state{.kind = StateKind::kSortBuffer, .rows = 1e6, .rowBytes = 32};
  Terms different = endTerms(state, 1e6, {.lanes = 2});
  EXPECT_EQ(different["sort_word"], 0);
  EXPECT_DOUBLE_EQ(different["sort_row"], 1e6);
  state.orderWords = 2.5;
  Terms all = endTerms(state, 1e6, {.lanes = 2});
  EXPECT_DOUBLE_EQ(all["sort_word"], 1.5e6);
  EXPECT_EQ(all["sort_text_word"], 0);
  state.orderTexts = 1;
  EXPECT_DOUBLE_EQ(endTerms(state, 1e6, {.lanes = 2})["sort_text_word"], 1.5e6);
  state.orderTexts = 0;
  // Of the first ten, two copies have at most 8,192 rows each that are not left out yet.
  state.limit = 10;
  Terms first = endTerms(state, 1e6, {.lanes = 2});
  EXPECT_EQ(first["sort_row"], 2 * 8192);
  EXPECT_EQ(first["sort_word"], 1.5 * 2 * 8192);
  Terms terms;
  addAccess(terms, WorkKind::kInsert, state, 1e6, {});
  EXPECT_EQ(terms["prune"], 1e6);
}

TEST(RowWork, texts_between_those_left_out_are_waited_for) {
  auto terms = [](double rows, double kept) {
    Terms made;
    addPageTexts(made, farShares(64 * rows), 1, 64, rows, kept);
    return made;
  };
  EXPECT_EQ(terms(1e6, 1e6)["text_far_line"], 0);
  EXPECT_EQ(terms(1e6, 1e6)["load_far_byte"], 64e6);
  EXPECT_EQ(terms(1e6, 25e4)["text_far_line"], 25e4 * 2 * 0.75);
  EXPECT_EQ(terms(1e4, 5e3)["text_far_line"], 0) << "a cache holds them";
  EXPECT_EQ(terms(4e6, 4e6)["text_far_line"], 0);
  EXPECT_EQ(terms(4e6, 4e6)["text_memory_line"], 0);
  EXPECT_EQ(terms(4e6, 4e6)["load_memory_byte"], 256e6);
  EXPECT_EQ(terms(4e6, 1e6)["text_memory_line"], 1e6 * 2 * 0.75);
}

TEST(RowWork, what_is_read_again_comes_from_the_caches_or_from_memory) {
  EXPECT_EQ(farShares(8e6).cache + farShares(8e6).memory, 0);
  EXPECT_EQ(farShares(64e6).cache, 1);
  EXPECT_NEAR(farShares(128e6).cache, 0.5, 1e-9);
  EXPECT_NEAR(farShares(128e6).memory, 0.5, 1e-9);
  EXPECT_EQ(farShares(1e9).memory, 1);
}

TEST(RowWork, a_device_launches_for_each_morsel_of_a_table_and_for_many_rows_of_a_state) {
  RowShape shape;
  shape.columns = 1;
  EXPECT_EQ(morselsOf(0), 1);
  EXPECT_EQ(scanRows(10 * plan::kMorselRows, shape, {}, 0).device.launches, 10);
  EXPECT_EQ(scanRows(10 * plan::kMorselRows, shape, {}, 0).lanes["morsel"], 10);
  EXPECT_EQ(receiveRows(10 * 65536, shape).device.launches, 10);
  EXPECT_EQ(readState({}, 1 << 21, shape).device.launches, 2);
  EXPECT_EQ(launchesOverState(1), 1);
}

TEST(RowWork, ranks_of_a_process_share_the_last_cache) {
  EXPECT_EQ(farBytes(8e6), 0);
  EXPECT_EQ(farBytes(8e6, 8), 8e6);
  // Eight ranks with an eighth of the rows each: what comes from far is an eighth, too.
  RowShape shape;
  shape.columns = 1;
  shape.bytes = shape.valueBytes = 8;
  Terms all = scanRows(8e6, shape, {}, 0).lanes;
  Terms one = scanRows(1e6, shape, {}, 0, {}, 8).lanes;
  EXPECT_GT(all["load_far_byte"], 0);
  EXPECT_DOUBLE_EQ(one["load_far_byte"], all["load_far_byte"] / 8);
  EXPECT_EQ(scanRows(1e6, shape, {}, 0).lanes["load_far_byte"], 0) << "one rank's alone stays";
  StateShape state;
  state.kind = StateKind::kJoinTable;
  state.rows = 2e5;
  state.rowBytes = 32;
  EXPECT_EQ(endTerms(state, 2e5, {.copies = 1})["build_far_byte"], 0);
  EXPECT_EQ(endTerms(state, 2e5, {.copies = 10})["build_far_byte"], 64e5);
}

TEST(RowWork, a_window_takes_what_was_measured) {
  StateShape state;
  state.kind = StateKind::kWindow;
  state.rows = 6e6;
  state.rowBytes = 24;
  CostModel one = modelOf(topology::machineTopology({1, 8e9}, 1), 1, 1);
  // rank() over (order by …) of lineitem at scale 1 took 45 ns of a core for a row.
  double seconds = secondsOf(one, sortRows(state, 6e6, kRow, 1));
  EXPECT_GT(seconds, 6e6 * 40e-9);
  EXPECT_LT(seconds, 6e6 * 80e-9);
  state.limit = 1; // most rows are dropped at once
  EXPECT_LT(secondsOf(one, sortRows(state, 6e6, kRow, 1)), seconds / 3);
}

TEST(RowWork, ranks_are_of_one_process_if_they_are_of_one_machine) {
  EXPECT_TRUE(workersOf(topology::machineTopology({4, 8e9}, 2), 2, 0).shared());
  for (const char *name : {"ethernet-slow", "p5-2node", "l40s-pcie"}) {
    EXPECT_FALSE(workersOf(*topology::shippedTopology(name), 2, 0).shared()) << name;
  }
}

TEST(RowWork, rows_between_machines_go_over_links) {
  CostModel model = modelOf(*topology::shippedTopology("ethernet-slow"), 4, 0);
  Transfer hash{plan::ExchangeKind::kHash, 1, 1e6};
  EXPECT_DOUBLE_EQ(secondsOf(model, hash, kRow),
                   model.exchange(plan::ExchangeKind::kHash, 1, 12e6).seconds);
  Transfer gather{plan::ExchangeKind::kGather, 1, 1e6};
  EXPECT_DOUBLE_EQ(secondsOf(model, gather, kRow),
                   model.exchange(plan::ExchangeKind::kGather, 1, 12e6).seconds);
  EXPECT_GT(secondsOf(model, {plan::ExchangeKind::kBroadcast, 1, 1e6}, kRow),
            secondsOf(model, hash, kRow));
}

TEST(RowWork, tables_come_from_the_storage_that_ranks_of_a_node_share) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  CostModel model = modelOf(topology, 16, 0);
  const topology::NodeType &node = topology.nodeTypes.at(topology.instances.front().type);
  double rate = storageRate(topology, node).value;
  ASSERT_GT(rate, 0);
  EXPECT_DOUBLE_EQ(model.load(1e9).seconds, 8e9 / rate);
  RowShape row = kRow;
  row.fileBytes = 12;
  // It is slower than the devices read their memory, so it decides what a scan takes.
  EXPECT_DOUBLE_EQ(secondsOf(model, scanRows(1e8, row, {}, 0)), model.load(12e8).seconds);
}

TEST(TensorWork, a_product_has_the_terms_of_its_task) {
  plan::Plan plan;
  plan.buffers = {{"a", Tier::kHost, plan::Element::kF32, {1024, 64}, {{0, {0}}}, 4 * 1024 * 64},
                  {"b", Tier::kHost, plan::Element::kF32, {64, 32}, {}, 4 * 64 * 32},
                  {"c", Tier::kHost, plan::Element::kF32, {1024, 32}, {{0, {0}}}, 4 * 1024 * 32}};
  plan.tasks.resize(2);
  plan.tasks[0].work =
      plan::ComputeTask{plan::ComputeKind::kMatmul, plan::kNone, {0, 1}, {2}, {0, 0, 0}};
  ProductShape product;
  product.elements = 512 * 32;
  product.inner = 64;
  product.outRows = 512;
  product.rightBytes = 4 * 64 * 32;
  product.bytes = 4 * (512 * 64 + 64 * 32 + 512 * 32);
  EXPECT_EQ(computeTerms(plan, plan.tasks[0], 2), productTerms(product));
  plan.tasks[1].work =
      plan::CollectiveTask{plan::CollectiveKind::kAllGather, plan::Reduction::kSum, {0}, 0, 0};
  EXPECT_EQ(collectiveTerms(plan, plan.tasks[1], 2),
            collectiveTerms(topology::CollectiveKind::kAllGather, 4 * 512 * 64, 4 * 512 * 64, 2));
}

} // namespace
} // namespace headrace::cost
