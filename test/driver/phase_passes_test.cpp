// Phases by their names, and flags of phases as the passes that they stand for.
#include "passes/driver/phase_passes.h"

#include "passes/driver/compile_options.h"

#include <gtest/gtest.h>

namespace headrace::driver {
namespace {

using Words = std::vector<std::string>;

Words expanded(Words words, const std::string &error = "") {
  words.insert(words.begin(), "headrace-opt");
  EXPECT_EQ(expandPhaseFlags(words), error);
  words.erase(words.begin());
  return words;
}

TEST(Phases, names_and_back) {
  for (Phase phase : kPhases) {
    Phase found = phase == Phase::kImport ? Phase::kLower : Phase::kImport;
    EXPECT_TRUE(parsePhase(phaseName(phase), &found));
    EXPECT_EQ(found, phase);
  }
  Phase kept = Phase::kForm;
  EXPECT_FALSE(parsePhase("Form", &kept));
  EXPECT_FALSE(parsePhase("", &kept));
  EXPECT_EQ(kept, Phase::kForm);
  EXPECT_EQ(phaseNames(Phase::kForm), "form, lower, schedule");
}

TEST(PhasePasses, from_one_phase_to_another) {
  EXPECT_EQ(expanded({"x.mlir"}), Words{"x.mlir"});
  EXPECT_EQ(expanded({"--stop-after=shard", "x.mlir"}), (Words{"x.mlir", "--optimize", "--shard"}));
  EXPECT_EQ(expanded({"--start-from=form", "--stop-after=form"}), Words{"--form"});
  EXPECT_EQ(expanded({"--start-from=schedule"}), Words{"--schedule-tasks"});
  EXPECT_EQ(expanded({"--start-from=schedule", "--stop-after=form"}), Words{});
}

TEST(PhasePasses, schedule_goes_on_behind_form_and_kernels_are_by_themselves) {
  EXPECT_EQ(expanded({"--start-from=form"}), (Words{"--form", "--schedule-tasks"}));
  EXPECT_EQ(expanded({"--start-from=form", "--stop-after=lower"}),
            (Words{"--form", "--lower-kernels"}));
}

TEST(PhasePasses, other_names_are_refused) {
  const std::string wanted = "expected a phase (optimize, shard, form, lower, schedule), got: ";
  expanded({"--stop-after=sharding"}, wanted + "sharding");
  expanded({"--start-from=import"}, wanted + "import");
}

} // namespace
} // namespace headrace::driver
