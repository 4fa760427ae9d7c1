// Whatever kills contained work, the process goes on and is told how it died.
#include "passes/driver/containment.h"

#include "runtime/base/check.h"

#include "llvm/Support/ErrorHandling.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace headrace::driver {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEADRACE_SANITIZED 1
#endif
#endif

/// How the work died; empty: it did not.
std::string deathOf(llvm::function_ref<void()> work) {
  std::string death;
  return runContained(work, death) ? "" : death;
}

TEST(Containment, work_that_ends_well_has_run) {
  int value = 0;
  EXPECT_EQ(deathOf([&] { value = 7; }), "");
  EXPECT_EQ(value, 7);
}

TEST(Containment, the_caller_is_asked_while_it_waits) {
  std::atomic<int> asked = 0;
  std::string death;
  auto work = [&] {
    while (asked < 3) {
      std::this_thread::yield();
    }
  };
  EXPECT_TRUE(runContained(work, death, [&] { ++asked; }));
  EXPECT_EQ(asked, 3);
}

TEST(Containment, a_fatal_error_of_llvm_ends_the_work_alone) {
  EXPECT_EQ(deathOf([] { llvm::report_fatal_error("cannot select: this"); }),
            "cannot select: this");
  EXPECT_EQ(deathOf([] {
              currentWork = "phase lower";
              llvm::report_fatal_error("no way", /*gen_crash_diag=*/false);
            }),
            "no way (in phase lower)");
  EXPECT_EQ(deathOf([] {}), ""); // and the next one runs
}

#ifndef HEADRACE_SANITIZED

/// Uses 256 bytes of stack for each level.
int nested(volatile int depth) {
  volatile char frame[256] = {};
  return depth == 0 ? 0 : nested(depth - 1) + frame[0];
}

TEST(Containment, a_fault_or_an_abort_ends_the_work_alone) {
  EXPECT_EQ(deathOf([] { std::abort(); }), "Aborted");
  EXPECT_EQ(deathOf([] { HR_CHECK(1 + 1 == 3); }), "Aborted");
  EXPECT_EQ(deathOf([] { throw std::runtime_error("nobody catches this"); }), "Aborted");
  EXPECT_EQ(deathOf([] { *reinterpret_cast<volatile int *>(16) = 1; }), "Segmentation fault");
  EXPECT_EQ(deathOf([] { raise(SIGFPE); }), "Floating point exception");
}

TEST(Containment, an_overflowed_stack_ends_the_work_alone) {
  EXPECT_EQ(deathOf([] { nested(100'000); }), "");
  EXPECT_EQ(deathOf([] { nested(100'000'000); }), "the program is nested too deeply");
}

TEST(Containment, handlers_are_as_before_afterwards) {
  struct sigaction before = {}, after = {};
  sigaction(SIGSEGV, nullptr, &before);
  EXPECT_EQ(deathOf([] { std::abort(); }), "Aborted");
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(Containment, a_fault_elsewhere_is_not_swallowed) {
  EXPECT_DEATH(deathOf([] { std::thread([] { std::abort(); }).join(); }), "");
}

TEST(Containment, several_threads_die_at_the_same_time) {
  std::vector<std::thread> threads;
  std::vector<std::string> deaths(8);
  for (std::string &death : deaths) {
    threads.emplace_back([&death] {
      for (int round = 0; round < 50; ++round) {
        death = deathOf([] { std::abort(); });
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (const std::string &death : deaths) {
    EXPECT_EQ(death, "Aborted");
  }
}

#endif

} // namespace
} // namespace headrace::driver
