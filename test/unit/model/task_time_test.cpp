// Terms of tasks and their fit: known coefficients are found again, rows give the units they
// should.
#include "model/cost/task_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace headrace::cost {
namespace {

/// A scan whose kernel filters and then looks rows up in a join table.
plan::Plan probePlan() {
  plan::Plan plan;
  plan.streams = {{"rows", {{{"k", HR_I64, {LogicalKind::kI64}, false}}}, 4, 65536}};
  plan.states.resize(1);
  plan.states[0].kind = plan::StateKind::kJoinTable;
  plan.states[0].rowBytes = 32;
  plan.kernels.resize(1);
  plan.kernels[0].work = {{plan::WorkKind::kRow, 0, 1, plan::kNone},
                          {plan::WorkKind::kScalar, 1, 3, plan::kNone},
                          {plan::WorkKind::kProbe, 1, 1, 0},
                          {plan::WorkKind::kMatch, 2, 1, 0}};
  plan.tasks.resize(1);
  plan.tasks[0].work =
      plan::RunTask{.kernel = 0, .inputStream = 0, .states = {{0, plan::StateUse::kShared}}};
  plan.slots.resize(1);
  plan.tasks.push_back({.work = plan::LoadTask{.slot = 0, .outputStream = 0}});
  return plan;
}

TEST(TaskTime, units_follow_the_rows_of_each_stage) {
  plan::Plan plan = probePlan();
  TaskRows rows;
  rows.source = 1000;
  rows.stages = {400, 50};
  rows.states = {10};
  rows.pieces = 2;
  Terms terms = runTerms(plan, plan.tasks[0], rows);
  EXPECT_DOUBLE_EQ(terms["row"], 1000);
  EXPECT_DOUBLE_EQ(terms["scalar"], 1200);
  EXPECT_DOUBLE_EQ(terms["probe"], 400);
  EXPECT_DOUBLE_EQ(terms["match"], 50);
  EXPECT_DOUBLE_EQ(terms["morsel"], 2);
  // Ten rows share sixteen entries: a chain that is followed has 10/16 rows of other keys.
  EXPECT_DOUBLE_EQ(terms["chain"], 50 * 10 / 16.0);
  EXPECT_DOUBLE_EQ(terms["line_32k"], 450 + 50 * 10 / 16.0); // they stay in the first cache
}

TEST(TaskTime, a_direct_table_has_no_rows_of_other_keys) {
  plan::Plan plan = probePlan();
  plan.states[0].directory = plan::Directory::kRanks;
  plan.states[0].extent = 20;
  TaskRows rows;
  rows.source = 1000;
  rows.stages = {400, 50};
  rows.states = {10};
  Terms terms = runTerms(plan, plan.tasks[0], rows);
  EXPECT_DOUBLE_EQ(terms["chain"], 0);
  EXPECT_DOUBLE_EQ(terms["line_32k"], 450);
}

TEST(TaskTime, what_a_selection_reads_depends_on_the_pages) {
  plan::Plan plan = probePlan();
  plan.kernels[0].work = {{plan::WorkKind::kDecode, 1, 1, plan::kNone},
                          {plan::WorkKind::kDecodeGathered, 1, 1, plan::kNone},
                          {plan::WorkKind::kPageByte, 0, 1.5, plan::kNone},
                          {plan::WorkKind::kPageByte, 1, 4, plan::kNone}};
  TaskRows rows;
  rows.source = 1e8;
  auto terms = [&](double kept) {
    rows.stages = {kept};
    return runTerms(plan, plan.tasks[0], rows);
  };
  double all = 5.5e8;
  // Few rows: single values, single codes, the lines that they are on.
  Terms few = terms(1e6);
  EXPECT_NEAR(few["decode_picked"], 1e6, 1);
  EXPECT_NEAR(few["decode_picked_code"], 1e6, 1);
  EXPECT_DOUBLE_EQ(few["decode_gathered"], 0);
  EXPECT_NEAR(few["load_memory_byte"], all * (1.5 + 4 * (1 - std::pow(0.99, 16))) / 5.5,
              1e-6 * all);
  // Half of them: tiles of codes are looked up as a whole.
  Terms half = terms(5e7);
  EXPECT_DOUBLE_EQ(half["decode_picked_code"], 0);
  EXPECT_DOUBLE_EQ(half["decode_gathered"], 1e8);
  EXPECT_NEAR(half["decode_picked"], 2 * 5e7, 0.01 * 5e7);
  // All: as without a selection.
  Terms whole = terms(1e8);
  EXPECT_DOUBLE_EQ(whole["decode"], 1e8);
  EXPECT_DOUBLE_EQ(whole["decode_gathered"], 1e8);
  EXPECT_DOUBLE_EQ(whole["decode_picked"], 0);
  EXPECT_DOUBLE_EQ(whole["load_memory_byte"], all);
  EXPECT_DOUBLE_EQ(whole["load_far_byte"], 0) << "no cache holds them until they are read again";
}

TEST(TaskTime, rows_keep_the_order_of_the_slot_that_they_come_from) {
  plan::Plan plan = probePlan();
  plan.slots.resize(1);
  plan.slots[0].columns.resize(2);
  plan.slots[0].columns[1].ranged = plan.slots[0].columns[1].ordered = true;
  plan.slots[0].columns[1].min = 10;
  plan.slots[0].columns[1].max = 29;
  plan.streams.resize(3, plan.streams[0]);
  plan.tasks[0].as<plan::RunTask>()->outputStream = 1;
  plan.tasks.resize(3);
  plan.tasks[1].work = plan::LoadTask{.slot = 0, .outputStream = 0};
  plan.tasks[2].work = plan::ExchangeTask{.inputStream = 1, .outputStream = 2};
  EXPECT_EQ(orderedStreams(plan), (std::map<int32_t, double>{{0, 20}, {1, 20}, {2, 20}}));
  plan.slots[0].columns[1].ordered = false;
  EXPECT_TRUE(orderedStreams(plan).empty());
}

TEST(TaskTime, lanes_share_the_directory_and_merge) {
  plan::Plan plan = probePlan();
  plan.tasks[0].as<plan::RunTask>()->states = {{0, plan::StateUse::kPerWorker}};
  TaskRows rows;
  rows.source = 1000;
  rows.states = {800};
  rows.lanes = 4;
  EXPECT_DOUBLE_EQ(finishTerms(plan, plan.tasks[0], rows)["build_row"], 800);
  plan.states[0].kind = plan::StateKind::kGroupTable;
  // 1,000 rows make 250 groups in each of four copies.
  EXPECT_DOUBLE_EQ(finishTerms(plan, plan.tasks[0], rows)["merge_row"], 1000);
}

TEST(TaskTime, what_outgrows_the_caches_is_counted_apart) {
  plan::Plan plan = probePlan();
  plan.kernels[0].work = {{plan::WorkKind::kInsert, 0, 1, 0}};
  TaskRows rows;
  rows.states = {1};
  double before = -1;
  for (double source : {1e3, 1e6, 1e7}) {
    rows.source = source;
    double far = runTerms(plan, plan.tasks[0], rows)["insert_far_byte"] / source;
    EXPECT_GE(far, before) << source;
    before = far;
  }
  EXPECT_DOUBLE_EQ(before, 32); // all of 320 MB
}

TEST(TaskTime, lines_of_a_large_table_cost_more) {
  plan::Plan plan = probePlan();
  topology::DeviceType device;
  TaskRows rows;
  rows.source = 1e6;
  rows.stages = {1e6, 1e6};
  double before = 0;
  for (double stateRows : {1e2, 1e4, 1e5, 1e6, 1e7}) {
    rows.states = {stateRows};
    double seconds = secondsOf(device, runTerms(plan, plan.tasks[0], rows));
    EXPECT_GT(seconds, before) << stateRows;
    before = seconds;
  }
}

TEST(TaskTime, a_kernel_that_is_not_described_has_no_terms) {
  plan::Plan plan = probePlan();
  plan.kernels[0].work.clear();
  EXPECT_TRUE(runTerms(plan, plan.tasks[0], {}).empty());
}

TEST(TaskTime, calibrated_seconds_go_before_assumed_ones) {
  topology::DeviceType device;
  double assumed = secondsOf(device, {{"probe", 10}});
  EXPECT_DOUBLE_EQ(assumed, 10 * assumedSeconds().at("probe"));
  device.workSeconds["probe"] = 1;
  EXPECT_DOUBLE_EQ(secondsOf(device, {{"probe", 10}}), 10);
}

TEST(TaskTime, fit_finds_the_seconds_that_made_the_samples) {
  std::map<std::string, double> truth = {{"a", 2e-9}, {"b", 7e-9}, {"c", 0.0}};
  std::map<std::string, double> prior = {{"a", 1e-9}, {"b", 1e-9}, {"c", 1e-9}};
  std::mt19937 random(5);
  std::vector<TaskSample> samples;
  for (int i = 0; i < 60; ++i) {
    TaskSample sample;
    for (const auto &[name, seconds] : truth) {
      sample.terms[name] = static_cast<double>(1000 + random() % 100000);
      sample.seconds += seconds * sample.terms[name];
    }
    if (i % 12 == 0) {
      sample.seconds *= 2; // an outlier
    }
    samples.push_back(sample);
  }
  std::map<std::string, double> fitted = fitTerms(samples, prior, 1e-4);
  EXPECT_NEAR(fitted["a"], 2e-9, 0.1e-9);
  EXPECT_NEAR(fitted["b"], 7e-9, 0.2e-9);
  EXPECT_NEAR(fitted["c"], 0, 0.1e-9);
}

TEST(TaskTime, fit_is_in_the_middle_of_noise_by_factors) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 0.4);
  std::vector<TaskSample> samples;
  for (int i = 0; i < 400; ++i) {
    samples.push_back({{{"a", 1e5}}, 2e-4 * std::exp(noise(random))});
  }
  std::map<std::string, double> fitted = fitTerms(samples, {{"a", 1e-9}}, 1e-4);
  EXPECT_NEAR(fitted["a"], 2e-9, 0.12e-9);
}

TEST(TaskTime, a_sample_counts_for_its_weight) {
  std::vector<TaskSample> samples = {{{{"a", 1e5}}, 1e-4}, {{{"a", 1e5}}, 3e-4}};
  samples[1].weight = 20;
  EXPECT_GT(fitTerms(samples, {{"a", 1e-9}}, 1e-4)["a"], 2.5e-9);
  samples[0].weight = 400;
  EXPECT_LT(fitTerms(samples, {{"a", 1e-9}}, 1e-4)["a"], 1.2e-9);
}

TEST(TaskTime, terms_without_samples_keep_the_prior) {
  std::vector<TaskSample> samples(10, {{{"a", 100}}, 2e-7});
  std::map<std::string, double> fitted = fitTerms(samples, {{"a", 1e-9}, {"unseen", 3e-9}}, 1e-3);
  EXPECT_DOUBLE_EQ(fitted["unseen"], 3e-9);
  EXPECT_NEAR(fitted["a"], 2e-9, 1e-10);
}

TEST(TaskTime, products_count_the_ranks_part) {
  plan::Plan plan;
  plan.buffers = {{"a", Tier::kHost, plan::Element::kF32, {128, 64}, {{0, {0}}}, 4 * 128 * 64},
                  {"b", Tier::kHost, plan::Element::kF32, {64, 32}, {}, 4 * 64 * 32},
                  {"c", Tier::kHost, plan::Element::kF32, {128, 32}, {{0, {0}}}, 4 * 128 * 32}};
  plan.tasks.resize(1);
  plan.tasks[0].work =
      plan::ComputeTask{plan::ComputeKind::kMatmul, plan::kNone, {0, 1}, {2}, {0, 0, 0}};
  EXPECT_DOUBLE_EQ(computeTerms(plan, plan.tasks[0], 1)["product_f32"], 128 * 64 * 32);
  EXPECT_DOUBLE_EQ(computeTerms(plan, plan.tasks[0], 2)["product_f32"], 64 * 64 * 32);
}

TEST(TaskTime, slices_read_no_more_than_they_take) {
  plan::Plan plan;
  plan.buffers = {{"a", Tier::kHost, plan::Element::kF32, {128, 64}, {{0, {0}}}, 4 * 128 * 64},
                  {"b", Tier::kHost, plan::Element::kF32, {128, 2}, {{0, {0}}}, 4 * 128 * 2},
                  {"c", Tier::kHost, plan::Element::kF32, {128, 66}, {{0, {0}}}, 4 * 128 * 66}};
  plan.tasks.resize(2);
  plan.tasks[0].work =
      plan::ComputeTask{plan::ComputeKind::kSlice, plan::kNone, {0}, {1}, {0, 3, 128, 2, 1, 9}};
  plan.tasks[1].work = plan::ComputeTask{plan::ComputeKind::kConcat, plan::kNone, {0, 1}, {2}, {1}};
  EXPECT_DOUBLE_EQ(computeTerms(plan, plan.tasks[0], 2)["tensor_byte"], 2 * 4 * 64 * 2);
  EXPECT_DOUBLE_EQ(computeTerms(plan, plan.tasks[1], 2)["tensor_byte"], 2 * 4 * 64 * 66);
}

TEST(TaskTime, gathers_read_the_places_and_what_is_there) {
  plan::Plan plan;
  plan.buffers = {
      {"table", Tier::kHost, plan::Element::kF32, {5000, 64}, {{1, {0}}}, 4 * 5000 * 64},
      {"places", Tier::kHost, plan::Element::kI64, {100, 1}, {}, 8 * 100},
      {"rows", Tier::kHost, plan::Element::kF32, {100, 64}, {{1, {0}}}, 4 * 100 * 64}};
  plan.tasks.resize(1);
  plan.tasks[0].work = plan::ComputeTask{plan::ComputeKind::kGather, plan::kNone, {0, 1}, {2}, {}};
  EXPECT_DOUBLE_EQ(computeTerms(plan, plan.tasks[0], 2)["tensor_byte"], 2 * 4 * 100 * 32 + 8 * 100);
}

TEST(TaskTime, arguments_in_one_piece_are_read_where_they_are) {
  plan::Plan plan;
  plan.buffers = {
      {"lines", Tier::kHost, plan::Element::kF32, {128, 64}, {{0, {0}}}, 4 * 128 * 64},
      {"columns", Tier::kHost, plan::Element::kF32, {128, 64}, {{1, {0}}}, 4 * 128 * 64}};
  plan.tasks.resize(2);
  plan.tasks[0].work = plan::InputTask{0, 0};
  plan.tasks[1].work = plan::InputTask{1, 1};
  EXPECT_DOUBLE_EQ(tensorLoadTerms(plan, plan.tasks[0], 2)["tensor_load_byte"], 0);
  EXPECT_DOUBLE_EQ(tensorLoadTerms(plan, plan.tasks[1], 2)["tensor_load_byte"], 4 * 128 * 32);
}

} // namespace
} // namespace headrace::cost
