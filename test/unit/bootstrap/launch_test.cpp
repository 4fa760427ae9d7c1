// Variables of launchers.
#include "runtime/bootstrap/launch.h"

#include <map>
#include <unistd.h>

#include <gtest/gtest.h>

using namespace headrace;

namespace {

using Variables = std::map<std::string, std::string>;

Expected<Launch> read(const std::string &launcher, const Variables &variables) {
  return readLaunch(launcher, [&](const char *name) {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const std::string &launcher, const Variables &variables) {
  Expected<Launch> launch = read(launcher, variables);
  EXPECT_EQ(launch.status().kind(), ErrorKind::kUser);
  return launch.status().message();
}

const std::string kSecret = "0123456789abcdef";

} // namespace

TEST(Launch, TorchrunsVariablesSayEverythingButTheSecret) {
  Variables variables = {{"RANK", "2"},
                         {"WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "node0"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RUN_ID", "job"},
                         {"TORCHELASTIC_RESTART_COUNT", "1"},
                         {"HEADRACE_SECRET", kSecret}};
  Expected<Launch> launch = read("torchrun", variables);
  ASSERT_TRUE(launch.ok()) << launch.status().toString();
  EXPECT_EQ(launch->rank, 2);
  EXPECT_EQ(launch->size, 4);
  EXPECT_EQ(launch->meeting, "node0:29500");
  EXPECT_EQ(launch->credentials.secret, kSecret);
  EXPECT_EQ(launch->credentials.session, "job/1/29500/");
  // Its agent holds that port when it keeps the store itself.
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(read("torchrun", variables)->meeting, "node0:29501");
  variables["HEADRACE_MEETING"] = "/shared/job";
  EXPECT_EQ(read("torchrun", variables)->meeting, "/shared/job");
  variables["MASTER_PORT"] = "many";
  variables.erase("HEADRACE_MEETING");
  EXPECT_NE(refusal("torchrun", variables).find("where do the ranks meet?"), std::string::npos);
}

TEST(Launch, OthersSayRankAndSize) {
  Variables meeting = {{"HEADRACE_MEETING", "/shared/job"}};
  for (const auto &[launcher, rank, size] :
       {std::tuple("mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        std::tuple("slurm", "SLURM_PROCID", "SLURM_NTASKS"),
        std::tuple("kubernetes", "JOB_COMPLETION_INDEX", "HEADRACE_SIZE"),
        std::tuple("environment", "HEADRACE_RANK", "HEADRACE_SIZE")}) {
    Variables variables = meeting;
    variables[size] = "3";
    EXPECT_EQ(refusal(launcher, variables), std::string("started by ") + launcher +
                                                "? a variable is not in the environment: " + rank);
    variables[rank] = "1";
    Expected<Launch> launch = read(launcher, variables);
    ASSERT_TRUE(launch.ok()) << launch.status().toString();
    EXPECT_EQ(launch->rank, 1);
    EXPECT_EQ(launch->size, 3);
  }
}

TEST(Launch, TheLauncherIsFoundByItsMark) {
  Variables variables;
  auto find = [&] {
    return findLauncher([&](const char *name) {
      auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_EQ(find(), "");
  variables = {{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(find(), "") << "a batch script is no rank";
  variables["SLURM_STEP_ID"] = "0";
  EXPECT_EQ(find(), "slurm");
  variables["OMPI_COMM_WORLD_RANK"] = "0";
  EXPECT_EQ(find(), "mpi") << "within Slurm";
  variables = {{"RANK", "0"}, {"WORLD_SIZE", "4"}};
  EXPECT_EQ(find(), "") << "others set these, too";
  variables["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(find(), "torchrun");
  variables = {{"JOB_COMPLETION_INDEX", "0"}};
  EXPECT_EQ(find(), "kubernetes");
  variables = {{"HEADRACE_RANK", "0"}};
  EXPECT_EQ(find(), "environment");
}

TEST(Launch, RanksOfOneMachineMeetWithoutBeingTold) {
  Variables variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"PMIX_NAMESPACE", "job/7"},
                         {"TMPDIR", "/scratch"}};
  Expected<Launch> launch = read("mpi", variables);
  ASSERT_TRUE(launch.ok()) << launch.status().toString();
  EXPECT_EQ(launch->meeting, "/scratch/headrace-" + std::to_string(geteuid()) + "-mpi-job-7");
  EXPECT_EQ(launch->address, "127.0.0.1");
  variables["HEADRACE_MEETING"] = "/shared/job";
  EXPECT_EQ(read("mpi", variables)->meeting, "/shared/job");
  EXPECT_EQ(read("mpi", variables)->address, "");
  variables.erase("HEADRACE_MEETING");
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  EXPECT_NE(refusal("mpi", variables).find("where do the ranks meet?"), std::string::npos);
  variables = {{"SLURM_PROCID", "1"},
               {"SLURM_NTASKS", "4"},
               {"SLURM_JOB_ID", "12"},
               {"SLURM_STEP_ID", "0"},
               {"SLURM_STEP_NUM_NODES", "1"}};
  EXPECT_NE(read("slurm", variables)->meeting.find("-slurm-12-0"), std::string::npos);
  variables["SLURM_STEP_NUM_NODES"] = "2";
  EXPECT_NE(refusal("slurm", variables).find("where do the ranks meet?"), std::string::npos);
}

TEST(Launch, WhatIsWrongIsSaid) {
  EXPECT_EQ(refusal("cron", {}),
            "expected a launcher (torchrun, mpi, slurm, kubernetes, environment), got: cron");
  Variables variables = {{"HEADRACE_RANK", "-1"}, {"HEADRACE_SIZE", "3"}};
  EXPECT_EQ(refusal("environment", variables), "expected a number in HEADRACE_RANK, got: -1");
  variables["HEADRACE_RANK"] = "3";
  EXPECT_EQ(refusal("environment", variables),
            "ranks go from 0 to below HEADRACE_SIZE = 3, got HEADRACE_RANK = 3");
  variables["HEADRACE_RANK"] = "0";
  EXPECT_EQ(refusal("environment", variables),
            "where do the ranks meet? set HEADRACE_MEETING to HOST:PORT of rank 0, or to a folder "
            "that all see (with a '/')");
  variables["HEADRACE_MEETING"] = "node0:7000";
  variables["HEADRACE_SECRET"] = "short";
  EXPECT_EQ(refusal("environment", variables),
            "what keeps strangers out? set HEADRACE_SECRET to the same text on all ranks, at least "
            "16 characters long; it has: 5");
}
